/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: design section 6 for one device, in numbers worked out by hand.
 */
#include "unit.h"

#include "core/limits.h"

static struct limits_view known(uint64_t bandwidth_bps)
{
	return (struct limits_view){
		.bandwidth_bps = bandwidth_bps,
		.newcomer_bytes = WP_MIB(4),
		.drain_ns = WP_SEC(1),
	};
}

TEST(limit_is_what_the_device_writes_in_the_drain_target)
{
	struct limits_view view = known(WP_MIB(10));

	assert_int_equal(limits_device_bytes(&view), WP_MIB(10));
	view.drain_ns = WP_MS(500);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(5));
}

TEST(newcomer_has_a_limit_of_its_own)
{
	struct limits_view view = known(0);

	assert_int_equal(limits_device_bytes(&view), WP_MIB(4));
}

TEST(each_ceiling_counts)
{
	struct limits_view view = known(WP_MIB(100));

	view.kernel_bytes = WP_MIB(40);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(40));
	view.ceiling_bytes = WP_MIB(30);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(30));
	view.rate_bps = WP_MIB(20);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(20));
	view.bandwidth_bps = 0;
	view.rate_bps = WP_MIB(2);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(2));
}

TEST(there_is_always_room_for_ten_pieces)
{
	struct limits_view view = known(1);

	assert_int_equal(limits_device_bytes(&view), WP_KIB(640));
	view.ceiling_bytes = 1;
	view.kernel_bytes = 1;
	view.rate_bps = 1;
	assert_int_equal(limits_device_bytes(&view), WP_KIB(640));
}

TEST(kernel_line_is_half_of_its_freerun)
{
	assert_int_equal(limits_kernel_bytes(4000, 2000), 1500);
	assert_int_equal(limits_kernel_bytes(0, 0), 0);
	assert_int_equal(limits_kernel_bytes(UINT64_MAX, UINT64_MAX), UINT64_MAX / 2 - 1);
}

TEST(newcomer_doubles_when_it_swallows_nine_tenths)
{
	assert_int_equal(limits_newcomer_bytes(1000, 899), 1000);
	assert_int_equal(limits_newcomer_bytes(1000, 900), 2000);
	assert_int_equal(limits_newcomer_bytes(1000, 0), 1000);
}

TEST(wall_rises_at_once)
{
	assert_int_equal(limits_wall_bytes(0, 100, 0), 100);
	assert_int_equal(limits_wall_bytes(50, 100, 400), 100);
	assert_int_equal(limits_wall_bytes(100, 100, 400), 100);
}

TEST(wall_falls_by_a_32nd_of_the_distance)
{
	assert_int_equal(limits_wall_bytes(4200, 1000, 0), 4100);
	assert_int_equal(limits_wall_bytes(4200, 1000, 1000), 4100);
}

TEST(wall_does_not_fall_below_what_is_outstanding)
{
	uint64_t wall_bytes = 42000;

	assert_int_equal(limits_wall_bytes(42000, 1000, 10000), 41000);
	assert_int_equal(limits_wall_bytes(42000, 1000, 42000), 42000);
	assert_int_equal(limits_wall_bytes(42000, 1000, 50000), 42000);
	for (int i = 0; i < 1000; i++)
		wall_bytes = limits_wall_bytes(wall_bytes, 1000, 10000);
	assert_near(wall_bytes, 10016, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit_is_what_the_device_writes_in_the_drain_target),
		cmocka_unit_test(newcomer_has_a_limit_of_its_own),
		cmocka_unit_test(each_ceiling_counts),
		cmocka_unit_test(there_is_always_room_for_ten_pieces),
		cmocka_unit_test(kernel_line_is_half_of_its_freerun),
		cmocka_unit_test(newcomer_doubles_when_it_swallows_nine_tenths),
		cmocka_unit_test(wall_rises_at_once),
		cmocka_unit_test(wall_falls_by_a_32nd_of_the_distance),
		cmocka_unit_test(wall_does_not_fall_below_what_is_outstanding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
