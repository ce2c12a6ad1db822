/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the programs in the kernel add up, and the observer reads: the values of their maps.
 * Device numbers are the kernel's own, major << 20 | minor.
 */
#ifndef WP_OBSERVER_SUMS_H
#define WP_OBSERVER_SUMS_H

#include <stdint.h>

#define SUMS_DEVICES 256
#define SUMS_TASKS 4096 /* a process and a device each */
#define SUMS_SYNCS 1024 /* threads inside a sync at a time */
#define SUMS_NAME_BYTES 16
#define SUMS_BDI_BYTES 32

/*
 * One for each CPU: what one process dirtied on one device, event after event, not yet in the
 * sums. Why: the sums are looked up once a run, not once a page.
 */
struct dirt_run {
	/*
	 * Address of the file system, or of a block device's mapping where that is written to
	 * itself; 0 = there was no run yet.
	 */
	uint64_t place;
	uint32_t pid; /* of the process */
	uint32_t device;
	uint64_t bytes;
	uint64_t ended; /* runs that went into the sums, ever */
};

/* One for each CPU. */
struct device_sums {
	uint64_t dirtied_bytes;   /* clean -> dirty, by anybody */
	uint64_t completed_bytes; /* of writes that the device completed */
	uint64_t pauses;          /* of the kernel's own throttling */
	uint64_t paused_ns;
	uint64_t named;    /* its name is known */
	uint64_t rate_bps; /* that the kernel lets each writer have */
	uint64_t rate_ns;  /* when this CPU heard of it */
	uint64_t visits;   /* of the flusher to a file of which it wrote something */
	uint64_t visited_bytes;
};

struct task_key {
	uint32_t pid; /* of the process */
	uint32_t device;
};

/* Shared by all CPUs: a process seldom writes from several at once. */
struct task_sums {
	uint64_t dirtied_bytes;
	uint64_t pauses;
	uint64_t paused_ns;
	uint64_t syncs; /* fsync, fdatasync */
	uint64_t sync_ns;
	uint32_t uid;
	uint32_t reserved;
	char name[SUMS_NAME_BYTES]; /* of the thread that came first, no command line */
};

/* A sync under way, by thread. */
struct sync_begin {
	uint64_t begin_ns;
	uint64_t device;
};

/* The kernel's name for a device's writeback queue, as in debugfs; leads to the device. */
struct bdi_name {
	char text[SUMS_BDI_BYTES];
};

#endif
