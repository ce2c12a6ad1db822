/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/speed.h"

#include "base/fixed.h"
#include "core/window.h"

static void begin(struct speed *speed, const struct speed_sample *sample,
		  uint64_t settled)
{
	speed->begin_ns = sample->now_ns;
	speed->begin_written_bytes = sample->written_bytes;
	speed->begin_late_ns = sample->late_ns;
	speed->settled = settled;
}

/* A mean of a few epochs; what is an eighth away is another speed. */
static void take(struct speed *speed, uint64_t rate_bps)
{
	uint64_t old_bps = speed->bps;

	if (rate_bps > old_bps + old_bps / 8 || rate_bps < old_bps - old_bps / 8)
		speed->bps = max_u64(rate_bps, 1);
	else
		speed->bps = (3 * old_bps + rate_bps) / 4;
}

/* Does it take what it is given? */
static bool keeps_up(const struct speed *speed, const struct speed_sample *sample,
		     uint64_t rate_bps, uint64_t elapsed_ns)
{
	uint64_t late_ns = sub_u64(sample->late_ns, speed->begin_late_ns);
	uint64_t given_bps = mul_div(sample->held_bps, sub_u64(elapsed_ns, late_ns),
				     max_u64(elapsed_ns, 1));

	return sample->held_bps && rate_bps >= given_bps - given_bps / 32;
}

/* Why not in a pause of the completions: what follows it belongs to the epoch, too. */
static bool is_over(const struct speed_sample *sample, uint64_t elapsed_ns,
		    uint64_t span_ns)
{
	if (sample->edge)
		return elapsed_ns >= span_ns;
	return sample->moving && elapsed_ns >= span_ns + EDGE_PATIENCE_NS;
}

bool speed_step(struct speed *speed, const struct speed_sample *sample)
{
	uint64_t elapsed_ns = sub_u64(sample->now_ns, speed->begin_ns);
	uint64_t rate_bps = rate_of(
		sub_u64(sample->written_bytes, speed->begin_written_bytes), elapsed_ns);
	bool settled = speed->settled;
	bool kept_up;

	if (!sample->saturated) {
		speed->begin_ns = 0;
		return false;
	}
	if (!speed->begin_ns) {
		begin(speed, sample, 0);
		return false;
	}
	if (!is_over(sample, elapsed_ns, settled ? SPEED_EPOCH_NS : SPEED_SETTLE_NS))
		return false;
	kept_up = keeps_up(speed, sample, rate_bps, elapsed_ns);
	begin(speed, sample, 1);
	if (!settled || kept_up)
		return false;
	take(speed, rate_bps + sample->others_bps);
	return true;
}

void speed_set(struct speed *speed, uint64_t rate_bps)
{
	speed->bps = max_u64(rate_bps, 1);
	speed->begin_ns = 0;
}
