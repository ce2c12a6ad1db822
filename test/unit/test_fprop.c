/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the vectors of K1.2 worked out by hand, the definition of a share
 * (sum of x_ij / 2^(i+1)) in floating point, the promise of add_max as an inequality, and for
 * threads the plain sum of what each of them added.
 */
#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/order.h"
#include "core/fprop.h"

#define PERIOD_WRAP (UINT64_C(1) << (64 - FPROP_EVENT_BITS))

static struct fprop_domain domain;
static struct fprop_count first;
static struct fprop_count second;

/* A domain in which @first and @second have so many events; one more is nobody's. */
static void set_up(uint64_t first_events, uint64_t second_events)
{
	memset(&domain, 0, sizeof(domain));
	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	fprop_begin(&domain);
	fprop_add(&domain, &first, first_events, 0);
	fprop_add(&domain, &second, second_events, 1);
}

static void pass(uint64_t periods)
{
	assert_true(fprop_new_periods(&domain, domain.period, periods));
}

static void assert_share(struct fprop_fraction share, uint64_t numerator,
			 uint64_t denominator)
{
	assert_int_equal(share.numerator, numerator);
	assert_int_equal(share.denominator, denominator);
}

/* ------------------------------------------------------------------------- adding -- */

TEST(begins_at_one_event)
{
	set_up(0, 0);
	assert_int_equal(fprop_sum(&domain, &domain.count), 1);
	assert_share(fprop_share(&domain, &first), 0, 1);
}

TEST(begins_once)
{
	set_up(5, 0);
	pass(1);
	fprop_begin(&domain);
	assert_int_equal(fprop_sum(&domain, &domain.count), 3);
}

TEST(denominator_is_never_0)
{
	memset(&domain, 0, sizeof(domain));
	memset(&first, 0, sizeof(first));
	assert_share(fprop_share(&domain, &first), 0, 1);
}

TEST(first_to_complete_takes_almost_everything)
{
	set_up(1000, 0);
	assert_share(fprop_share(&domain, &first), 1000, 1001);
	assert_share(fprop_share(&domain, &second), 0, 1001);
	/* and from then on it is divided by what each completes */
	fprop_add(&domain, &second, 999, 2);
	assert_share(fprop_share(&domain, &first), 1000, 2000);
}

TEST(stripes_make_no_difference_to_the_sum)
{
	set_up(0, 0);
	for (unsigned stripe = 0; stripe < 3 * FPROP_STRIPES; stripe++)
		fprop_add(&domain, &first, 10, stripe);
	assert_int_equal(fprop_sum(&domain, &first), 30 * FPROP_STRIPES);
	assert_int_equal(fprop_sum(&domain, &domain.count), 30 * FPROP_STRIPES + 1);
	/* each of them got its part */
	for (unsigned stripe = 0; stripe < FPROP_STRIPES; stripe++)
		assert_int_equal(first.stripes[stripe].word, 30);
}

TEST(events_stop_at_44_bits)
{
	uint64_t most = (UINT64_C(1) << FPROP_EVENT_BITS) - 1;

	set_up(most - 5, 0);
	fprop_add(&domain, &first, 3, 0);
	assert_int_equal(fprop_sum(&domain, &first), most - 2);
	fprop_add(&domain, &first, 1000, 0);
	assert_int_equal(fprop_sum(&domain, &first), most);
	/* the period beside them is untouched */
	assert_int_equal(first.stripes[0].word >> FPROP_EVENT_BITS, 0);
}

/* ------------------------------------------------------------------------ add_max -- */

TEST(add_max_by_hand)
{
	/* K1.2: events of the member, of the domain, maximum, offered -> counted */
	static const uint64_t vectors[][5] = {
		{ 0, 1, 10, 64, 1 },
		{ 0, 1001, 10, 64, 10 },
		{ 5, 1001, 10, 64, 5 },
		{ 10, 1001, 10, 64, 0 },
		{ 0, 1, 512, 64, 1 },
		{ 100, 301, 512, 1000, 101 },
		/* no maximum, and room for all */
		{ 100, 301, 1024, 1000, 1000 },
		{ 100, 301, 512, 50, 50 },
		/* exactly there: nothing is lacking; one above: everything is dropped */
		{ 150, 300, 512, 64, 0 },
		{ 151, 300, 512, 64, 0 },
		{ 0, 301, 0, 64, 0 },
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const uint64_t *v = vectors[i];
		uint64_t counted;

		set_up(v[0], v[1] - 1 - v[0]);
		counted = fprop_add_max(&domain, &first, v[3], v[2], 3);
		if (counted != v[4])
			fail_msg("vector %zu: %llu events counted, not %llu", i,
				 (unsigned long long)counted, (unsigned long long)v[4]);
		/* what was dropped counts nowhere */
		assert_int_equal(fprop_sum(&domain, &first), v[0] + v[4]);
		assert_int_equal(fprop_sum(&domain, &domain.count), v[1] + v[4]);
	}
}

