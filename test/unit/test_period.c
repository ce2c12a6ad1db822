/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the law of core/period.h by hand, and what follows from it: steady noise of any size
 * ends at the longest period and stays there, a lasting change is found, every word is a state.
 */
#include "unit.h"

#include <stdlib.h>

#include "core/period.h"

#define LONGEST (PERIOD_LEVELS - 1)

/* Take @count samples of one deviation in; returns the periods declared. */
static unsigned steps(struct period *period, uint64_t deviation, unsigned count)
{
	unsigned declared = 0;

	for (unsigned i = 0; i < count; i++)
		declared += period_step(period, deviation);
	return declared;
}

/* From 0 to twice @half, evenly. */
static uint64_t noisy(uint64_t *seed, uint64_t half)
{
	return next_random(seed) % (2 * half + 1);
}

static struct period settled(uint64_t half, uint64_t *seed)
{
	struct period period = { 0 };

	for (int i = 0; i < 1000; i++)
		period_step(&period, noisy(seed, half));
	return period;
}

/* --------------------------------------------------------------------------- vectors -- */

TEST(difference_of_two_shares)
{
	assert_int_equal(period_difference(1, 2, 5, 10), 0);
	assert_int_equal(period_difference(1, 1, 0, 10), PERIOD_ONE);
	assert_int_equal(period_difference(0, 10, 7, 7), PERIOD_ONE);
	assert_int_equal(period_difference(3, 4, 1, 2), PERIOD_ONE / 4);
	/* nothing counted */
	assert_int_equal(period_difference(0, 0, 0, 0), 0);
	assert_int_equal(period_difference(0, 0, 1, 2), PERIOD_ONE / 2);
	/* what no counts can be */
	assert_int_equal(period_difference(UINT64_MAX, 1, 0, 0), PERIOD_ONE);
	assert_int_equal(period_difference(UINT64_MAX, UINT64_MAX, 0, 1), PERIOD_ONE);
}

TEST(word_keeps_the_state)
{
	struct period period = {
		.level = 3, .calm = 17, .noise = 1234, .evidence = 200000
	};
	struct period read = period_of_word(period_word(&period));

	assert_memory_equal(&read, &period, sizeof(read));
	read = period_of_word(0);
	assert_int_equal(period_span_ns(&read), WP_MS(500));
	period.level = LONGEST;
	assert_int_equal(period_span_ns(&period), PERIOD_LONGEST_NS);
}

/* Four samples, four, eight and sixteen: four periods of each, and at least four seconds. */
TEST(calm_lengthens_by_steps)
{
	static const unsigned samples[LONGEST] = { 4, 4, 8, 16 };
	struct period period = { 0 };

	for (unsigned level = 0; level < LONGEST; level++) {
		assert_int_equal(steps(&period, 0, samples[level] - 1), 0);
		assert_int_equal(period.level, level);
		assert_int_equal(period_step(&period, 0), 0);
		assert_int_equal(period.level, level + 1);
	}
	steps(&period, 0, 1000);
	assert_int_equal(period.level, LONGEST);
}

TEST(change_shortens_at_once)
{
	/* without noise: 0.9 - 1/64 is above a quarter */
	for (unsigned level = 0; level <= LONGEST; level++) {
		struct period period = { .level = level };

		assert_int_equal(period_step(&period, PERIOD_ONE * 9 / 10),
				 level ? level + 1 : 0);
		assert_int_equal(period.level, 0);
		assert_int_equal(period.calm, 0);
		assert_int_equal(period.evidence, 0);
	}
}

TEST(evidence_adds_up)
{
	struct period period = { .level = LONGEST };

	/* 3/16 - 1/64 = 11/64 of 16/64; noise is then 1/16 of 1/32 */
	assert_int_equal(period_step(&period, PERIOD_ONE * 3 / 16), 0);
	assert_int_equal(period.evidence, PERIOD_ONE * 11 / 64);
	assert_int_equal(period.noise, PERIOD_ONE / 512);
	assert_int_equal(period_step(&period, PERIOD_ONE * 3 / 16), LONGEST + 1);
}

TEST(one_sample_that_returns_is_no_change)
{
	struct period period = { .level = LONGEST };

	for (int i = 0; i < 100; i++) {
		assert_int_equal(period_step(&period, PERIOD_ONE / 4), 0);
		assert_int_equal(steps(&period, 0, 20), 0);
	}
	assert_int_equal(period.level, LONGEST);
}

TEST(no_lengthening_while_shares_differ)
{
	struct period period = { 0 };

	/* a load that never comes to rest: evidence is found again and again */
	for (int i = 0; i < 5; i++)
		assert_int_equal(period_step(&period, PERIOD_ONE), 0);
	assert_int_equal(period.level, 0);
}

/* ------------------------------------------------------------------------ properties -- */

TEST(noise_of_any_size_ends_at_the_longest)
{
	uint64_t seed = 77;

	for (uint64_t half = 1; half <= PERIOD_ONE / 2; half *= 2) {
		struct period period = settled(half, &seed);
		unsigned declared = 0;

		assert_int_equal(period.level, LONGEST);
		for (int i = 0; i < 20000; i++)
			declared += period_step(&period, noisy(&seed, half));
		assert_int_equal(declared, 0);
	}
}

TEST(change_seven_times_the_noise_is_found_within_five_samples)
{
	uint64_t seed = 78;

	for (uint64_t half = PERIOD_ONE / 256; half <= PERIOD_ONE / 8; half *= 2) {
		struct period period = settled(half, &seed);
		uint64_t deviation = max_u64(7 * half, PERIOD_ONE / 5);

		assert_int_equal(steps(&period, deviation, 5), LONGEST + 1);
	}
}

TEST(every_word_is_a_state_and_none_stays)
{
	uint64_t seed = 79;

	for (int i = 0; i < 20000; i++) {
		uint64_t word = next_random(&seed);
		struct period period = period_of_word(word >> (word >> 58));

		for (int j = 0; j < 10; j++) {
			assert_in_range(period_span_ns(&period), PERIOD_SHORTEST_NS,
					PERIOD_LONGEST_NS);
			assert_true(period_step(&period, next_random(&seed)) <=
				    PERIOD_LEVELS);
		}
		if (i % 100)
			continue;
		/* rest, and then a change: both are seen as if it had always been so */
		steps(&period, 0, 1000);
		assert_int_equal(period.level, LONGEST);
		assert_int_equal(period_step(&period, PERIOD_ONE * 9 / 10), LONGEST + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(difference_of_two_shares),
		cmocka_unit_test(word_keeps_the_state),
		cmocka_unit_test(calm_lengthens_by_steps),
		cmocka_unit_test(change_shortens_at_once),
		cmocka_unit_test(evidence_adds_up),
		cmocka_unit_test(one_sample_that_returns_is_no_change),
		cmocka_unit_test(no_lengthening_while_shares_differ),
		cmocka_unit_test(noise_of_any_size_ends_at_the_longest),
		cmocka_unit_test(
			change_seven_times_the_noise_is_found_within_five_samples),
		cmocka_unit_test(every_word_is_a_state_and_none_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
