/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * btrfs: the number of a file's device is its subvolume's, made up at its first use; nothing in
 * /sys knows it. What a descriptor is mounted from leads to the file system.
 */
#ifndef WP_HELPER_BTRFS_H
#define WP_HELPER_BTRFS_H

#include "helper/blockstat.h"
#include "helper/holder.h"

#define BTRFS_UUID_BYTES 40

struct btrfs {
	uint64_t number;             /* of the mount, one for all subvolumes */
	char uuid[BTRFS_UUID_BYTES]; /* "" = not found in /sys */
};

/* What is the holder's file on? False: that could not be told. No btrfs: number 0. */
bool btrfs_of(const char *root, const struct holder *holder, struct btrfs *btrfs);

/*
 * The same from a device number alone, by what is mounted where we live: for files that nobody has
 * open at the moment. False too where there are several that it could be of.
 */
bool btrfs_with(const char *root, uint64_t number, struct btrfs *btrfs);

/* The identity of the file system; 0 = unknown. */
uint64_t btrfs_identity(const char *uuid);

/* The sum over its disks. */
bool btrfs_stat(const char *root, const char *uuid, struct blockstat *sum);

#endif