TEST(add_max_counts_just_enough)
{
	uint64_t seed = 1;

	for (int i = 0; i < 100000; i++) {
		uint64_t num = next_random(&seed) % 1000000;
		uint64_t others = next_random(&seed) % 1000000;
		uint64_t max_q10 = next_random(&seed) % FPROP_MAX_Q10;
		uint64_t offered = 1 + next_random(&seed) % 1000000;
		uint64_t den = num + others + 1;
		uint64_t counted;

		set_up(num, others);
		counted = fprop_add_max(&domain, &first, offered, max_q10, 0);
		assert_true(counted <= offered);
		/* one fewer would not have reached the maximum ... */
		if (counted)
			assert_true((num + counted - 1) * FPROP_MAX_Q10 <
				    (den + counted - 1) * max_q10);
		/* ... and when some were dropped it is reached */
		if (counted < offered)
			assert_true((num + counted) * FPROP_MAX_Q10 >=
				    (den + counted) * max_q10);
	}
}

TEST(add_max_of_huge_counts)
{
	uint64_t most = (UINT64_C(1) << FPROP_EVENT_BITS) - 1;

	/* den * max and offered * (1024 - max) exceed 64 bits */
	set_up(0, most);
	assert_int_equal(fprop_add_max(&domain, &first, UINT64_MAX >> 1, 512, 2),
			 most + 1);
}

/* Completions of 1000 against 100 of the other, ten a period: unlimited that were 0.909. */
static void assert_held_at(uint64_t max_q10)
{
	double highest = 0;
	double lowest = 1;

	set_up(0, 0);
	for (int i = 0; i < 1000; i++) {
		struct fprop_fraction share;
		double value;

		fprop_add_max(&domain, &first, 1000, max_q10, (unsigned)i);
		fprop_add(&domain, &second, 100, (unsigned)i);
		if (i % 10 == 9)
			pass(1);
		if (i < 100)
			continue;
		share = fprop_share(&domain, &first);
		value = (double)share.numerator / (double)share.denominator;
		highest = value > highest ? value : highest;
		lowest = value < lowest ? value : lowest;
	}
	/* The second's own 100 at the end of a round lower it until the next. */
	assert_true(highest <= (double)max_q10 / FPROP_MAX_Q10 + 0.005);
	assert_true(lowest >= (double)max_q10 / FPROP_MAX_Q10 * 0.85);
}

TEST(maximum_is_held_over_time)
{
	assert_held_at(51);
	assert_held_at(256);
	assert_held_at(512);
	assert_held_at(768);
}

/* -------------------------------------------------------------------------- aging -- */

TEST(a_period_halves)
{
	set_up(1000, 3000);
	pass(1);
	assert_int_equal(fprop_sum(&domain, &first), 500);
	assert_int_equal(fprop_sum(&domain, &second), 1500);
	/* the single event of the beginning, in the stripe of the first, rounds down */
	assert_share(fprop_share(&domain, &second), 1500, 2000);
}

static void assert_since(const uint64_t *mark, uint64_t events, uint64_t added)
{
	struct fprop_since since = fprop_since(&domain, &first, mark);

	assert_int_equal(since.events, events);
	assert_int_equal(since.added, added);
}

TEST(mark_ages_with_its_count)
{
	uint64_t mark = 0;

	set_up(1000, 0);
	/* nothing is marked: all of it was added since */
	assert_since(&mark, 1000, 1000);
	fprop_mark(&domain, &first, 0, &mark);
	assert_since(&mark, 1000, 0);
	fprop_add(&domain, &first, 300, 1);
	assert_since(&mark, 1300, 300);
	pass(1);
	assert_since(&mark, 650, 150);
	fprop_mark(&domain, &first, 50, &mark);
	assert_since(&mark, 650, 50);
	/* where nothing is added there never is more: stripes round down more often */
	fprop_mark(&domain, &first, 0, &mark);
	for (int i = 0; i < 8; i++) {
		pass(1);
		assert_int_equal(fprop_since(&domain, &first, &mark).added, 0);
	}
	/* damage */
	mark = UINT64_MAX;
	assert_int_equal(fprop_since(&domain, &first, &mark).added, 0);
}

