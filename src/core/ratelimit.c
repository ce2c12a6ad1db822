/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/ratelimit.h"

#include "base/fixed.h"

uint64_t ratelimit_task_bps(uint64_t base_bps, uint64_t pos_q10)
{
	return mul_div(base_bps, pos_q10, WP_Q10);
}

/* K4.4: how far the base rate should go, 0 where rate and position disagree. */
static uint64_t wanted_step(const struct ratelimit *ratelimit,
			    const struct ratelimit_sample *sample, uint64_t balanced_bps,
			    uint64_t task_bps)
{
	uint64_t old_bps = ratelimit->balanced_bps;
	uint64_t x;

	if (sample->outstanding_bytes < sample->setpoint_bytes) {
		x = min_u64(min_u64(old_bps, balanced_bps), task_bps);
		return sub_u64(x, ratelimit->base_bps);
	}
	x = max_u64(max_u64(old_bps, balanced_bps), task_bps);
	return sub_u64(ratelimit->base_bps, x);
}

/* K4.4: (step >> rate / (2 step + 1)) / 8, rounded up. */
static uint64_t damped(uint64_t step, uint64_t base_bps)
{
	uint64_t shift = base_bps / (2 * step + 1);

	return shift >= 64 ? 0 : ((step >> shift) + 7) / 8;
}

void ratelimit_step(struct ratelimit *ratelimit, const struct ratelimit_sample *sample)
{
	uint64_t task_bps = ratelimit_task_bps(ratelimit->base_bps, sample->pos_q10) + 1;
	uint64_t balanced_bps =
		mul_div(task_bps, sample->bandwidth_bps, sample->dirty_bps | 1);
	uint64_t step;

	balanced_bps = min_u64(balanced_bps, sample->bandwidth_bps);
	step = damped(wanted_step(ratelimit, sample, balanced_bps, task_bps),
		      ratelimit->base_bps);
	if (ratelimit->base_bps < balanced_bps)
		ratelimit->base_bps += step;
	else
		ratelimit->base_bps = sub_u64(ratelimit->base_bps, step);
	ratelimit->base_bps = max_u64(ratelimit->base_bps, 1);
	ratelimit->balanced_bps = balanced_bps;
}
