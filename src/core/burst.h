/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The credit for bursts: bytes that may be outstanding above a device's limit before anybody is
 * paced (design 6, WRITEPACE_BURST). Pure.
 *
 *              rises above the limit spend it
 *   limit      - - - - - - - - - - - - - -    between the two nothing changes: a writer that is
 *   background - - - - - - - - - - - - - -    paced stays here, and gets no second burst
 *              falls below the line refill it
 *   limit / 4  - - - - - - - - - - - - - -
 *              full: the device has nothing to catch up with
 *
 * What is kept is what was spent, not what is left: the size of the credit is each process's own
 * setting, and a new device has all of it.
 */
#ifndef WP_CORE_BURST_H
#define WP_CORE_BURST_H

#include "base/types.h"

struct burst {
	uint64_t spent_bytes;
	uint64_t level_bytes; /* outstanding at the last step */
};

struct burst_view {
	uint64_t most_bytes; /* the credit when nothing is spent */
	uint64_t limit_bytes;
	uint64_t background_bytes;
	uint64_t outstanding_bytes;
};

/* So much more may become dirty above the limit. With the outstanding bytes never above
 * most_bytes over it. */
uint64_t burst_credit_bytes(const struct burst *burst, const struct burst_view *view);

/* The level to which the credit of the last step allowed to go; 0 where there was none. */
uint64_t burst_ceiling_bytes(const struct burst *burst, const struct burst_view *view);

/* Spend, or refill. */
void burst_step(struct burst *burst, const struct burst_view *view);

#endif