TEST(several_periods_at_once)
{
	set_up(1000, 0);
	pass(3);
	assert_int_equal(fprop_sum(&domain, &first), 125);
	pass(2);
	/* 1000 >> 5, not (1000 >> 3) >> 2 of what was never stored */
	assert_int_equal(fprop_sum(&domain, &first), 31);
	fprop_add(&domain, &first, 1, 0);
	assert_int_equal(fprop_sum(&domain, &first), 32);
}

TEST(aging_waits_for_nobody)
{
	/* A member that was not touched for long is as old as one that was. */
	set_up(1 << 20, 1 << 20);
	for (int i = 0; i < 8; i++) {
		pass(1);
		fprop_add(&domain, &second, 0, 1);
	}
	assert_int_equal(fprop_sum(&domain, &first), 1 << 12);
	assert_int_equal(fprop_sum(&domain, &second), 1 << 12);
}

TEST(forgotten_after_44_periods)
{
	uint64_t most = (UINT64_C(1) << FPROP_EVENT_BITS) - 1;

	set_up(most, 0);
	pass(FPROP_EVENT_BITS - 1);
	assert_int_equal(fprop_sum(&domain, &first), 1);

	set_up(most, 0);
	pass(FPROP_EVENT_BITS);
	assert_int_equal(fprop_sum(&domain, &first), 0);
	assert_int_equal(fprop_sum(&domain, &domain.count), 0);
	assert_share(fprop_share(&domain, &first), 0, 1);

	set_up(most, 0);
	pass(1000);
	assert_int_equal(fprop_sum(&domain, &first), 0);
	/* and what comes then counts */
	fprop_add(&domain, &first, 7, 0);
	assert_share(fprop_share(&domain, &first), 7, 7);
}

/* Nothing has ever been counted, and so many periods have been declared. */
static void set_up_late(uint64_t period)
{
	set_up(0, 0);
	memset(&domain, 0, sizeof(domain));
	domain.period = period;
}

TEST(period_wraps_at_20_bits)
{
	set_up_late(PERIOD_WRAP - 3);
	fprop_add(&domain, &first, 1 << 20, 0);
	for (int i = 1; i < 10; i++) {
		pass(1);
		assert_int_equal(fprop_sum(&domain, &first), 1 << (20 - i));
	}
	assert_int_equal(domain.period, PERIOD_WRAP + 6);

	/* stored on one side, added to on the other */
	set_up_late(5 * PERIOD_WRAP - 1);
	fprop_add(&domain, &first, 1000, 0);
	pass(2);
	fprop_add(&domain, &first, 50, 0);
	assert_int_equal(fprop_sum(&domain, &first), 300);
	pass(1);
	assert_int_equal(fprop_sum(&domain, &first), 150);
}

TEST(nothing_left_declares_nothing)
{
	set_up(0, 0);
	assert_false(fprop_new_periods(&domain, 0, 1));
	assert_int_equal(domain.period, 0);

	set_up(1, 0);
	assert_true(fprop_new_periods(&domain, 0, 1));
	assert_int_equal(fprop_sum(&domain, &domain.count), 1);
	assert_false(fprop_new_periods(&domain, 1, 1));
	assert_int_equal(domain.period, 1);
}

TEST(stale_view_declares_nothing)
{
	set_up(1000, 0);
	pass(1);
	assert_false(fprop_new_periods(&domain, 0, 1));
	assert_false(fprop_new_periods(&domain, 2, 1));
	assert_int_equal(domain.period, 1);
	assert_int_equal(fprop_sum(&domain, &first), 500);
}

/* ------------------------------------------------------------------- many members -- */

#define MEMBERS 50

static struct fprop_count members[MEMBERS];
static double ideal[MEMBERS];

static void assert_sums_agree(void)
{
	uint64_t whole = fprop_sum(&domain, &domain.count);
	uint64_t sum = 0;

	for (int i = 0; i < MEMBERS; i++)
		sum += fprop_sum(&domain, &members[i]);
	/* Each stripe lost less than one event at its last halving, half of less than one at that
	 * before, and so on: two in all. */
	assert_true(sum <= whole + 2 * FPROP_STRIPES);
	assert_true(whole <= sum + 2 * FPROP_STRIPES * MEMBERS + 1);
}

