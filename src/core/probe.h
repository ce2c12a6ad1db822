/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is a device that is given less than it could take faster by now? Pure.
 *
 * Nothing else shows it: under headroom no device is ever saturated. So two minutes after
 * the room began to be left, and every two minutes from then on, it is given a quarter more for a
 * moment, in two halves. A device that is as it was fails in the second at the latest, when what it had in
 * store is used up; meanwhile others wait behind a window, as they do where there is no headroom:
 * so seldom that it is less than a hundredth of them.
 * What passes is followed by the next probe at once: ten times faster is ten probes.
 */
#ifndef WP_CORE_PROBE_H
#define WP_CORE_PROBE_H

#include "base/types.h"

#define PROBE_WAIT_NS WP_SEC(120)
#define PROBE_HALF_NS WP_MS(400)
#define PROBE_HALF_UNITS 32u /* and at least so many, for the sake of precision */

struct probe {
	uint64_t begin_ns; /* of the half, or of the wait; 0 = not held */
	uint64_t begin_written_bytes;
	uint64_t half; /* 0 = waiting, 1, 2 */
};

struct probe_sample {
	uint64_t now_ns;
	uint64_t written_bytes; /* completions for us, ever */
	uint64_t held_bps;      /* what the device is given, 0 = all it takes */
	uint64_t unit_bytes;
};

/* The rate that a probe has just shown the device to be capable of, 0 = nothing new. */
uint64_t probe_step(struct probe *probe, const struct probe_sample *sample);

/* What to give the device at this moment. */
uint64_t probe_given_bps(const struct probe *probe, uint64_t held_bps);

#endif
