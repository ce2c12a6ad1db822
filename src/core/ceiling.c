/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/ceiling.h"

#include "base/fixed.h"

uint64_t ceiling_clock_ns(uint64_t clock_ns, uint64_t now_ns, uint64_t bytes,
			  uint64_t rate_bps)
{
	uint64_t from_ns = clamp_u64(clock_ns, sub_u64(now_ns, CEILING_LAG_NS),
				     now_ns + CEILING_AHEAD_NS);

	return min_u64(from_ns + min_u64(bytes_to_ns(bytes, rate_bps), CEILING_AHEAD_NS),
		       now_ns + CEILING_AHEAD_NS);
}

uint64_t ceiling_poll_bytes(uint64_t rate_bps)
{
	return max_u64(ns_to_bytes(CEILING_POLL_NS, rate_bps), WP_PAGE_BYTES);
}
