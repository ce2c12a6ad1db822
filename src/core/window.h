/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The in-flight window of a device: the smallest that keeps it busy. Pure.
 *
 * What is in flight is what everybody else's fsync waits behind, so the window starts at one
 * unit and doubles only while that makes completions come faster. Then it stays, and is tried
 * at twice and half its size now and then, each time against the rate of the epoch before.
 *
 *   START       epochs of 25 ms: a quarter more per second -> twice the window; two epochs
 *               without that -> back to the last that paid
 *   HOLD        the rate to compare with; 0.3 s long, twice that after each UP that did not pay,
 *               up to 32 s
 *   UP          0.3 s at twice the window, units a quarter quicker (core/spacing.h): stays when
 *               more than half of that quarter came through
 *   HOLD_AGAIN  1 s, and
 *   DOWN        1 s at half the window: stays when no more than 1 % is lost. Only once HOLD has
 *               grown to 2 s: what has just been found is not doubted at once
 *
 * Why 15 % for UP: a device with a burst credit (a throttle with slices of 100 ms) shows 8 %
 * more in three slices that begin at the right moment; one that lacks depth shows all 25 %.
 *
 * Only epochs count during which the device was busy for us all the time.
 */
#ifndef WP_CORE_WINDOW_H
#define WP_CORE_WINDOW_H

#include "base/types.h"

#define WINDOW_MIN_BYTES WP_KIB(64)
#define WINDOW_MAX_BYTES WP_MIB(64)
#define WINDOW_HOLD_MIN_NS WP_MS(300)
#define WINDOW_HOLD_MAX_NS WP_SEC(32)
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
	uint64_t kept_bytes; /* what it goes back to after a probe that did not pay */
	uint64_t kept_bps;   /* completions per second there */
	uint64_t tries;      /* START: epochs without growth */
	uint64_t hold_ns;    /* length of the next HOLD */
	uint64_t epoch_ns;   /* start of the epoch */
	uint64_t epoch_written_bytes;
};

struct window_sample {
	uint64_t now_ns;
	uint64_t written_bytes; /* completions of the device, ever */
	uint64_t cap_bytes;     /* latency target * bandwidth */
	bool busy;              /* all the time since the sample before */
};

/*
 * Any number of samples may fall into an epoch. Afterwards bytes is within the bounds. True
 * when a larger window has just paid: kept_bps is then what the device can do.
 */
bool window_step(struct window *window, const struct window_sample *sample);

/* The device has changed: judge the window it has from now on, and probe soon. */
void window_hold_anew(struct window *window);

/* What is started at a time: a quarter of the window, so that it refills before it is empty. */
uint64_t window_unit_bytes(uint64_t window_bytes);

#endif
