/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write bandwidth of a device from its completions (K4.2). Pure.
 *
 *   new = (written + old * (P - elapsed)) / P        P = 3 s
 *   avg moves an eighth of the way, and only when new and old lie on one side of it
 *
 * The difference to the kernel: samples count only while the device was kept busy by us, and
 * an idle device keeps its value (K4.3 decays to the demand). Who samples decides that.
 */
#ifndef WP_CORE_BANDWIDTH_H
#define WP_CORE_BANDWIDTH_H

#include "base/types.h"

#define BANDWIDTH_INIT_BPS WP_MIB(100)   /* K4.1: assumed while nothing is known */
#define BANDWIDTH_PERIOD_NS WP_SEC(3)    /* P */
#define BANDWIDTH_INTERVAL_NS WP_MS(200) /* K4.3: shortest time between two updates */
#define BANDWIDTH_FIRST_NS WP_MS(500)    /* busy time after which a first value stands */
#define BANDWIDTH_SHOWN_NS \
	WP_SEC(2) /* time, idle or not, that shows the least it can do */
#define BANDWIDTH_STALL_NS WP_SEC(1) /* nothing completed for so long: not sampled */
#define BANDWIDTH_HINT_NS WP_MS(25)  /* busy time after which last_bps hints at it */

struct bandwidth {
	uint64_t
		last_bps; /* first filter; while avg_bps is unknown, the average so far */
	uint64_t avg_bps; /* second filter, what others use; 0 = unknown */
};

/* Feed @written_bytes completed in @elapsed_ns. avg_bps is at least 1 afterwards. */
void bandwidth_step(struct bandwidth *bandwidth, uint64_t written_bytes,
		    uint64_t elapsed_ns);

/* The average of the first half second so far; avg_bps stays unknown. */
void bandwidth_hint(struct bandwidth *bandwidth, uint64_t written_bytes,
		    uint64_t elapsed_ns);

/* The device has just shown that it can do @rate_bps: no need to wait for the filters. */
void bandwidth_raise(struct bandwidth *bandwidth, uint64_t rate_bps);

/* The device has become as slow as @rate_bps. */
void bandwidth_fall(struct bandwidth *bandwidth, uint64_t rate_bps);

/* avg_bps, or what is assumed while it is unknown. */
uint64_t bandwidth_assumed_bps(const struct bandwidth *bandwidth);

/* The same, but the average so far while it is unknown: how long something is likely to take. */
uint64_t bandwidth_likely_bps(const struct bandwidth *bandwidth);

#endif
