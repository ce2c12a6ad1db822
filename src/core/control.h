/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One step of what all tasks of a device share: its bandwidth, the base rate, the newcomer's
 * limit, the wall, the window. Pure; the same code steps the segment, the simulator, the tests.
 *
 * The state is a row of 64-bit words, so that a front end can copy it, step the copy and
 * publish word by word.
 */
#ifndef WP_CORE_CONTROL_H
#define WP_CORE_CONTROL_H

#include "core/bandwidth.h"
#include "core/burst.h"
#include "core/fall.h"
#include "core/limits.h"
#include "core/probe.h"
#include "core/ratelimit.h"
#include "core/spacing.h"
#include "core/speed.h"
#include "core/window.h"

#define CONTROL_INTERVAL_NS WP_MS(10) /* shortest time between two steps */

struct control {
	uint64_t
		stamp_ns; /* of the last step, 0 = never; who moves it may publish the rest */
	uint64_t bandwidth_stamp_ns;
	uint64_t bandwidth_written_bytes;
	uint64_t
		stalled; /* 1: nothing completed for long, the next completion starts anew */
	uint64_t base_stamp_ns;
	uint64_t base_dirtied_bytes;
	uint64_t newcomer_stamp_ns;
	uint64_t newcomer_written_bytes;
	uint64_t newcomer_bytes;
	uint64_t begin_ns; /* of the first step, and what was completed by then */
	uint64_t begin_written_bytes;
	uint64_t wall_bytes;
	uint64_t seen_written_bytes; /* at the last step */
	uint64_t moving;             /* 1: more than at the step before */
	uint64_t bandwidth_given; /* 1: the user's word, until there is a measured one */
	uint64_t
		held_bps; /* where others are: what is ours of speed.bps; 0 = all of it */
	struct burst burst;
	struct fall fall;
	struct speed speed;
	struct probe probe;
	struct bandwidth bandwidth;
	struct ratelimit ratelimit;
	struct window window;
	struct spacing spacing;
};

#define CONTROL_WORDS (sizeof(struct control) / sizeof(uint64_t))

/* What the user and the kernel allow, and what others use of it. */
struct bounds {
	uint64_t drain_ns;
	uint64_t latency_ns;
	uint64_t rate_bps;      /* the user's ceiling, 0 = none (core/ceiling.h) */
	uint64_t ceiling_bytes; /* 0 = none */
	uint64_t kernel_bytes;  /* 0 = unknown */
	uint64_t burst_bytes;   /* credit above the limit */
	uint64_t background_pm;
	uint64_t
		headroom_pm; /* to be left to others of the device, 0 = nobody is there */
	enum limits_penalty penalty;
	/* of all devices together; 0 = this one is alone */
	uint64_t in_use_bps;
	uint64_t outstanding_bytes;
	uint64_t pressure_q10; /* 0 or 1024 = none */
	/* of this one among them; denominator 0 = alone */
	struct fprop_fraction share;
	/* the user's settings of this one; 0 = none */
	uint64_t min_ratio_q10;        /* of the global limit */
	uint64_t others_min_ratio_q10; /* promised to all, this one included */
	uint64_t max_ratio_q10;
	uint64_t max_bytes;     /* outstanding */
	uint64_t bandwidth_bps; /* while nothing is measured */
};

struct control_sample {
	uint64_t now_ns;
	uint64_t written_bytes; /* completions of the device, ever */
	uint64_t dirtied_bytes; /* new dirt of the device, ever */
	uint64_t outstanding_bytes;
	uint64_t idle_ns;     /* when the device was last seen without work from us */
	uint64_t starts;      /* units started, ever */
	uint64_t busy_starts; /* those that found the device busy */
	uint64_t late_ns;     /* time lost as nobody started what was due, ever */
	uint64_t others_bps;  /* what others write there, 0 = unknown */
};

/* The limit over all devices; the device's limit and background line. */
uint64_t control_global_bytes(const struct control *control, const struct bounds *bounds);
uint64_t control_limit_bytes(const struct control *control, const struct bounds *bounds);
uint64_t control_background_bytes(uint64_t limit_bytes, const struct bounds *bounds);

struct burst_view control_burst_view(const struct control *control,
				     const struct bounds *bounds,
				     uint64_t outstanding_bytes);

/*
 * So much more may become dirty before anybody is paced, the limit notwithstanding. None on a
 * device whose bandwidth is unknown: nobody could tell when the last burst has left. None under
 * a user's rate: it is a promise, too.
 */
uint64_t control_credit_bytes(const struct control *control, const struct bounds *bounds,
			      uint64_t outstanding_bytes);

/* Time between the starts of two units of the window, 0 = as soon as there is room. */
uint64_t control_interval_ns(const struct control *control);

/* Step @control. Bandwidth and base rate move every 200 ms, the window at its own epochs. */
void control_step(struct control *control, const struct control_sample *sample,
		  const struct bounds *bounds);

#endif
