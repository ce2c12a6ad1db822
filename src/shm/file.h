/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file with outstanding bytes, one entry for all its writers, by device and inode.
 *
 * Concurrency: as in shm/device.h.
 */
#ifndef WP_SHM_FILE_H
#define WP_SHM_FILE_H

#include <writepace/layout.h>

#include "base/types.h"

/* Slot of the file, claimed where it is new; -1 when there is no room near its place. */
int file_slot(struct wp_segment *segment, int device_slot, uint64_t inode);

/* The same without claiming one: -1 for a file that is not known. */
int file_find(const struct wp_segment *segment, int device_slot, uint64_t inode);

/* Is the slot still that file's? An idle entry may have been given to another. */
bool file_is(const struct wp_segment *segment, int file_slot, int device_slot,
	     uint64_t inode);

/* Has nobody looked at it for so long that its claims expire (design 5)? */
bool file_is_silent(const struct wp_file *file, uint64_t now_ns);

/* What the kernel says of the file now. */
struct file_look {
	uint64_t present_bytes;  /* dirty + under writeback */
	uint64_t inflight_bytes; /* under writeback */
	uint64_t
		dirtied_bytes; /* new dirt of the caller in this file since its last look */
	uint64_t
		others_bytes; /* charged by threads that may be gone; taken as dirt if there */
	uint64_t now_ns;
	bool may_rest;        /* what was seen last will do, where a look takes long */
	uint64_t found_bytes; /* out: what of others_bytes was there */
	uint64_t completed_bytes; /* out: what became clean */
};

/*
 * completions = accounted before + new dirt - accounted now, where what is accounted never
 * exceeds what is there. Exact in total whatever the order in which several writers look:
 * dirt that is not yet reported is not yet accounted.
 */
void file_settle(struct wp_file *file, struct wp_device *device, struct file_look *look);

/*
 * @bytes became dirty in a file that the caller can not look at. The helper settles it; where it
 * does not, the file falls silent and they leave with the orphans.
 */
void file_dirtied(struct wp_file *file, struct wp_device *device, uint64_t bytes,
		  uint64_t now_ns);

/* @bytes of the file were just given to the device. */
void file_started(struct wp_file *file, struct wp_device *device, uint64_t bytes);

/*
 * Dirt of the file vanished (it was truncated), now it has @present_bytes: what is gone was not
 * written. Who looked just before counted what was.
 */
void file_cancelled(struct wp_file *file, struct wp_device *device,
		    uint64_t present_bytes);

/*
 * The file is gone. What it lent when it was closed is taken from the orphans again, as far as
 * they are still there; returns how much that was.
 */
uint64_t file_vanished(struct wp_file *file, struct wp_device *device);

/* Give up the file's claim on the window, whatever of it is still in flight. */
void file_release(struct wp_file *file, struct wp_device *device);

/* Nobody will look at the file again: what it accounts for becomes the device's orphans. */
void file_abandon(struct wp_file *file, struct wp_device *device, uint64_t now_ns);

/*
 * Lend the bytes of silent files to the orphans and mend the sums of all devices; at most once
 * a second over all tasks, by whoever comes first.
 */
void file_sweep(struct wp_segment *segment, uint64_t now_ns);

#endif
