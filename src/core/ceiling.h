/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ceiling on the rate at which a device's writers dirty together, whatever their number: a
 * clock that they share is moved on by the time their bytes take at that rate, and each waits
 * until the clock has come. Pure.
 *
 *   clock = max(clock, now - lag) + bytes / rate
 */
#ifndef WP_CORE_CEILING_H
#define WP_CORE_CEILING_H

#include "base/types.h"

#define CEILING_LAG_NS WP_MS(20) /* time left unused for longer is lost */
#define CEILING_AHEAD_NS \
	WP_SEC(10) /* a clock further ahead is damage, or too many writers */
#define CEILING_POLL_NS WP_MS(50) /* a writer alone is asked so often */

/*
 * The clock after @bytes were dirtied at @now_ns under a ceiling of @rate_bps. Bytes may be any
 * number: no more than CEILING_AHEAD_NS is ever added.
 */
uint64_t ceiling_clock_ns(uint64_t clock_ns, uint64_t now_ns, uint64_t bytes,
			  uint64_t rate_bps);

/* Most that a writer may dirty between two looks. */
uint64_t ceiling_poll_bytes(uint64_t rate_bps);

#endif
