/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the filter's published behaviour in the kernel (K4.2: steps of 200 ms, P of 4096 ms),
 * and steps worked out by hand. Both filters know time only as a fraction of P, so ours, with
 * P of 3 s, must go through the same values in steps of 200 * 3000 / 4096 ms.
 */
#include "unit.h"

#include "base/fixed.h"
#include "core/bandwidth.h"

#define KERNEL_STEP_NS UINT64_C(146484375) /* 200 ms * 3000 / 4096, exact */
#define STEPS_PER_SECOND 5

static void run(struct bandwidth *bandwidth, uint64_t rate_bps, int steps)
{
	for (int i = 0; i < steps; i++)
		bandwidth_step(bandwidth, ns_to_bytes(KERNEL_STEP_NS, rate_bps),
			       KERNEL_STEP_NS);
}

/* avg in thousandths of @unit_bps. */
static uint64_t per_mille(const struct bandwidth *bandwidth, uint64_t unit_bps)
{
	return mul_div(bandwidth->avg_bps, 1000, unit_bps);
}

TEST(a_tenth_of_the_speed_is_followed_as_published)
{
	struct bandwidth bandwidth = { .last_bps = 100000000, .avg_bps = 100000000 };

	run(&bandwidth, 10000000, 2 * STEPS_PER_SECOND);
	assert_near(per_mille(&bandwidth, 100000000), 840, 5);
	run(&bandwidth, 10000000, 2 * STEPS_PER_SECOND);
	assert_near(per_mille(&bandwidth, 100000000), 600, 5);
	run(&bandwidth, 10000000, 4 * STEPS_PER_SECOND);
	assert_near(per_mille(&bandwidth, 100000000), 300, 5);
	run(&bandwidth, 10000000, 8 * STEPS_PER_SECOND);
	assert_near(per_mille(&bandwidth, 100000000), 130, 5);
}

TEST(ten_times_the_speed_is_followed_as_published)
{
	struct bandwidth bandwidth = { .last_bps = 10000000, .avg_bps = 10000000 };

	run(&bandwidth, 100000000, 4 * STEPS_PER_SECOND);
	assert_near(per_mille(&bandwidth, 100000000), 500, 5);
	run(&bandwidth, 100000000, 4 * STEPS_PER_SECOND);
	assert_near(per_mille(&bandwidth, 100000000), 800, 5);
}

TEST(first_value_is_the_plain_average)
{
	struct bandwidth bandwidth = { 0 };

	bandwidth_step(&bandwidth, WP_MIB(5), WP_MS(500));
	assert_int_equal(bandwidth.avg_bps, WP_MIB(10));
	assert_int_equal(bandwidth.last_bps, WP_MIB(10));
}

TEST(one_step_by_hand)
{
	struct bandwidth bandwidth = { .last_bps = 90000000, .avg_bps = 90000000 };

	/* 30000000 / 3 s + 90000000 * 2.7 / 3 = 91000000; avg was no further off: it stays */
	bandwidth_step(&bandwidth, 30000000, WP_MS(300));
	assert_int_equal(bandwidth.last_bps, 91000000);
	assert_int_equal(bandwidth.avg_bps, 90000000);
	/* 10000000 + 91000000 * 0.9 = 91900000; avg takes an eighth of 91000000 - 90000000 */
	bandwidth_step(&bandwidth, 30000000, WP_MS(300));
	assert_int_equal(bandwidth.last_bps, 91900000);
	assert_int_equal(bandwidth.avg_bps, 90125000);
}

TEST(average_moves_only_with_a_confirmed_trend)
{
	struct bandwidth low = { .last_bps = 80000000, .avg_bps = 50000000 };
	struct bandwidth high = { .last_bps = 20000000, .avg_bps = 50000000 };

	/* the last value is above the average, but falling */
	bandwidth_step(&low, 0, WP_MS(200));
	assert_true(low.last_bps < 80000000);
	assert_int_equal(low.avg_bps, 50000000);
	/* and the other way round */
	bandwidth_step(&high, 100000000, WP_MS(200));
	assert_true(high.last_bps > 20000000);
	assert_int_equal(high.avg_bps, 50000000);
}

