/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The in-flight window of a device: the smallest that keeps it busy. Pure.
 *
 * What is in flight is what everybody else's fsync waits behind, so the window starts at one
 * unit and doubles only while that makes completions come faster. Then it stays, and is tried
 * larger and smaller now and then, each time against the rate of the epoch before. It is depth
 * units: a stick whose commands cost time wants one long one, a fast disk several at a time.
 *
 *   START       epochs of 25 ms and eight units: a quarter more per second -> twice the window,
 *               four units in it; two epochs without that -> back to the last that paid
 *   HOLD        the rate to compare with; 1 s long, twice that after each UP that did not pay,
 *               up to 32 s. An epoch with a 16th more than the first ends it: the device has
 *               become faster, and all that holds it back is what is known of it
 *   UP          0.5 s, units a quarter quicker (core/spacing.h): stays when it brings 3 %, and is
 *               a START again when it brings a sixth, all that so much quicker units can. In
 *               turns deeper (twice the window, twice the depth up to four) and longer (half
 *               the depth; where that is one, twice the window)
 *   HOLD_AGAIN  1 s, and
 *   DOWN        1 s at half window and depth: stays when no more than 1 % is lost, and is halved
 *               again. Only once HOLD has grown to 4 s: what has just been found is not
 *               doubted at once
 *
 * A device that works in slices (a throttle, a stick that cleans up) shows any rate in an epoch
 * that ends in the midst of one. So epochs end where completions begin again after a pause,
 * where there are such moments.
 *
 * Only epochs count during which the device was busy for us all the time.
 */
#ifndef WP_CORE_WINDOW_H
#define WP_CORE_WINDOW_H

#include "base/types.h"

#define WINDOW_MIN_BYTES WP_KIB(64)
#define WINDOW_MAX_BYTES WP_MIB(64)
#define WINDOW_MAX_DEPTH 4u
#define WINDOW_HOLD_MIN_NS WP_SEC(1)
#define WINDOW_HOLD_MAX_NS WP_SEC(32)
/* Where there are no edges an epoch is longer by that: a slice and a half of the usual throttle. */
#define EDGE_PATIENCE_NS WP_MS(150)
#define WINDOW_GIVE_UP_NS WP_MS(250) /* DOWN ends early when it costs a tenth by then */

enum window_phase {
	WINDOW_START,
	WINDOW_HOLD,
	WINDOW_UP,
	WINDOW_HOLD_AGAIN,
	WINDOW_DOWN,
};

/* All words fixed width: it lives in the segment as it is. */
struct window {
	uint64_t phase;
	uint64_t bytes;      /* the window of this moment, probes included; 0 = new */
	uint64_t depth;      /* units in it */
	uint64_t kept_bytes; /* what it goes back to after a probe that did not pay */
	uint64_t kept_depth;
	uint64_t kept_bps; /* completions per second there */
	uint64_t longer;   /* 1: the next UP tries longer units */
	uint64_t tries;    /* START: epochs without growth; HOLD: seconds of it */
	uint64_t hold_ns;  /* length of the next HOLD */
	uint64_t epoch_ns; /* start of the epoch */
	uint64_t epoch_written_bytes;
};

struct window_sample {
	uint64_t now_ns;
	uint64_t written_bytes; /* completions of the device, ever */
	uint64_t cap_bytes;     /* latency target * bandwidth */
	bool busy;              /* all the time since the sample before */
	bool edge;              /* completions begin again after a pause */
};

/*
 * Any number of samples may fall into an epoch. Afterwards bytes is within the bounds. True
 * when a larger window has just paid: kept_bps is then what the device can do.
 */
bool window_step(struct window *window, const struct window_sample *sample);

/* The device has changed: judge the window it has from now on, and probe soon. */
void window_hold_anew(struct window *window);

/* What is in flight at most, and what is started at a time, of this moment; within bounds. */
uint64_t window_bytes(const struct window *window);
uint64_t window_unit_bytes(const struct window *window);

/* Window and unit without the probe of this moment. */
uint64_t window_kept_bytes(const struct window *window);
uint64_t window_kept_unit_bytes(const struct window *window);

#endif