static void assert_shares_are_ideal(void)
{
	double whole = 0;
	double sum = 0;

	for (int i = 0; i < MEMBERS; i++)
		whole += ideal[i];
	for (int i = 0; i < MEMBERS; i++) {
		struct fprop_fraction share = fprop_share(&domain, &members[i]);
		double value = (double)share.numerator / (double)share.denominator;

		assert_true(share.denominator > 0);
		assert_true(share.numerator <= share.denominator);
		assert_true(fabs(value - ideal[i] / whole) < 0.001);
		sum += value;
	}
	assert_true(fabs(sum - 1) < 0.001);
}

TEST(shares_follow_the_definition)
{
	uint64_t seed = 7;

	set_up(0, 0);
	memset(members, 0, sizeof(members));
	memset(ideal, 0, sizeof(ideal));
	for (int period = 0; period < 300; period++) {
		uint64_t periods = next_random(&seed) % 20 ? 1 : 3;

		/* most are busy in turns only */
		for (int i = 0; i < 200; i++) {
			uint64_t draw = next_random(&seed);
			unsigned j = (unsigned)(draw % MEMBERS);
			uint64_t events = (draw >> 20) % 100000;

			if ((period / 8 + (int)j) % 5 == 0)
				events *= 20;
			fprop_add(&domain, &members[j], events, (unsigned)(draw >> 50));
			ideal[j] += (double)events;
		}
		assert_sums_agree();
		assert_shares_are_ideal();
		pass(periods);
		for (int i = 0; i < MEMBERS; i++)
			ideal[i] = ldexp(ideal[i], -(int)periods);
	}
}

/* ----------------------------------------------------------------- single variant -- */

TEST(single_counts_and_ages_like_the_striped)
{
	uint64_t single = 0;
	uint64_t seed = 3;

	set_up(0, 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t events = next_random(&seed) % 100000;
		struct fprop_fraction share;

		fprop_add_single(&domain, &single, events, (unsigned)i);
		fprop_add(&domain, &first, events, 0); /* one stripe: rounds the same */
		share = fprop_share_single(&domain, &single);
		assert_int_equal(share.numerator, fprop_sum(&domain, &first));
		assert_int_equal(share.denominator, fprop_sum(&domain, &domain.count));
		if (i % 7 == 0)
			pass(1 + next_random(&seed) % 3);
	}
}

TEST(single_by_hand)
{
	uint64_t single = 0;

	set_up(0, 0);
	fprop_add_single(&domain, &single, 300, 1);
	assert_share(fprop_share_single(&domain, &single), 300, 301);
	pass(2);
	assert_share(fprop_share_single(&domain, &single), 75, 75);
}

/* ------------------------------------------------------------------------ threads -- */

#define ROUNDS 300000

struct adder {
	pthread_t thread;
	struct fprop_count *member;
	uint64_t *single;
	unsigned stripe;
};

static void *add_many(void *arg)
{
	struct adder *adder = arg;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		if (adder->single)
			fprop_add_single(&domain, adder->single, 1 + i % 3,
					 adder->stripe);
		else
			fprop_add(&domain, adder->member, 1 + i % 3, adder->stripe);
	}
	return NULL;
}

static void start(struct adder *adder, void *(*run)(void *))
{
	if (pthread_create(&adder->thread, NULL, run, adder))
		fail_msg("no thread");
}

static void add_from_two(struct adder adders[2])
{
	set_up(0, 0);
	start(&adders[0], add_many);
	start(&adders[1], add_many);
	pthread_join(adders[0].thread, NULL);
	pthread_join(adders[1].thread, NULL);
	/* 1 + 2 + 3 each third time */
	assert_int_equal(fprop_sum(&domain, &domain.count), 2 * UINT64_C(2) * ROUNDS + 1);
}

TEST(two_threads_lose_nothing)
{
	struct adder same[2] = { { .member = &first }, { .member = &first } };
	struct adder stripes[2] = { { .member = &first },
				    { .member = &first, .stripe = 1 } };
	struct adder apart[2] = { { .member = &first },
				  { .member = &second, .stripe = 1 } };
	uint64_t singles[2] = { 0, 0 };
	struct adder single[2] = { { .single = &singles[0] }, { .single = &singles[1] } };

	add_from_two(same);
	assert_int_equal(fprop_sum(&domain, &first), 4 * ROUNDS);
	add_from_two(stripes);
	assert_int_equal(fprop_sum(&domain, &first), 4 * ROUNDS);
	add_from_two(apart);
	assert_int_equal(fprop_sum(&domain, &first), 2 * ROUNDS);
	assert_int_equal(fprop_sum(&domain, &second), 2 * ROUNDS);
	add_from_two(single);
	assert_int_equal(singles[0], 2 * ROUNDS);
}

