/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which programs are paced. */
#include <string.h>

#include "conf/conf.h"

/*
 * Does the glob from @glob up to @end match all of @name? After a mismatch only the last
 * star is tried again with one more byte, so the time is at most the product of both
 * lengths.
 */
static bool glob_matches(const char *glob, const char *end, const char *name)
{
	const char *star = NULL;
	const char *retry = NULL;

	while (*name) {
		if (glob < end && *glob == '*') {
			star = glob++;
			retry = name;
		} else if (glob < end && (*glob == '?' || *glob == *name)) {
			glob++;
			name++;
		} else if (star) {
			glob = star + 1;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (glob < end && *glob == '*')
		glob++;
	return glob == end;
}

bool conf_glob_list(const char *globs, const char *name)
{
	while (*globs) {
		size_t length = strcspn(globs, ",");

		if (length && glob_matches(globs, globs + length, name))
			return true;
		globs += length;
		globs += *globs == ',';
	}
	return false;
}

bool conf_wants(const struct conf *conf, const char *program_name)
{
	if (conf->disable || conf_glob_list(conf->skip, program_name))
		return false;
	return !*conf->only || conf_glob_list(conf->only, program_name);
}
