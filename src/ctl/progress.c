/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/progress.h"

#include "base/fixed.h"

#define RATE_LEAST_NS WP_MS(600)
#define RATE_LEAST_BYTES WP_MIB(2)

static struct progress_sample *sample_at(struct progress *progress, uint64_t number)
{
	return &progress->sample[number % PROGRESS_SAMPLES];
}

/*
 * Why only where something completed: one request may be of megabytes, and what is between two
 * completions tells nothing of the rate.
 */
static void measure(struct progress *progress, uint64_t written_bytes, uint64_t now_ns)
{
	uint64_t last = progress->samples - 1;
	uint64_t first;
	uint64_t span_ns;
	uint64_t bytes;

	if (progress->samples &&
	    written_bytes <= sample_at(progress, last)->written_bytes)
		return;
	last = progress->samples++;
	*sample_at(progress, last) = (struct progress_sample){ now_ns, written_bytes };
	first = sub_u64(progress->samples, PROGRESS_SAMPLES);
	span_ns = now_ns - sample_at(progress, first)->ns;
	bytes = written_bytes - sample_at(progress, first)->written_bytes;
	if (span_ns >= RATE_LEAST_NS && (bytes >= RATE_LEAST_BYTES || progress->rate_bps))
		progress->rate_bps = rate_of(bytes, span_ns);
}

void progress_look(struct progress *progress, uint64_t left_bytes, uint64_t written_bytes,
		   uint64_t now_ns)
{
	progress->now_ns = now_ns;
	progress->left_bytes = left_bytes;
	progress->most_bytes = max_u64(progress->most_bytes, left_bytes);
	measure(progress, written_bytes, now_ns);
	if (progress->most_bytes)
		progress->done_pm =
			max_u64(progress->done_pm,
				1000 - mul_div(left_bytes, 1000, progress->most_bytes));
}

uint64_t progress_wait_ns(const struct progress *progress)
{
	const struct progress_sample *last =
		&progress->sample[(progress->samples - 1) % PROGRESS_SAMPLES];

	return sub_u64(bytes_to_ns(progress->left_bytes, progress->rate_bps),
		       progress->now_ns - last->ns);
}
