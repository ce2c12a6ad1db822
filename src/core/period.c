/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/period.h"

#include "base/fixed.h"

/* The word: evidence (20 bits) | noise (20) | calm (8) | level (8) */
#define LEVEL_BITS 8
#define CALM_BITS 8
#define NOISE_BITS 20
#define EVIDENCE_BITS 20

#define RISE 16u /* samples */
#define FALL 64u
#define CALM_PERIODS 4u
#define CALM_LEAST 4u
#define CALM_MOST 255u

static uint64_t take_bits(uint64_t *word, unsigned bits, uint64_t most)
{
	uint64_t value = *word & ((UINT64_C(1) << bits) - 1);

	*word >>= bits;
	return min_u64(value, most);
}

struct period period_of_word(uint64_t word)
{
	struct period period;

	period.level = take_bits(&word, LEVEL_BITS, PERIOD_LEVELS - 1);
	period.calm = take_bits(&word, CALM_BITS, CALM_MOST);
	period.noise = take_bits(&word, NOISE_BITS, PERIOD_ONE);
	period.evidence = take_bits(&word, EVIDENCE_BITS, 4 * PERIOD_ONE);
	return period;
}

uint64_t period_word(const struct period *period)
{
	uint64_t word = period->evidence;

	word = word << NOISE_BITS | period->noise;
	word = word << CALM_BITS | period->calm;
	return word << LEVEL_BITS | period->level;
}

uint64_t period_span_ns(const struct period *period)
{
	return PERIOD_SHORTEST_NS << period->level;
}

uint64_t period_difference(uint64_t recent, uint64_t all_recent, uint64_t events,
			   uint64_t all_events)
{
	uint64_t one = mul_div(min_u64(recent, all_recent), PERIOD_ONE, all_recent);
	uint64_t other = mul_div(min_u64(events, all_events), PERIOD_ONE, all_events);

	return max_u64(one, other) - min_u64(one, other);
}

/* Why bounded: a change is no noise. Even so it doubles within a dozen of samples. */
static uint64_t next_noise(uint64_t noise, uint64_t deviation)
{
	if (deviation < noise)
		return noise - (noise - deviation + FALL - 1) / FALL;
	deviation = min_u64(deviation, min_u64(4 * noise + PERIOD_ONE / 32, PERIOD_ONE));
	return noise + (deviation - noise + RISE - 1) / RISE;
}

static uint64_t next_evidence(const struct period *period, uint64_t deviation)
{
	uint64_t expected = period->noise * 3 / 2 + PERIOD_ONE / 64;

	return min_u64(sub_u64(period->evidence + deviation, expected), 4 * PERIOD_ONE);
}

static bool is_change(const struct period *period)
{
	return period->evidence > 3 * period->noise + PERIOD_ONE / 4;
}

static bool is_calm(const struct period *period)
{
	uint64_t needed = CALM_PERIODS * period_span_ns(period) / PERIOD_SAMPLE_NS;

	return !period->evidence && period->calm >= max_u64(needed, CALM_LEAST);
}

/* The shortest at once. Returns the running period and one for each step. */
static unsigned shorten(struct period *period)
{
	unsigned steps = (unsigned)period->level;

	period->level = 0;
	period->calm = 0;
	period->evidence = 0;
	return steps ? steps + 1 : 0;
}

static void lengthen(struct period *period)
{
	if (period->level + 1 >= PERIOD_LEVELS)
		return;
	period->level++;
	period->calm = 0;
}

unsigned period_step(struct period *period, uint64_t deviation)
{
	bool change;

	deviation = min_u64(deviation, PERIOD_ONE);
	period->evidence = next_evidence(period, deviation);
	change = is_change(period);
	period->noise = next_noise(period->noise, deviation);
	period->calm = min_u64(period->calm + 1, CALM_MOST);
	if (change)
		return shorten(period);
	if (is_calm(period))
		lengthen(period);
	return 0;
}
