/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The speed of a device in the long run, to about a percent. Pure.
 *
 * Bandwidth (core/bandwidth.h) is there half a second after the first byte and contains the
 * device's burst credit: 6 to 12 % too much. Who wants to stay just below the device's speed, so
 * that its queue runs empty between two units, needs better: what completes in two seconds or
 * more of saturated writing, the first second left out, from one edge of the completions to
 * another.
 *
 * A device that is given less than it could take shows its speed only when it does not even take
 * that: then it has become slower. What was given late, by callers that got no processor, was not
 * given: taken for a slower device it would be given ever less.
 */
#ifndef WP_CORE_SPEED_H
#define WP_CORE_SPEED_H

#include "base/types.h"

#define SPEED_SETTLE_NS WP_SEC(1)
#define SPEED_EPOCH_NS WP_SEC(2)

struct speed {
	uint64_t bps;      /* 0 = not known yet */
	uint64_t begin_ns; /* of the epoch, 0 = not saturated */
	uint64_t begin_written_bytes;
	uint64_t begin_late_ns;
	uint64_t settled; /* 1: the first second is over */
};

struct speed_sample {
	uint64_t now_ns;
	uint64_t written_bytes; /* completions for us, ever */
	uint64_t others_bps;    /* what it writes for others beside that */
	uint64_t held_bps;      /* it is given no more than that, 0 = all it takes */
	uint64_t late_ns; /* time in which it was given nothing, though it could, ever */
	bool saturated;   /* all the time since the sample before */
	bool moving;      /* something has completed since then */
	bool edge;        /* completions begin again after a pause */
};

/* True when there is a new value. */
bool speed_step(struct speed *speed, const struct speed_sample *sample);

/* The device has just shown that it is as slow, or as fast, as that. */
void speed_set(struct speed *speed, uint64_t rate_bps);

#endif
