/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/position.h"

#include "base/fixed.h"

uint64_t position_cubic_q10(uint64_t setpoint, uint64_t level, uint64_t limit)
{
	__int128 x;
	__int128 factor;

	if (level >= limit || setpoint >= limit)
		return 0;
	/* Why: the shifts act on negative values too; an arithmetic shift is what the kernel's
	 * own numbers come from (K3.1), a division would differ by one unit. */
	x = ((__int128)setpoint - level) * WP_Q10 / (__int128)((limit - setpoint) | 1);
	factor = x;
	factor = factor * x >> 10;
	factor = factor * x >> 10;
	factor += WP_Q10;
	if (factor < 0)
		return 0;
	return factor > 2 * WP_Q10 ? 2 * WP_Q10 : (uint64_t)factor;
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
