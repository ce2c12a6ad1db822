/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the three uses of a shared word as base/order.h states them: counted words are exact
 * in total, a claim has one winner, a level is never read below zero.
 */
#include "unit.h"

#include <pthread.h>

#include "base/order.h"

#define THREADS 4
#define ROUNDS 50000

TEST(level_below_zero_reads_as_zero)
{
	uint64_t word = 5;

	assert_int_equal(word_level(&word), 5);
	assert_int_equal(word_add(&word, -(uint64_t)7), (uint64_t)-2);
	assert_int_equal(word_level(&word), 0);
	word_add(&word, 3);
	assert_int_equal(word_level(&word), 1);
	word_write(&word, INT64_MAX);
	assert_int_equal(word_level(&word), INT64_MAX);
	word_write(&word, (uint64_t)INT64_MAX + 1);
	assert_int_equal(word_level(&word), 0);
}

TEST(replace_needs_the_value_that_was_read)
{
	uint64_t word = 1;

	assert_false(word_replace(&word, 2, 3));
	assert_int_equal(word_read(&word), 1);
	assert_true(word_replace(&word, 1, 3));
	assert_int_equal(word_read_relaxed(&word), 3);
}

TEST(exchange_returns_what_was_there)
{
	uint64_t word = 1;

	assert_int_equal(word_exchange(&word, 9), 1);
	assert_int_equal(word_exchange(&word, 0), 9);
	word_bump_local(&word, 4);
	word_bump_local(&word, 4);
	assert_int_equal(word_read(&word), 8);
}

static uint64_t counted;
static uint64_t claims[ROUNDS];
static uint64_t winners;

static void *count_and_claim(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		word_add(&counted, 3);
		if (word_replace(&claims[i], 0, 1))
			word_add(&winners, 1);
	}
	return unused;
}

TEST(counts_are_exact_and_claims_have_one_winner)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_and_claim, NULL),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counted, 3 * THREADS * ROUNDS);
	assert_int_equal(winners, ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(level_below_zero_reads_as_zero),
		cmocka_unit_test(replace_needs_the_value_that_was_read),
		cmocka_unit_test(exchange_returns_what_was_there),
		cmocka_unit_test(counts_are_exact_and_claims_have_one_winner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
