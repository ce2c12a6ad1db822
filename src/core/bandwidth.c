/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/bandwidth.h"

#include "base/fixed.h"

static uint64_t second_filter(uint64_t avg_bps, uint64_t old_bps, uint64_t new_bps)
{
	if (avg_bps > old_bps && old_bps >= new_bps)
		return avg_bps - (avg_bps - old_bps) / 8;
	if (avg_bps < old_bps && old_bps <= new_bps)
		return avg_bps + (old_bps - avg_bps) / 8;
	return avg_bps;
}

void bandwidth_step(struct bandwidth *bandwidth, uint64_t written_bytes,
		    uint64_t elapsed_ns)
{
	uint64_t old_bps = bandwidth->last_bps;
	uint64_t new_bps;

	if (!elapsed_ns)
		return;
	if (!bandwidth->avg_bps || elapsed_ns > BANDWIDTH_PERIOD_NS) {
		new_bps = rate_of(written_bytes, elapsed_ns);
		bandwidth->avg_bps = new_bps;
	} else {
		/* written per P + old * (P - elapsed) per P, in bytes per second */
		new_bps = mul_div(written_bytes, WP_SEC(1), BANDWIDTH_PERIOD_NS) +
			  mul_div(old_bps, BANDWIDTH_PERIOD_NS - elapsed_ns,
				  BANDWIDTH_PERIOD_NS);
		bandwidth->avg_bps = second_filter(bandwidth->avg_bps, old_bps, new_bps);
	}
	bandwidth->last_bps = new_bps;
	bandwidth->avg_bps = max_u64(bandwidth->avg_bps, 1);
}

void bandwidth_hint(struct bandwidth *bandwidth, uint64_t written_bytes,
		    uint64_t elapsed_ns)
{
	if (elapsed_ns >= BANDWIDTH_HINT_NS)
		bandwidth->last_bps = rate_of(written_bytes, elapsed_ns);
}

void bandwidth_raise(struct bandwidth *bandwidth, uint64_t rate_bps)
{
	bandwidth->last_bps = max_u64(bandwidth->last_bps, rate_bps);
	bandwidth->avg_bps = max_u64(bandwidth->avg_bps, rate_bps);
}

void bandwidth_fall(struct bandwidth *bandwidth, uint64_t rate_bps)
{
	bandwidth->last_bps = bandwidth->avg_bps = max_u64(rate_bps, 1);
}

uint64_t bandwidth_assumed_bps(const struct bandwidth *bandwidth)
{
	return bandwidth->avg_bps ? bandwidth->avg_bps : BANDWIDTH_INIT_BPS;
}

uint64_t bandwidth_likely_bps(const struct bandwidth *bandwidth)
{
	if (!bandwidth->avg_bps && bandwidth->last_bps)
		return bandwidth->last_bps;
	return bandwidth_assumed_bps(bandwidth);
}
