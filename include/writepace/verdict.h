/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one balance step saw and decided, every intermediate included. Trace, top and tests read
 * this and nothing else.
 */
#ifndef WRITEPACE_VERDICT_H
#define WRITEPACE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/* Where what is outstanding is known from, best first. */
enum wp_source {
	WP_SOURCE_OBSERVER, /* the kernel's count of the device, through observer and helper */
	WP_SOURCE_CACHESTAT,  /* the file itself; of closed ones one of the others */
	WP_SOURCE_STATISTICS, /* what the device wrote, through the helper */
	WP_SOURCE_RATE,       /* the learned bandwidth */
};

/* One view of a task and its device, in. */
struct view {
	uint64_t now_ns;
	uint64_t outstanding_bytes; /* of the device: dirty + in flight */
	uint64_t dirtied_bytes;     /* by this task since its last check */
	uint64_t paused_when_ns;    /* of the task's last verdict, 0 = none */
	uint64_t weight;            /* 100 = normal, 0 counts as that */
	uint64_t source;            /* enum wp_source; told, not used */
	/* the task's share of what all tasks dirtied lately; denominator 0 = unknown */
	uint64_t share_numerator;
	uint64_t share_denominator;
};

/* One verdict, out. */
struct verdict {
	struct view view;
	uint64_t global_bytes; /* over all devices, pressure included */
	uint64_t limit_bytes;  /* of the device */
	uint64_t task_limit_bytes;
	uint64_t background_bytes;
	uint64_t setpoint_bytes;
	uint64_t wall_bytes;
	uint64_t credit_bytes;  /* of a burst: so much more before anybody is paced */
	uint64_t bandwidth_bps; /* assumed while unknown */
	uint64_t base_bps;      /* of this task, by its weight */
	uint64_t pos_q10;
	uint64_t task_bps;
	uint64_t max_pause_ns;
	uint64_t min_pause_ns;
	uint64_t pause_ns;   /* sleep this long, 0 = go on */
	uint64_t visit_ns;   /* longest that these bytes may hold the task, walls apart */
	uint64_t poll_bytes; /* check again after this much */
	uint64_t piece_bytes;    /* longest part of a call between two checks */
	uint64_t paused_when_ns; /* for the next view */
	uint64_t owed_bytes;     /* of the view's dirtied_bytes, not paid for yet */
	bool free_running;       /* well below the setpoint: nobody sleeps */
	bool at_wall;            /* over the limit and its gentle room */
	bool again; /* ask again after the pause: at the wall, or bytes are owed */
};

#endif
