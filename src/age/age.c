/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "age/age.h"

#include "base/order.h"
#include "core/fprop.h"

#define PERIOD_MIN_NS WP_MS(10) /* what is read below this is damage */

static uint64_t period_length_ns(const struct wp_segment *segment)
{
	uint64_t period_ns = word_read(&segment->header.period_ns);

	return period_ns >= PERIOD_MIN_NS ? period_ns : AGE_PERIOD_NS;
}

bool age_started(struct wp_segment *segment, uint64_t now_ns)
{
	if (word_read(&segment->header.period_end_ns))
		return false;
	fprop_begin(&segment->writeout);
	fprop_begin(&segment->dirtied);
	return word_replace(&segment->header.period_end_ns, 0,
			    now_ns + period_length_ns(segment));
}

/* Both domains, as seen before the claim. True when either has something left to age. */
static bool declare(struct wp_segment *segment, const uint64_t seen[2], uint64_t periods)
{
	bool writeout = fprop_new_periods(&segment->writeout, seen[0], periods);
	bool dirtied = fprop_new_periods(&segment->dirtied, seen[1], periods);

	return writeout || dirtied;
}

uint64_t age_step(struct wp_segment *segment, uint64_t now_ns)
{
	uint64_t *word = &segment->header.period_end_ns;
	uint64_t period_ns = period_length_ns(segment);
	uint64_t end_ns = word_read(word);
	uint64_t seen[2] = { word_read(&segment->writeout.period),
			     word_read(&segment->dirtied.period) };
	uint64_t periods;
	uint64_t next_ns;

	if (!end_ns || now_ns < end_ns)
		return end_ns;
	periods = (now_ns - end_ns) / period_ns + 1;
	next_ns = end_ns + periods * period_ns;
	if (!word_replace(word, end_ns, next_ns))
		return word_read(word);
	/* K1.3: nothing left, and the timer stays off until the next event. */
	if (!declare(segment, seen, periods)) {
		word_replace(word, next_ns, 0);
		return 0;
	}
	return next_ns;
}
