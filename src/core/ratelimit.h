/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The base rate of a device's writers: bandwidth / number of writers, without knowing their
 * number (K4.4). Pure.
 *
 *   balanced = task_rate * bandwidth / dirty_rate
 *
 * The base rate moves towards it only when the error of the rate and the error of the position
 * agree, and the smaller the step wanted, the more it is damped.
 */
#ifndef WP_CORE_RATELIMIT_H
#define WP_CORE_RATELIMIT_H

#include "base/types.h"

/*
 * What control keeps it at or above: one page per 200 ms, the smallest rate that pauses of at most 200 ms can enforce (K5.3). Lower,
 * a base rate only makes a wall of every position.
 */
#define RATELIMIT_MIN_BPS (5 * WP_PAGE_BYTES)

struct ratelimit {
	uint64_t base_bps;     /* at least 1 */
	uint64_t balanced_bps; /* of the last step */
};

struct ratelimit_sample {
	uint64_t dirty_bps;     /* what all writers of the device dirtied */
	uint64_t bandwidth_bps; /* what the device writes */
	uint64_t pos_q10;       /* position ratio, 0..2048 */
	uint64_t outstanding_bytes;
	uint64_t setpoint_bytes;
};

/* base * pos / 1024: what one task may dirty per second. */
uint64_t ratelimit_task_bps(uint64_t base_bps, uint64_t pos_q10);

/* One step, every 200 ms. base_bps stays within 1 and the bandwidth's order of magnitude. */
void ratelimit_step(struct ratelimit *ratelimit, const struct ratelimit_sample *sample);

#endif
