/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far is it, and how long will it take? Pure.
 */
#ifndef WP_CTL_PROGRESS_H
#define WP_CTL_PROGRESS_H

#include "base/types.h"

#define PROGRESS_SAMPLES 24 /* completions that the rate is taken over */

struct progress_sample {
	uint64_t ns;
	uint64_t written_bytes;
};

struct progress {
	uint64_t now_ns;
	uint64_t left_bytes;
	uint64_t most_bytes; /* that were ever left */
	uint64_t done_pm;  /* never falls: what others add is more to do, not less done */
	uint64_t rate_bps; /* 0 = not known yet */
	uint64_t samples;  /* taken, ever */
	struct progress_sample sample[PROGRESS_SAMPLES];
};

/* @left_bytes of this moment; @written_bytes, ever, by whoever writes. */
void progress_look(struct progress *progress, uint64_t left_bytes, uint64_t written_bytes,
		   uint64_t now_ns);

/* The time to go; where a rate is known. */
uint64_t progress_wait_ns(const struct progress *progress);

#endif
