/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/spacing.h"

#include "base/fixed.h"

/* 1.25, 1.5, 2, 2 ... */
static uint64_t grown_q10(uint64_t clear_epochs)
{
	return WP_Q10 + (WP_Q10 / 4 << min_u64(clear_epochs, 2));
}

static void begin_epoch(struct spacing *spacing, const struct spacing_sample *sample)
{
	spacing->epoch_ns = sample->now_ns;
	spacing->epoch_starts = sample->starts;
	spacing->epoch_busy_starts = sample->busy_starts;
	spacing->epoch_written_bytes = sample->written_bytes;
}

uint64_t spacing_step(struct spacing *spacing, const struct spacing_sample *sample)
{
	uint64_t elapsed_ns = sample->now_ns - spacing->epoch_ns;
	uint64_t rate_bps = rate_of(
		sub_u64(sample->written_bytes, spacing->epoch_written_bytes), elapsed_ns);
	bool busy = sample->busy_starts != spacing->epoch_busy_starts;

	if (!spacing->gain_q10)
		spacing->gain_q10 = SPACING_GAIN_Q10;
	if (elapsed_ns < SPACING_EPOCH_NS ||
	    (!busy && sample->starts - spacing->epoch_starts < SPACING_STARTS))
		return 0;
	begin_epoch(spacing, sample);
	if (busy || sample->held) {
		spacing->gain_q10 = SPACING_GAIN_Q10;
		spacing->clear_epochs = 0;
		return 0;
	}
	spacing->gain_q10 = grown_q10(spacing->clear_epochs++);
	return rate_bps;
}

uint64_t spacing_interval_ns(const struct spacing *spacing, uint64_t bandwidth_bps,
			     uint64_t unit_bytes, bool probing)
{
	uint64_t gain_q10 = max_u64(spacing->gain_q10, SPACING_GAIN_Q10);

	if (probing)
		gain_q10 = max_u64(gain_q10, SPACING_PROBE_Q10);
	if (!bandwidth_bps)
		return 0;
	return bytes_to_ns(unit_bytes, mul_div(bandwidth_bps, gain_q10, WP_Q10));
}

bool spacing_may_start(uint64_t clock_ns, uint64_t interval_ns, uint64_t now_ns,
		       uint64_t *next_clock_ns)
{
	/* Why the upper bound: a clock of the far future is damage, not a reason to wait. */
	if (clock_ns > now_ns && clock_ns < now_ns + WP_SEC(1) + 2 * interval_ns)
		return false;
	/* Why now: what is not spaced is never late, and a clock left behind would tell of idling. */
	*next_clock_ns = now_ns;
	if (interval_ns)
		*next_clock_ns =
			clamp_u64(clock_ns, sub_u64(now_ns, SPACING_LAG_NS), now_ns) +
			interval_ns;
	return true;
}
