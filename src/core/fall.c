/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/fall.h"

#include "base/fixed.h"

static void begin(struct fall *fall, const struct fall_sample *sample, uint64_t low_bps)
{
	fall->stamp_ns = sample->now_ns;
	fall->written_bytes = sample->written_bytes;
	fall->low_bps = low_bps;
}

/*
 * Cards pause for up to a second and take a few bytes meanwhile: whether next to nothing is a
 * pause or the beginning of a fall shows later.
 */
static bool may_be_pause(const struct fall *fall, const struct fall_sample *sample,
			 uint64_t rate_bps, uint64_t elapsed_ns)
{
	return !fall->low_bps && elapsed_ns < FALL_PAUSE_NS &&
	       rate_bps < sample->known_bps / FALL_PAUSE;
}

uint64_t fall_step(struct fall *fall, const struct fall_sample *sample)
{
	uint64_t elapsed_ns = sub_u64(sample->now_ns, fall->stamp_ns);
	uint64_t written_bytes = sub_u64(sample->written_bytes, fall->written_bytes);
	uint64_t rate_bps = rate_of(written_bytes, elapsed_ns);
	uint64_t before_bps = fall->low_bps;

	/* Why the time: so long an epoch says nothing of now. */
	if (!sample->known_bps || elapsed_ns > FALL_PAUSE_NS + 4 * FALL_EPOCH_NS) {
		begin(fall, sample, 0);
		return 0;
	}
	if (elapsed_ns < FALL_EPOCH_NS + (sample->edge ? 0 : FALL_EPOCH_NS / 2) ||
	    may_be_pause(fall, sample, rate_bps, elapsed_ns))
		return 0;
	/* one in which nothing completes at all is a stall, and tells nothing */
	if (!written_bytes || rate_bps >= sample->known_bps / 2) {
		begin(fall, sample, 0);
		return 0;
	}
	begin(fall, sample, rate_bps);
	return before_bps ? max_u64(rate_bps, before_bps) : 0;
}
