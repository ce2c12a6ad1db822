/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is mounted where, as a process sees it: it may live in a mount namespace of its own.
 */
#ifndef WP_HELPER_MOUNTS_H
#define WP_HELPER_MOUNTS_H

#include <limits.h>
#include <stdio.h>

#include "helper/holder.h"

/* 36 35 0:48 /subvolume /mnt rw,noatime shared:1 - btrfs /dev/sda1 rw */
struct mount {
	uint64_t id;
	uint64_t number;
	char top[PATH_MAX]; /* what of the file system is mounted */
	char point[PATH_MAX];
	char type[32];
	char source[PATH_MAX];
	char upper[PATH_MAX]; /* upper directory of an overlay, "" = none */
};

struct mounts {
	FILE *file;
	char *line;
	size_t line_bytes;
};

/* Those that @process ("self", a pid) sees. */
bool mounts_open(struct mounts *mounts, const char *root, const char *process);
bool mounts_next(struct mounts *mounts, struct mount *mount);
void mounts_close(struct mounts *mounts);

/* What the holder's file is mounted from. */
bool mounts_of(const char *root, const struct holder *holder, struct mount *mount);

#endif
