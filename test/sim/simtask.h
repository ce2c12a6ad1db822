/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that write, on the simulated kernel: each is a coroutine that calls the engine as
 * the preloaded library does (due? pause; write a piece; charge), sleeps where it sleeps, and
 * writes one file of its own from the beginning on.
 *
 *	struct simtask *task;
 *
 *	simtask_begin(&disk);
 *	task = simtask_add(WP_MIB(1), 0);
 *	simtask_run(WP_SEC(30));
 *	... task->written_bytes, simkernel.disk.done_bytes
 *	simtask_end();
 *
 * After every visit to the slow path and every step of time the invariants of sim_check are
 * tested; the first that does not hold is kept in simtask_broken.
 */
#ifndef WP_TEST_SIMTASK_H
#define WP_TEST_SIMTASK_H

#include "core/balance.h"
#include "pace/pace.h"
#include "simkernel.h"

#define SIM_MEMORY_BPS UINT64_C(6000000000) /* how fast a program fills the page cache */

struct simtask {
	uint64_t call_bytes;   /* of one write() */
	uint64_t rate_bps;     /* of the program itself, 0 = as fast as memory */
	uint64_t begin_ns;     /* sleeps until then */
	uint64_t rest_from_ns; /* writes nothing in between */
	uint64_t rest_until_ns;
	uint64_t end_ns; /* stops for good; 0 = never */

	uint64_t written_bytes;
	uint64_t offset_bytes;
	uint64_t paced_ns;   /* slept by the engine */
	uint64_t longest_ns; /* longest visit to the slow path */
	struct pace_task pace;
	struct pace_handle handle;
};

struct simtask_range {
	uint64_t overshoot_bytes;   /* the most above wall and limit */
	uint64_t outstanding_bytes; /* the most there was */
	uint64_t flight_bytes;      /* the most of it in flight */
	uint64_t window_bytes;      /* the largest */
	uint64_t poll_bytes;        /* the longest threshold */
};

extern struct pace_process
	simtask_process;                   /* conf may be changed after simtask_begin() */
extern struct simtask_range simtask_range; /* since it was last cleared */
extern const char *simtask_broken; /* the invariant that did not hold, NULL = none */

/* A new world with this disk, at a time that is not 0. False when memory is short. */
bool simtask_begin(const struct simdisk *disk) WP_MUST_CHECK;
void simtask_end(void);

struct simtask *simtask_add(uint64_t call_bytes, uint64_t rate_bps);

/* Let everybody run for @span_ns. */
void simtask_run(uint64_t span_ns);

/* The device, as the engine sees it. */
struct wp_device *simtask_device(void);
void simtask_control(struct control *control);

#endif
