/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: quotients worked out by hand, some of them beyond 64 bits before the division.
 */
#include "unit.h"

#include "base/fixed.h"

TEST(mul_div_keeps_products_beyond_64_bits)
{
	assert_int_equal(mul_div(UINT64_C(1) << 40, UINT64_C(1) << 40, UINT64_C(1) << 50),
			 UINT64_C(1) << 30);
	assert_int_equal(mul_div(UINT64_MAX, 1000, 1000), UINT64_MAX);
	assert_int_equal(mul_div(7, 3, 2), 10);
}

TEST(mul_div_stays_at_the_largest_where_it_does_not_fit)
{
	assert_int_equal(mul_div(UINT64_MAX, 2, 1), UINT64_MAX);
	assert_int_equal(mul_div(UINT64_C(1) << 32, UINT64_C(1) << 32, 1), UINT64_MAX);
	assert_int_equal(mul_div(UINT64_C(1) << 32, UINT64_C(1) << 31, 1), UINT64_C(1)
										   << 63);
}

TEST(division_by_zero_counts_as_by_one)
{
	assert_int_equal(mul_div(6, 7, 0), 42);
	assert_int_equal(bytes_to_ns(2, 0), WP_SEC(2));
	assert_int_equal(rate_of(3, 0), 3000000000);
}

TEST(bytes_time_and_rate_agree)
{
	assert_int_equal(bytes_to_ns(WP_KIB(64), WP_MIB(10)), 6250000);
	assert_int_equal(ns_to_bytes(WP_MS(100), WP_MIB(10)), WP_MIB(1));
	assert_int_equal(rate_of(WP_MIB(1), WP_MS(100)), WP_MIB(10));
	/* a year at 10 GB/s does not overflow on the way */
	assert_int_equal(ns_to_bytes(WP_SEC(31536000), 10000000000),
			 UINT64_C(315360000000000000));
}

TEST(ilog2_rounds_down)
{
	assert_int_equal(ilog2(0), 0);
	assert_int_equal(ilog2(1), 0);
	assert_int_equal(ilog2(2), 1);
	assert_int_equal(ilog2(3), 1);
	assert_int_equal(ilog2(4), 2);
	assert_int_equal(ilog2(UINT64_C(1) << 63), 63);
	assert_int_equal(ilog2(UINT64_MAX), 63);
}

TEST(pow2_floor_is_no_larger_than_its_argument)
{
	assert_int_equal(pow2_floor(0), 1);
	assert_int_equal(pow2_floor(1), 1);
	assert_int_equal(pow2_floor(3), 2);
	assert_int_equal(pow2_floor(4), 4);
	assert_int_equal(pow2_floor(UINT64_MAX), UINT64_C(1) << 63);
}

TEST(low_bound_wins_where_bounds_contradict)
{
	assert_int_equal(clamp_u64(5, 1, 9), 5);
	assert_int_equal(clamp_u64(0, 1, 9), 1);
	assert_int_equal(clamp_u64(10, 1, 9), 9);
	assert_int_equal(clamp_u64(5, 9, 1), 9);
}

TEST(subtraction_stops_at_zero)
{
	assert_int_equal(sub_u64(3, 2), 1);
	assert_int_equal(sub_u64(2, 3), 0);
	assert_int_equal(sub_u64(0, UINT64_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mul_div_keeps_products_beyond_64_bits),
		cmocka_unit_test(mul_div_stays_at_the_largest_where_it_does_not_fit),
		cmocka_unit_test(division_by_zero_counts_as_by_one),
		cmocka_unit_test(bytes_time_and_rate_agree),
		cmocka_unit_test(ilog2_rounds_down),
		cmocka_unit_test(pow2_floor_is_no_larger_than_its_argument),
		cmocka_unit_test(low_bound_wins_where_bounds_contradict),
		cmocka_unit_test(subtraction_stops_at_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
