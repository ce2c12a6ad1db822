/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What writepace-check was asked, and its words.
 */
#ifndef WP_LAUNCH_REQUEST_H
#define WP_LAUNCH_REQUEST_H

#include "conf/conf.h"
#include "launch/elf.h"

struct request {
	bool best_effort;
	bool verbose;
	bool quiet;
	const char *origins;
	const char *helper;
	uint64_t pid;
	bool any;    /* the second front end is to pace it */
	bool inside; /* and does so already */
	struct conf conf;
	const char *library;
	const char *command;
	struct elf_facts ours; /* this program: what the library can be loaded into */
	char first[WP_ELF_NAME_BYTES];
};

/* One line on stderr. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/*
 * @path would not be paced: refuse, or with --best-effort only say so. @instead: what the user may
 * do.
 */
int refuse(const struct request *request, const char *path, const char *reason,
	   const char *instead);

#endif