#define OLD_EVENTS (UINT64_C(1) << 43)
#define OLD_PERIODS 12

static uint64_t go;

/* Ones only: beside the old events they are nothing. */
static void *add_ones(void *arg)
{
	struct adder *adder = arg;

	while (word_read(&go))
		fprop_add(&domain, adder->member, 1, adder->stripe);
	return NULL;
}

/*
 * Whoever adds while a period is being declared knows the one before, perhaps for long, and may
 * err by a halving of what it adds. What others counted it must leave alone.
 */
TEST(period_declared_beside_an_add_takes_nothing_but_its_half)
{
	for (int round = 0; round < 8000; round++) {
		struct adder adder = { .member = &first };
		uint64_t left = OLD_EVENTS >> OLD_PERIODS;

		set_up(0, 0);
		fprop_add(&domain, &first, OLD_EVENTS, 0);
		word_write(&go, 1);
		start(&adder, add_ones);
		for (int i = 0; i < OLD_PERIODS; i++) {
			pass(1);
			for (int j = 0; j < 50; j++)
				fprop_add(&domain, &first, 1, 0);
		}
		word_write(&go, 0);
		pthread_join(adder.thread, NULL);
		if (fprop_sum(&domain, &first) < left)
			fail_msg("round %d: %llu events left, not %llu", round,
				 (unsigned long long)fprop_sum(&domain, &first),
				 (unsigned long long)left);
	}
}

/* The same for who only looks. */
static uint64_t looks;

static void *look_often(void *arg)
{
	uint64_t *least = arg;

	while (word_read(&go)) {
		struct fprop_fraction share = fprop_share(&domain, &second);

		*least = min_u64(*least, share.numerator * 1000 / share.denominator);
		word_add(&looks, 1);
	}
	return NULL;
}

/* A look that takes longer than a few periods, a minute in truth, may see what it likes. */
static void wait_for_a_look(void)
{
	uint64_t after = word_read(&looks) + 2;

	while (word_read(&looks) < after)
		sched_yield();
}

TEST(share_seen_while_a_period_is_declared_is_no_wild_one)
{
	uint64_t least = 1000;
	pthread_t thread;

	/* Both have from OLD_EVENTS / 8 to twice that, so whatever moments are mixed, a share is a
	 * quarter or more. */
	set_up(OLD_EVENTS / 4, OLD_EVENTS / 4);
	word_write(&go, 1);
	if (pthread_create(&thread, NULL, look_often, &least))
		fail_msg("no thread");
	for (int i = 0; i < 200000; i++) {
		if (i % 8 == 0)
			wait_for_a_look();
		pass(1);
		fprop_add(&domain, &first, OLD_EVENTS / 8, 0);
		fprop_add(&domain, &second, OLD_EVENTS / 8, 1);
	}
	word_write(&go, 0);
	pthread_join(thread, NULL);
	if (least < 245)
		fail_msg("a share of %llu/1000 was seen", (unsigned long long)least);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_at_one_event),
		cmocka_unit_test(begins_once),
		cmocka_unit_test(denominator_is_never_0),
		cmocka_unit_test(first_to_complete_takes_almost_everything),
		cmocka_unit_test(stripes_make_no_difference_to_the_sum),
		cmocka_unit_test(events_stop_at_44_bits),
		cmocka_unit_test(add_max_by_hand),
		cmocka_unit_test(add_max_counts_just_enough),
		cmocka_unit_test(add_max_of_huge_counts),
		cmocka_unit_test(maximum_is_held_over_time),
		cmocka_unit_test(a_period_halves),
		cmocka_unit_test(mark_ages_with_its_count),
		cmocka_unit_test(several_periods_at_once),
		cmocka_unit_test(aging_waits_for_nobody),
		cmocka_unit_test(forgotten_after_44_periods),
		cmocka_unit_test(period_wraps_at_20_bits),
		cmocka_unit_test(nothing_left_declares_nothing),
		cmocka_unit_test(stale_view_declares_nothing),
		cmocka_unit_test(shares_follow_the_definition),
		cmocka_unit_test(single_counts_and_ages_like_the_striped),
		cmocka_unit_test(single_by_hand),
		cmocka_unit_test(two_threads_lose_nothing),
		cmocka_unit_test(
			period_declared_beside_an_add_takes_nothing_but_its_half),
		cmocka_unit_test(share_seen_while_a_period_is_declared_is_no_wild_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
