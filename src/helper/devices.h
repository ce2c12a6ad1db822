/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which device numbers are one device, whether it is still the same medium, its statistics, the
 * kernel's limit of it.
 *
 *   partition        stands for its disk
 *   btrfs            every subvolume has a number of its own; all stand for the number of the
 *                    mounted file system, which mountinfo shows and no file has
 *   overlay          stands for the device of its upper directory, where that is visible
 *   anything else    for itself: disks, loop, dm, md, NFS, FUSE
 */
#ifndef WP_HELPER_DEVICES_H
#define WP_HELPER_DEVICES_H

#include "helper/btrfs.h"
#include "helper/helper.h"
#include "helper/strangers.h"

struct devices {
	uint64_t dirtied_bytes[WP_DEVICES];      /* at the last look */
	char uuid[WP_DEVICES][BTRFS_UUID_BYTES]; /* "" = not a btrfs, or not known */
	struct stranger strangers[WP_DEVICES];
};

/* Nothing was looked at yet. */
void devices_begin(struct devices *devices);

/* Once a second: alias and identity of the devices that were written to since the last time. */
void devices_look(struct devices *devices, const struct helper *helper);

/* Ten times a second: the same for devices that are new. */
void devices_meet(struct devices *devices, const struct helper *helper);

/* Ten times a second: statistics of the devices with outstanding bytes. */
void devices_measure(struct devices *devices, const struct helper *helper,
		     uint64_t now_ns);

/* The alias of @slot's device, when its file system was found to be @btrfs. */
void devices_set_btrfs(struct devices *devices, const struct helper *helper, int slot,
		       const struct btrfs *btrfs);

#endif
