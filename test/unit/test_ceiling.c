/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracle: arithmetic. */
#include "unit.h"

#include "core/ceiling.h"

#define NOW WP_SEC(1000)

TEST(bytes_take_their_time)
{
	assert_int_equal(ceiling_clock_ns(NOW, NOW, 100000, 1000000), NOW + WP_MS(100));
	assert_int_equal(ceiling_clock_ns(NOW + WP_MS(70), NOW, 100000, 1000000),
			 NOW + WP_MS(170));
	assert_int_equal(ceiling_clock_ns(NOW, NOW, 0, 1000000), NOW);
}

TEST(unused_time_is_kept_for_20_ms)
{
	assert_int_equal(ceiling_clock_ns(NOW - WP_MS(15), NOW, 100000, 1000000),
			 NOW + WP_MS(85));
	assert_int_equal(ceiling_clock_ns(NOW - WP_SEC(15), NOW, 100000, 1000000),
			 NOW + WP_MS(80));
	assert_int_equal(ceiling_clock_ns(0, NOW, 100000, 1000000), NOW + WP_MS(80));
}

TEST(nobody_waits_for_more_than_ten_seconds)
{
	assert_int_equal(ceiling_clock_ns(UINT64_MAX, NOW, 1, 1), NOW + WP_SEC(10));
	assert_int_equal(ceiling_clock_ns(NOW, NOW, UINT64_MAX, 1), NOW + WP_SEC(10));
	assert_int_equal(ceiling_clock_ns(NOW, NOW, 1000, 0), NOW + WP_SEC(10));
}

TEST(looks_are_50_ms_apart_but_a_page_at_least)
{
	assert_int_equal(ceiling_poll_bytes(2000000), 100000);
	assert_int_equal(ceiling_poll_bytes(1), WP_PAGE_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_take_their_time),
		cmocka_unit_test(unused_time_is_kept_for_20_ms),
		cmocka_unit_test(nobody_waits_for_more_than_ten_seconds),
		cmocka_unit_test(looks_are_50_ms_apart_but_a_page_at_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
