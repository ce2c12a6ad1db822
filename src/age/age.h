/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declaring periods of the two proportion domains, from the clock (K1.3).
 *
 * The helper calls age_step() on a timer; whoever takes the slow path calls it too and finds
 * nothing to do then. Without a helper the slow path declares what the timer would have: the
 * same periods at the same ends, so the same numbers.
 *
 * Concurrency: any number of tasks. The end of the running period is claimed by
 * compare-and-swap, the number of periods declared by another on the count the claimant saw:
 * one that is stopped in between and resumes later declares nothing.
 */
#ifndef WP_AGE_AGE_H
#define WP_AGE_AGE_H

#include <writepace/layout.h>

#include "base/types.h"

#define AGE_PERIOD_NS WP_SEC(3) /* K1.3: VM_COMPLETIONS_PERIOD_LEN */

/* For all who share the segment; 0 = chosen by what completes (core/period.h). */
void age_set_period(struct wp_segment *segment, uint64_t period_ns);

/*
 * The first event after idling starts the running period; every other call costs two reads.
 * True when it was this call: the helper's timer sleeps and wants to be woken.
 */
bool age_started(struct wp_segment *segment, uint64_t now_ns);

/*
 * Declare the periods that are over, and choose their length where it is to be chosen. Returns
 * when there is something to do next, 0 = nothing left to age.
 */
uint64_t age_step(struct wp_segment *segment, uint64_t now_ns);

#endif
