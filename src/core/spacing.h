/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How quickly units of writeback follow one another. Pure.
 *
 * A device that is given the next unit the moment it has done the last spends its burst credit
 * (a cache, a throttle's slice) at once and then makes everybody wait for the rest of the slice.
 * Units spread a little faster than it writes leave hardly any such wait, and cost nothing:
 *
 *   interval = unit / (bandwidth * gain)         gain = 1 1/16
 *
 * Where not one start of an epoch found the device busy, it did all it was given: its bandwidth
 * is at least that, and the gain of the next epoch is a quarter, then a half, then the double
 * more, until a start finds it busy.
 */
#ifndef WP_CORE_SPACING_H
#define WP_CORE_SPACING_H

#include "base/types.h"

#define SPACING_GAIN_Q10 (WP_Q10 + WP_Q10 / 16)
#define SPACING_EPOCH_NS WP_MS(250)
#define SPACING_PROBE_Q10 (WP_Q10 + WP_Q10 / 4) /* while a larger window is tried */
#define SPACING_STARTS 8                        /* fewer in an epoch prove nothing */
#define SPACING_LAG_NS WP_MS(7) /* starts missed for longer are not made up for */

struct spacing {
	uint64_t gain_q10;
	uint64_t clear_epochs; /* in a row without a start that found the device busy */
	uint64_t epoch_ns;
	uint64_t epoch_starts;      /* of the device, ever, when the epoch began */
	uint64_t epoch_busy_starts; /* those that found something in flight */
	uint64_t epoch_written_bytes;
};

struct spacing_sample {
	uint64_t now_ns;
	uint64_t starts;        /* units started, ever */
	uint64_t busy_starts;   /* looks that found one due and the device busy, ever */
	uint64_t written_bytes; /* completions of the device, ever */
	bool held;              /* slower on purpose: clear epochs prove nothing */
};

/* Returns the rate that the device has just shown to be below its bandwidth, 0 = none. */
uint64_t spacing_step(struct spacing *spacing, const struct spacing_sample *sample);

/* Time from one start to the next; 0 while the bandwidth is unknown (0). */
uint64_t spacing_interval_ns(const struct spacing *spacing, uint64_t bandwidth_bps,
			     uint64_t unit_bytes, bool probing);

/* May a unit start at @now_ns when the last one was due at @clock_ns? The clock afterwards. */
bool spacing_may_start(uint64_t clock_ns, uint64_t interval_ns, uint64_t now_ns,
		       uint64_t *next_clock_ns);

#endif
