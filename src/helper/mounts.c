/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/mounts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "helper/read.h"

#define UPPER "upperdir="

bool mounts_open(struct mounts *mounts, const char *root, const char *process)
{
	char path[READ_PATH_BYTES];

	*mounts = (struct mounts){ 0 };
	snprintf(path, sizeof(path), "%s/proc/%s/mountinfo", root, process);
	mounts->file = fopen(path, "re");
	return mounts->file;
}

void mounts_close(struct mounts *mounts)
{
	free(mounts->line);
	fclose(mounts->file);
}

static bool is_octal(const char *digits)
{
	for (int i = 0; i < 3; i++) {
		if (digits[i] < '0' || digits[i] > '7')
			return false;
	}
	return true;
}

/* Blanks stand there as \040. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && is_octal(text + 1)) {
			*to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
				       (text[3] - '0'));
			text += 3;
		} else if (*text != '\\') {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static void find_upper(const char *options, char *upper)
{
	const char *at = strstr(options, "," UPPER);

	*upper = '\0';
	if (!at || sscanf(at + sizeof("," UPPER) - 1, "%4095[^,\n]", upper) != 1)
		return;
	/* Why twice: a comma was given to mount as \, and that is shown as \134\054. */
	unescape(upper);
	unescape(upper);
}

static bool parse_mount(const char *line, struct mount *mount)
{
	const char *rest = strstr(line, " - ");
	unsigned long long id;
	unsigned major;
	unsigned minor;

	if (sscanf(line, "%llu %*u %u:%u %4095s %4095s", &id, &major, &minor, mount->top,
		   mount->point) != 5 ||
	    !rest || sscanf(rest, " - %31s %4095s", mount->type, mount->source) != 2)
		return false;
	unescape(mount->top);
	unescape(mount->point);
	find_upper(rest, mount->upper);
	mount->id = id;
	mount->number = makedev(major, minor);
	return true;
}

bool mounts_next(struct mounts *mounts, struct mount *mount)
{
	while (getline(&mounts->line, &mounts->line_bytes, mounts->file) > 0) {
		if (parse_mount(mounts->line, mount))
			return true;
	}
	return false;
}

bool mounts_of(const char *root, const struct holder *holder, struct mount *mount)
{
	struct mounts mounts;
	bool found = false;
	char process[16];
	char text[512];
	uint64_t id;

	if (!read_text(text, sizeof(text), "%s/proc/%u/fdinfo/%u", root, holder->pid,
		       holder->fd))
		return false;
	id = read_value(text, "mnt_id:");
	snprintf(process, sizeof(process), "%u", holder->pid);
	if (!mounts_open(&mounts, root, process))
		return false;
	while (!found && mounts_next(&mounts, mount))
		found = mount->id == id;
	mounts_close(&mounts);
	return found;
}