TEST(longer_than_the_period_is_a_new_beginning)
{
	struct bandwidth bandwidth = { .last_bps = 90000000, .avg_bps = 90000000 };

	bandwidth_step(&bandwidth, 40000000, WP_SEC(4));
	assert_int_equal(bandwidth.last_bps, 10000000);
	assert_int_equal(bandwidth.avg_bps, 10000000);
}

TEST(no_time_is_no_sample)
{
	struct bandwidth bandwidth = { .last_bps = 3, .avg_bps = 7 };

	bandwidth_step(&bandwidth, WP_GIB(1), 0);
	assert_int_equal(bandwidth.last_bps, 3);
	assert_int_equal(bandwidth.avg_bps, 7);
}

TEST(a_known_bandwidth_is_never_zero)
{
	struct bandwidth bandwidth = { .last_bps = 1, .avg_bps = 1 };

	for (int i = 0; i < 100; i++)
		bandwidth_step(&bandwidth, 0, WP_MS(200));
	assert_int_equal(bandwidth.avg_bps, 1);
	bandwidth_step(&bandwidth, 0, WP_SEC(10));
	assert_int_equal(bandwidth.avg_bps, 1);
}

TEST(unknown_is_assumed_to_do_100_mib)
{
	struct bandwidth bandwidth = { .last_bps = 5 };

	assert_int_equal(bandwidth_assumed_bps(&bandwidth), 104857600);
	assert_int_equal(bandwidth_likely_bps(&bandwidth), 5);
	bandwidth.last_bps = 0;
	assert_int_equal(bandwidth_likely_bps(&bandwidth), 104857600);
	bandwidth.last_bps = 7;
	assert_int_equal(bandwidth_assumed_bps(&bandwidth), 104857600);
	assert_int_equal(bandwidth_likely_bps(&bandwidth), 7);
	bandwidth.avg_bps = 6;
	assert_int_equal(bandwidth_assumed_bps(&bandwidth), 6);
}

TEST(hint_needs_25_ms_and_leaves_the_bandwidth_unknown)
{
	struct bandwidth bandwidth = { 0 };

	bandwidth_hint(&bandwidth, WP_MIB(1), WP_MS(24));
	assert_int_equal(bandwidth.last_bps, 0);
	bandwidth_hint(&bandwidth, 250000, WP_MS(25));
	assert_int_equal(bandwidth.last_bps, 10000000);
	assert_int_equal(bandwidth.avg_bps, 0);
}

TEST(raise_lifts_both_and_never_lowers)
{
	struct bandwidth bandwidth = { .last_bps = 10, .avg_bps = 30 };

	bandwidth_raise(&bandwidth, 20);
	assert_int_equal(bandwidth.last_bps, 20);
	assert_int_equal(bandwidth.avg_bps, 30);
	bandwidth_raise(&bandwidth, 40);
	assert_int_equal(bandwidth.last_bps, 40);
	assert_int_equal(bandwidth.avg_bps, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tenth_of_the_speed_is_followed_as_published),
		cmocka_unit_test(ten_times_the_speed_is_followed_as_published),
		cmocka_unit_test(first_value_is_the_plain_average),
		cmocka_unit_test(one_step_by_hand),
		cmocka_unit_test(average_moves_only_with_a_confirmed_trend),
		cmocka_unit_test(longer_than_the_period_is_a_new_beginning),
		cmocka_unit_test(no_time_is_no_sample),
		cmocka_unit_test(a_known_bandwidth_is_never_zero),
		cmocka_unit_test(unknown_is_assumed_to_do_100_mib),
		cmocka_unit_test(hint_needs_25_ms_and_leaves_the_bandwidth_unknown),
		cmocka_unit_test(raise_lifts_both_and_never_lowers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
