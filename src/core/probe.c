/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/probe.h"

#include "base/fixed.h"

static void begin(struct probe *probe, const struct probe_sample *sample, uint64_t half)
{
	probe->begin_ns = sample->now_ns;
	probe->begin_written_bytes = sample->written_bytes;
	probe->half = half;
}

static uint64_t half_ns(const struct probe_sample *sample)
{
	return max_u64(PROBE_HALF_NS, bytes_to_ns(PROBE_HALF_UNITS * sample->unit_bytes,
						  sample->held_bps));
}

/* A quarter more was given: nearly all of it has to come out. */
static bool keeps_up(uint64_t rate_bps, uint64_t held_bps)
{
	return rate_bps >= held_bps + held_bps * 3 / 16;
}

uint64_t probe_step(struct probe *probe, const struct probe_sample *sample)
{
	uint64_t elapsed_ns = sub_u64(sample->now_ns, probe->begin_ns);
	uint64_t rate_bps = rate_of(
		sub_u64(sample->written_bytes, probe->begin_written_bytes), elapsed_ns);
	uint64_t half = probe->half;

	if (!sample->held_bps) {
		*probe = (struct probe){ 0 };
		return 0;
	}
	if (!probe->begin_ns) {
		begin(probe, sample, 0);
		return 0;
	}
	if (elapsed_ns < (half ? half_ns(sample) : PROBE_WAIT_NS))
		return 0;
	if (half && !keeps_up(rate_bps, sample->held_bps)) {
		begin(probe, sample, 0);
		return 0;
	}
	begin(probe, sample, half == 2 ? 1 : half + 1);
	return half == 2 ? rate_bps : 0;
}

uint64_t probe_given_bps(const struct probe *probe, uint64_t held_bps)
{
	return probe->half ? held_bps + held_bps / 4 : held_bps;
}
