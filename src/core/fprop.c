/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/fprop.h"

#include "base/fixed.h"
#include "base/order.h"

#define EVENT_MASK ((UINT64_C(1) << FPROP_EVENT_BITS) - 1)
#define PERIOD_MASK ((UINT64_C(1) << (64 - FPROP_EVENT_BITS)) - 1)
#define TRIES 4
#define SCALED_MAX (UINT64_MAX / FPROP_MAX_Q10) /* only damage is beyond */
#define AHEAD_PERIODS 64 /* minutes: longer than an addition is ever held up */

static uint64_t pack(uint64_t period, uint64_t events)
{
	return (period & PERIOD_MASK) << FPROP_EVENT_BITS | min_u64(events, EVENT_MASK);
}

/*
 * Periods since @word was aged. None where it is a little ahead: the caller read the domain's
 * period before others declared the next one and aged the word to it. A word without events may
 * be of any age.
 */
static uint64_t behind(uint64_t word, uint64_t period)
{
	uint64_t distance = (period - (word >> FPROP_EVENT_BITS)) & PERIOD_MASK;

	if (!(word & EVENT_MASK))
		return FPROP_EVENT_BITS;
	return distance > PERIOD_MASK - AHEAD_PERIODS ? 0 : distance;
}

/* The events of @word, halved once for each period since it was aged. */
static uint64_t aged(uint64_t word, uint64_t period)
{
	uint64_t periods = behind(word, period);

	return periods >= FPROP_EVENT_BITS ? 0 : (word & EVENT_MASK) >> periods;
}

/* Wait-free: the last try can not lose, but may add to events of an older period. */
static void add_word(uint64_t *word, uint64_t events, uint64_t period)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t old = word_read(word);
		uint64_t sum = aged(old, period) + events;
		uint64_t to = behind(old, period) ? period : old >> FPROP_EVENT_BITS;

		if (!behind(old, period) && sum <= EVENT_MASK)
			break;
		if (word_replace(word, old, pack(to, sum)))
			return;
	}
	word_add(word, events);
}

static void add_striped(struct fprop_count *count, uint64_t events, uint64_t period,
			unsigned stripe)
{
	add_word(&count->stripes[stripe % FPROP_STRIPES].word, events, period);
}

static uint64_t period_of(const struct fprop_domain *domain)
{
	return word_read(&domain->period);
}

void fprop_begin(struct fprop_domain *domain)
{
	word_replace(&domain->count.stripes[0].word, 0, pack(0, 1));
}

static uint64_t sum_at(const struct fprop_count *count, uint64_t period)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < FPROP_STRIPES; i++)
		sum += aged(word_read(&count->stripes[i].word), period);
	return sum;
}

uint64_t fprop_sum(const struct fprop_domain *domain, const struct fprop_count *count)
{
	return sum_at(count, period_of(domain));
}

bool fprop_new_periods(struct fprop_domain *domain, uint64_t seen, uint64_t periods)
{
	return fprop_sum(domain, &domain->count) > 1 &&
	       word_replace(&domain->period, seen, seen + periods);
}

void fprop_add(struct fprop_domain *domain, struct fprop_count *member, uint64_t events,
	       unsigned stripe)
{
	uint64_t period = period_of(domain);

	add_striped(member, events, period, stripe);
	add_striped(&domain->count, events, period, stripe);
}

uint64_t fprop_add_max(struct fprop_domain *domain, struct fprop_count *member,
		       uint64_t events, uint64_t max_q10, unsigned stripe)
{
	struct fprop_fraction share;
	uint64_t wanted, taken;

	if (max_q10 < FPROP_MAX_Q10) {
		share = fprop_share(domain, member);
		wanted = min_u64(share.denominator, SCALED_MAX) * max_q10;
		taken = min_u64(share.numerator, SCALED_MAX) * FPROP_MAX_Q10;
		if (wanted < taken)
			return 0;
		events = min_u64(events, (wanted - taken + FPROP_MAX_Q10 - max_q10 - 1) /
						 (FPROP_MAX_Q10 - max_q10));
	}
	fprop_add(domain, member, events, stripe);
	return events;
}

void fprop_add_single(struct fprop_domain *domain, uint64_t *member, uint64_t events,
		      unsigned stripe)
{
	uint64_t period = period_of(domain);

	add_word(member, events, period);
	add_striped(&domain->count, events, period, stripe);
}

static struct fprop_fraction fraction(uint64_t numerator, uint64_t denominator)
{
	struct fprop_fraction share = { .numerator = numerator,
					.denominator = denominator };

	/* K1.2: the two are read at different moments */
	if (share.denominator <= share.numerator)
		share.denominator = share.numerator ? share.numerator : 1;
	return share;
}

struct fprop_fraction fprop_share(const struct fprop_domain *domain,
				  const struct fprop_count *member)
{
	return fraction(fprop_sum(domain, member), fprop_sum(domain, &domain->count));
}

struct fprop_fraction fprop_share_single(const struct fprop_domain *domain,
					 const uint64_t *member)
{
	return fraction(aged(word_read(member), period_of(domain)),
			fprop_sum(domain, &domain->count));
}

/* Why one period for both: a mark of the next one would be twice what the count was. */
void fprop_mark(const struct fprop_domain *domain, const struct fprop_count *count,
		uint64_t less, uint64_t *mark)
{
	uint64_t period = period_of(domain);

	word_write(mark, pack(period, sub_u64(sum_at(count, period), less)));
}

struct fprop_since fprop_since(const struct fprop_domain *domain,
			       const struct fprop_count *count, const uint64_t *mark)
{
	uint64_t period = period_of(domain);
	struct fprop_since since = { .events = sum_at(count, period) };

	since.added = sub_u64(since.events, aged(word_read(mark), period));
	return since;
}
