/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a task's rate and what it dirtied to one sleep and the next check (K5.3, K5.4). Pure.
 *
 *   period = dirtied / task_rate        what the bytes should have taken
 *   think  = now - paused_when          what they took outside the pause
 *   pause  = period - think             never above max_pause
 *
 * paused_when is virtual: a task that was too slow keeps up to a second of credit in it. What
 * one max_pause does not pay for stays owed, in bytes, and is paid for at the rate of the moment.
 */
#ifndef WP_CORE_PAUSE_H
#define WP_CORE_PAUSE_H

#include "base/types.h"

#define PAUSE_MAX_NS WP_MS(200)   /* K5.3: longest single sleep */
#define PAUSE_VISIT_NS WP_MS(250) /* and the bytes at the fair rate: the longest visit */
#define PAUSE_FORGET_NS WP_SEC(1) /* K5.3 step 11: older credit is forgotten */
#define PAUSE_GOAL_NS WP_MS(10)   /* K5.4: sleeps shorter than this are not worth it */
#define PAUSE_POLL_BYTES WP_KIB(128) /* K5.4: DIRTY_POLL_THRESH, and K5.1's first check */

struct pause_view {
	uint64_t now_ns;
	uint64_t paused_when_ns; /* 0 = no period yet */
	uint64_t dirtied_bytes;  /* since the last check */
	uint64_t outstanding_bytes;
	uint64_t bandwidth_bps;
	uint64_t base_bps;
	uint64_t task_bps; /* 0 at the wall */
};

struct pause_plan {
	uint64_t pause_ns; /* 0 = go on; at most PAUSE_MAX_NS */
	uint64_t max_pause_ns;
	uint64_t min_pause_ns;
	uint64_t poll_bytes;     /* check again after this much */
	uint64_t paused_when_ns; /* to be stored with the task */
	uint64_t owed_bytes;     /* not paid for by this pause: count them again */
};

/* An eighth of the time the device needs for what is outstanding, at most PAUSE_MAX_NS (K5.3). */
uint64_t pause_max_ns(uint64_t outstanding_bytes, uint64_t bandwidth_bps);

/* K5.2: check interval of a task that runs free, about the square root of the margin. */
uint64_t pause_free_poll_bytes(uint64_t limit_bytes, uint64_t outstanding_bytes);

void pause_plan(struct pause_plan *plan, const struct pause_view *view);

#endif
