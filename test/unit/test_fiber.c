/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: a plain sort. Fibers that sleep until times of a shuffled list wake in order of the
 * times, each exactly once for each sleep, and on their own stacks.
 */
#include "unit.h"

#include "any/fiber.h"

#define COUNT 500
#define STEPS 8

struct sleeper {
	uint64_t times_ns[STEPS];
	unsigned woken;
};

static struct sleeper sleepers[COUNT];
static uint64_t last_ns;
static uint64_t clock_ns;

static void sleep_often(void *argument)
{
	struct sleeper *sleeper = argument;
	volatile char kept[4096];

	kept[0] = kept[sizeof(kept) - 1] = (char)(sleeper - sleepers);
	for (unsigned i = 0; i < STEPS; i++) {
		fiber_sleep_until(sleeper->times_ns[i]);
		assert_true(sleeper->times_ns[i] >= last_ns);
		assert_true(sleeper->times_ns[i] <= clock_ns);
		last_ns = sleeper->times_ns[i];
		sleeper->woken++;
		assert_int_equal(kept[0], (char)(sleeper - sleepers));
		assert_int_equal(kept[sizeof(kept) - 1], (char)(sleeper - sleepers));
	}
}

TEST(order)
{
	uint64_t seed = 88172645463325252u;

	for (unsigned i = 0; i < COUNT; i++) {
		uint64_t at_ns = 0;

		for (unsigned step = 0; step < STEPS; step++)
			sleepers[i].times_ns[step] = at_ns += next_random(&seed) % 1000;
		assert_true(fiber_start(sleep_often, &sleepers[i]));
	}
	for (clock_ns = 0; fiber_next_ns() != FIBER_NEVER; clock_ns++) {
		assert_true(fiber_next_ns() >= clock_ns);
		fiber_run_due(clock_ns);
	}
	for (unsigned i = 0; i < COUNT; i++)
		assert_int_equal(sleepers[i].woken, STEPS);
}

static unsigned ran;

static void run_once(void *argument)
{
	(void)argument;
	assert_true(fiber_inside());
	ran++;
}

/* One that ends without sleeping has run when it was started, and its stack serves the next one. */
TEST(no_sleep)
{
	for (unsigned i = 0; i < 100000; i++)
		assert_true(fiber_start(run_once, NULL));
	assert_int_equal(ran, 100000);
	assert_false(fiber_inside());
	assert_true(fiber_next_ns() == FIBER_NEVER);
}

static void sleep_long(void *argument)
{
	fiber_sleep_until(FIBER_NEVER - 1);
	++*(unsigned *)argument;
}

TEST(wake_all)
{
	unsigned woken = 0;
	unsigned started = 0;

	while (fiber_start(sleep_long, &woken))
		started++;
	/* there is an end to what may sleep */
	assert_true(started >= 1000 && started < 10000);
	fiber_wake_all();
	fiber_run_due(1);
	assert_int_equal(woken, started);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order),
		cmocka_unit_test(no_sleep),
		cmocka_unit_test(wake_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
