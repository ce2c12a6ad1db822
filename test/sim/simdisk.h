/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A disk on a simulated clock: commands one after another at a rate, completions a while after
 * the transfer. It may hand its rate out in slices (all of a slice's bytes at the speed of the
 * medium, then nothing until the next: a bandwidth cap, or a cache that fills), stand still, and
 * change its speed; what changes holds for the commands that have not begun.
 *
 * Nothing happens by itself: simdisk_advance() brings the disk up to a time.
 */
#ifndef WP_TEST_SIMDISK_H
#define WP_TEST_SIMDISK_H

#include "base/types.h"

#define SIMDISK_COMMANDS 8192u

struct simdisk_command {
	void *owner;
	uint64_t begin_bytes;
	uint64_t end_bytes;
	uint64_t submit_ns;
	uint64_t done_ns;
};

struct simdisk {
	uint64_t rate_bps;       /* in the long run */
	uint64_t slice_ns;       /* 0 = the rate is even */
	uint64_t medium_bps;     /* within a slice */
	uint64_t latency_ns;     /* between a command's transfer and its completion */
	uint64_t stall_until_ns; /* no command begins before */
	uint64_t done_bytes;

	/* its own */
	uint64_t free_ns; /* the last transfer ends */
	uint64_t slice;
	uint64_t slice_left_bytes;
	uint64_t submitted; /* commands, ever; in the ring by number */
	uint64_t begun;
	uint64_t done;
	struct simdisk_command commands[SIMDISK_COMMANDS];
};

/* False when its queue is full: then nothing happened. */
bool simdisk_submit(struct simdisk *disk, const struct simdisk_command *command);

/* Bring it up to @now_ns; @complete is called for each command that is done, in order. */
void simdisk_advance(struct simdisk *disk, uint64_t now_ns,
		     void (*complete)(const struct simdisk_command *command));

#endif
