/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/position.h"

#include "base/fixed.h"

#define FAR_Q10 (2 * WP_Q10) /* from there on the cube is out of range */

/* (setpoint - level) / (limit - setpoint), towards zero. */
static int64_t distance_q10(uint64_t setpoint, uint64_t level, uint64_t limit)
{
	uint64_t span = (limit - setpoint) | 1;

	if (level > setpoint)
		return -(int64_t)min_u64(mul_div(level - setpoint, WP_Q10, span),
					 FAR_Q10);
	return (int64_t)min_u64(mul_div(setpoint - level, WP_Q10, span), FAR_Q10);
}

uint64_t position_cubic_q10(uint64_t setpoint, uint64_t level, uint64_t limit)
{
	int64_t x;
	int64_t factor;

	if (level >= limit || setpoint >= limit)
		return 0;
	/* Why: the shifts act on negative values too; an arithmetic shift is what the kernel's
	 * own numbers come from (K3.1), a division would differ by one unit. */
	x = distance_q10(setpoint, level, limit);
	factor = x;
	factor = factor * x >> 10;
	factor = factor * x >> 10;
	factor += (int64_t)WP_Q10;
	if (factor < 0)
		return 0;
	return min_u64((uint64_t)factor, 2 * WP_Q10);
}

uint64_t position_setpoint(uint64_t limit, uint64_t background)
{
	return (limit + background) / 2;
}

uint64_t position_free(uint64_t limit, uint64_t background)
{
	return (position_setpoint(limit, background) + background) / 2;
}

/* A quarter, less the further the level is above the limit, an eighth at least. */
static uint64_t gentle(uint64_t limit_bytes, uint64_t outstanding_bytes)
{
	uint64_t q10 = WP_Q10 / 4;

	if (outstanding_bytes <= limit_bytes)
		return q10;
	return max_u64(mul_div(q10, limit_bytes, outstanding_bytes), WP_Q10 / 8);
}

uint64_t position_strict_q10(uint64_t limit_bytes, uint64_t background_bytes,
			     uint64_t wall_bytes, uint64_t outstanding_bytes)
{
	uint64_t setpoint_bytes = position_setpoint(limit_bytes, background_bytes);
	bool fell = wall_bytes > limit_bytes && outstanding_bytes < wall_bytes;
	uint64_t gentle_q10 = fell ? gentle(limit_bytes, outstanding_bytes) : 0;

	if (outstanding_bytes >= limit_bytes || !setpoint_bytes ||
	    setpoint_bytes >= limit_bytes)
		return gentle_q10;
	return max_u64(gentle_q10, position_cubic_q10(setpoint_bytes, outstanding_bytes,
						      limit_bytes));
}
