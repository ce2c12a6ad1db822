/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What writepace-observer publishes under /run/writepace: two files of one shape.
 *
 *   devices      readable by all
 *   tasks.UID    readable by that user alone
 *
 *   head | set 0 | room for entries | set 1 | room for entries
 *
 * The set of this moment is number generation % 2. The writer fills the other one and then moves
 * the generation; a reader that finds another generation after its copy than before tries again,
 * a bounded number of times. A new observer makes new files; sums begin at 0 with it, and its
 * start_ns tells it from the one before. Times: CLOCK_MONOTONIC.
 */
#ifndef WRITEPACE_PUBLISHED_H
#define WRITEPACE_PUBLISHED_H

#include <stdint.h>

#define WP_PUBLISHED_FOLDER "/run/writepace"
#define WP_PUBLISHED_MAGIC UINT64_C(0x5c1e9f3b7a6d2084) /* chosen at random once */
#define WP_PUBLISHED_VERSION 2u
#define WP_PUBLISHED_DEVICES 256u
#define WP_PUBLISHED_TASKS 4096u
#define WP_PUBLISHED_FRESH_NS UINT64_C(2000000000) /* older is not used */

struct wp_published_head {
	uint64_t magic;
	uint32_t version;
	uint32_t entry_bytes;
	uint32_t entries; /* that a set has room for */
	uint32_t reserved32;
	uint64_t generation;
	uint64_t reserved[4];
};

struct wp_published_set {
	uint64_t heartbeat_ns;
	uint64_t start_ns; /* of the observer */
	uint64_t pid;      /* its */
	uint64_t entries;  /* that follow */
	uint64_t lost;     /* events that found no room */
	uint64_t reserved[3];
};

struct wp_published_device {
	uint64_t number;          /* dev_t of the disk or the mount */
	uint64_t dirtied_bytes;   /* by anybody, since start_ns */
	uint64_t completed_bytes; /* of writes, by the device or its queue */
	/* the kernel's own counts of the moment, where WP_PUBLISHED_QUEUE says so */
	uint64_t outstanding_bytes; /* dirty or under writeback */
	uint64_t inflight_bytes;    /* under writeback */
	uint64_t pauses;            /* of the kernel's own throttling, since start_ns */
	uint64_t paused_ns;
	uint64_t flags;
	uint64_t
		rate_bps; /* that the kernel last let each writer have, 0 = it held up nobody */
	uint64_t visits;        /* of the flusher to a file of which it wrote something */
	uint64_t visited_bytes; /* what it wrote then */
};

#define WP_PUBLISHED_QUEUE 1u /* its writeback queue's counts were readable */

/* A process and a device that it dirtied. */
struct wp_published_task {
	uint32_t pid;
	uint32_t uid;
	uint64_t device;
	uint64_t dirtied_bytes;
	uint64_t pauses;
	uint64_t paused_ns;
	uint64_t syncs; /* fsync, fdatasync */
	uint64_t sync_ns;
	char name[16]; /* of the thread seen first */
};

_Static_assert(sizeof(struct wp_published_head) == 64, "layout");
_Static_assert(sizeof(struct wp_published_set) == 64, "layout");
_Static_assert(sizeof(struct wp_published_device) == 88, "layout");
_Static_assert(sizeof(struct wp_published_task) == 72, "layout");

#endif
