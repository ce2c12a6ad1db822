/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel that the engine asks in the simulation: it defines every function of
 * host/kernel.h, on a simulated clock, page cache and disk. The engine's own sources (pace,
 * flush, shm, core) run on it unchanged: what is tested is what is shipped.
 *
 * There is one world at a time. Time moves only while a task sleeps (simtask.h).
 */
#ifndef WP_TEST_SIMKERNEL_H
#define WP_TEST_SIMKERNEL_H

#include "simdisk.h"

#define SIM_FILES 64
#define SIM_RANGES 512
#define SIM_DEVICE 0x801u      /* its device number */
#define SIM_SLACK_NS WP_US(60) /* a sleep lasts that much longer, as the real ones do */

/* Bytes from begin to end, sorted, apart. */
struct simranges {
	unsigned count;
	struct {
		uint64_t begin;
		uint64_t end;
	} at[SIM_RANGES];
};

/* Add or take away a range; returns how many bytes that changed. */
uint64_t simranges_add(struct simranges *ranges, uint64_t begin, uint64_t end);
uint64_t simranges_remove(struct simranges *ranges, uint64_t begin, uint64_t end);
uint64_t simranges_bytes(const struct simranges *ranges, uint64_t begin, uint64_t end);

/* A file in the page cache; its descriptor is its number. */
struct simfile {
	uint64_t size_bytes;
	struct simranges dirty;
	struct simranges flight;
};

struct simkernel {
	uint64_t now_ns;
	struct simdisk disk;
	struct simfile files[SIM_FILES];
	uint64_t outstanding_bytes;        /* really, of all files */
	uint64_t flight_bytes;             /* part of it */
	uint64_t dirtied_bytes[SIM_FILES]; /* by each task */
	unsigned task;                     /* who runs */
	void (*sleep)(uint64_t until_ns);  /* to the scheduler */
	const char *broken;                /* the simulation itself is at its end: why */
};

extern struct simkernel simkernel;

/* The task that runs writes; what was clean becomes dirty and counts as its dirt. */
void simkernel_write(unsigned file, uint64_t begin_bytes, uint64_t bytes);

/* Set the clock, forward; the disk follows. */
void simkernel_set_clock(uint64_t now_ns);

#endif
