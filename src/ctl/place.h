/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device as people and the kernel know it.
 */
#ifndef WP_CTL_PLACE_H
#define WP_CTL_PLACE_H

#include <limits.h>

#include "base/types.h"
#include "helper/btrfs.h"

#define PLACE_NAME_BYTES 64

struct place {
	uint64_t number; /* as asked for */
	uint64_t disk;   /* the whole disk where that is a partition, else the same */
	char id[32];     /* MAJOR:MINOR */
	char name[PLACE_NAME_BYTES]; /* sda1, btrfs, nfs ... */
	char mount[PATH_MAX]; /* where it is mounted first, "" = nowhere that we see */
	char uuid[BTRFS_UUID_BYTES]; /* of a btrfs, "" = none */
	char bdi[PLACE_NAME_BYTES];  /* its name in /sys/kernel/debug/bdi */
};

/* What is known of the device with this number; the number's text at least. */
void place_of(uint64_t number, struct place *place);

/* The device of a path, node or MAJOR:MINOR: the number that stands for it. 0 or -errno. */
int place_find(const char *what, struct place *place) WP_MUST_CHECK;

/* The kernel's count of what is dirty and under writeback there; false: root alone may ask. */
bool place_dirty_bytes(const struct place *place, uint64_t *bytes);

/* What it wrote, by anybody, ever; false: no statistics (NFS, FUSE). */
bool place_written_bytes(const struct place *place, uint64_t *bytes);

/* What is dirty and under writeback on all devices together. */
uint64_t place_all_dirty_bytes(void);

/* Call @each with all mount points of the disk, until it returns false. */
void place_each_mount(const struct place *place,
		      bool (*each)(const char *point, void *opaque), void *opaque);

#endif
