/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far the devices' shares of the last seconds are from their fractions: what core/period.h
 * chooses the period by.
 *
 * The last seconds of a device are what its count has more than its mark; after a sample half of
 * that is left, so that a second is remembered as by a period of one sample. Marks age with the
 * counts, whatever periods are declared meanwhile.
 *
 * One walk over the devices, by whoever claimed the sample (age.c). One that is killed half-way
 * leaves some devices with two seconds in the next sample and the others with one.
 */
#ifndef WP_AGE_SAMPLE_H
#define WP_AGE_SAMPLE_H

#include <writepace/layout.h>

#include "base/types.h"

/* Has anything completed since the last sample? Idle time says nothing of the load. */
bool sample_wanted(const struct wp_segment *segment);

/* Take it: 0 .. PERIOD_ONE. */
uint64_t sample_deviation(struct wp_segment *segment);

#endif
