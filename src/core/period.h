/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The aging period chosen from the fluctuation of completions (WRITEPACE_PERIOD=auto).
 *
 * A long period gives quiet fractions that follow slowly, a short one the reverse (K1.3). Which
 * is wanted depends on what completes: as long as the last seconds' shares differ from the
 * fractions by no more than they always do, longer is better; when they differ by more, sample
 * after sample, the fractions are of a load that is no more, and the shortest is best.
 *
 *   deviation = 1/2 * sum |share of the last seconds - fraction|       of a sample, 0..1
 *   evidence  = max(0, evidence + deviation - 3/2 * noise - 1/64)      what is beyond noise adds up
 *   evidence > 3 * noise + 1/4      change: the shortest period at once
 *   four calm periods in a row      the next longer one
 *
 * noise is a mean of the deviation that rises fast and falls slowly. Periods are powers of two of
 * the shortest, so that history gathered in long ones is brought to the weight it had in short
 * ones by whole halvings, one for each step; fractions are not changed by that.
 *
 * The state is one word of the segment, replaced by whoever claimed the sample; every value of it
 * is a state. 0: the shortest period, no noise known.
 */
#ifndef WP_CORE_PERIOD_H
#define WP_CORE_PERIOD_H

#include "base/types.h"

#define PERIOD_SAMPLE_NS WP_SEC(1)
#define PERIOD_SHORTEST_NS WP_MS(500)
#define PERIOD_LONGEST_NS WP_SEC(8)
#define PERIOD_LEVELS 5u  /* 0.5, 1, 2, 4, 8 s */
#define PERIOD_ONE 65536u /* 1.0 as a deviation */

struct period {
	uint64_t level;    /* < PERIOD_LEVELS */
	uint64_t calm;     /* samples since the last change or lengthening */
	uint64_t noise;    /* 1/65536, like the following */
	uint64_t evidence; /* for a change */
};

struct period period_of_word(uint64_t word);
uint64_t period_word(const struct period *period);

uint64_t period_span_ns(const struct period *period);

/*
 * |recent / all_recent - events / all_events| of one member; half the sum over all members is the
 * deviation.
 */
uint64_t period_difference(uint64_t recent, uint64_t all_recent, uint64_t events,
			   uint64_t all_events);

/*
 * Take one sample in, @deviation up to PERIOD_ONE. Returns the periods to be declared at once, 0 =
 * the running one goes on.
 */
unsigned period_step(struct period *period, uint64_t deviation);

#endif
