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
		.global_bytes = WP_GIB(1),
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

TEST(newcomer_is_held_by_ceilings_too)
{
	struct limits_view view = known(0);

	view.newcomer_bytes = WP_MIB(64);
	view.global_bytes = WP_MIB(3);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(3));
}

TEST(global_limit_is_the_least_of_its_ceilings)
{
	assert_int_equal(limits_global_bytes(WP_SEC(1), WP_MIB(100), 0, 0, 0),
			 WP_MIB(100));
	assert_int_equal(limits_global_bytes(WP_SEC(1), WP_MIB(100), 0, WP_MIB(40), 1024),
			 WP_MIB(40));
	assert_int_equal(
		limits_global_bytes(WP_SEC(1), WP_MIB(100), WP_MIB(30), WP_MIB(40), 0),
		WP_MIB(30));
	/* half of it under pressure of a half */
	assert_int_equal(limits_global_bytes(WP_SEC(1), WP_MIB(100), 0, 0, 512),
			 WP_MIB(50));
	assert_int_equal(limits_global_bytes(WP_SEC(1), 1, 1, 1, 1), WP_KIB(640));
}

TEST(device_has_its_share_of_the_global_limit)
{
	struct limits_view view = known(WP_MIB(1000));

	view.global_bytes = WP_MIB(64);
	view.outstanding_bytes = WP_MIB(64); /* no help for newcomers */
	view.share = (struct fprop_fraction){ 1, 4 };
	assert_int_equal(limits_device_bytes(&view), WP_MIB(16));
	/* K2.5: a quarter is promised to all, an eighth of it all to this one */
	view.others_min_ratio_q10 = 256;
	view.min_ratio_q10 = 128;
	assert_int_equal(limits_device_bytes(&view), WP_MIB(12 + 8));
	view.max_ratio_q10 = 64;
	assert_int_equal(limits_device_bytes(&view), WP_MIB(4));
}

TEST(device_without_a_share_has_an_eighth_of_what_is_free)
{
	struct limits_view view = known(WP_MIB(1000));

	view.global_bytes = WP_MIB(64);
	view.share = (struct fprop_fraction){ 0, 4 };
	assert_int_equal(limits_device_bytes(&view), WP_MIB(8));
	view.outstanding_bytes = WP_MIB(48);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(2));
	view.outstanding_bytes = WP_MIB(100);
	assert_int_equal(limits_device_bytes(&view), WP_KIB(640));
}

TEST(device_has_no_more_than_the_drain_targets_worth)
{
	struct limits_view view = known(WP_MIB(10));

	view.share = (struct fprop_fraction){ 1, 1 };
	assert_int_equal(limits_device_bytes(&view), WP_MIB(10));
}

TEST(there_is_always_room_for_ten_pieces)
{
	struct limits_view view = known(1);

	assert_int_equal(limits_device_bytes(&view), WP_KIB(640));
	view.global_bytes = 1;
	assert_int_equal(limits_device_bytes(&view), WP_KIB(640));
}

TEST(heavy_writer_gives_way)
{
	struct fprop_fraction all = { 1, 1 };
	struct fprop_fraction half = { 1, 2 };
	struct fprop_fraction unknown = { 0, 0 };

	/* K6: at 1 GiB linear takes 32768 pages, the root 4096 */
	assert_int_equal(limits_task_bytes(WP_GIB(1), all, LIMITS_LINEAR),
			 WP_GIB(1) - 32768 * 4096);
	assert_int_equal(limits_task_bytes(WP_GIB(1), all, LIMITS_SQRT),
			 WP_GIB(1) - 4096 * 4096);
	assert_int_equal(limits_task_bytes(WP_GIB(1), half, LIMITS_SQRT),
			 WP_GIB(1) - 2048 * 4096);
	/* below 16 MiB the root would be the harsher */
	assert_int_equal(limits_task_bytes(WP_MIB(8), all, LIMITS_SQRT), WP_MIB(7));
	assert_int_equal(limits_task_bytes(WP_MIB(16), all, LIMITS_SQRT), WP_MIB(14));
	assert_int_equal(limits_task_bytes(WP_MIB(8), all, LIMITS_OFF), WP_MIB(8));
	assert_int_equal(limits_task_bytes(WP_MIB(8), unknown, LIMITS_LINEAR), WP_MIB(8));
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

/*
 * K2.5, each step with and without the one before it. The threshold is 1000 MiB, so that a
 * thousandth of it is a MiB; 256 and 128 of 1024 are promised where something is.
 */
TEST(kernels_order_of_share_floor_and_ratios)
{
	static const struct {
		struct fprop_fraction share;
		uint64_t others_min_q10, min_q10, max_q10;
		uint64_t outstanding_mib, limit_mib;
	} vectors[] = {
		/* 1, 2: 1000 * (1 - 1/4) * 2/5 */
		{ { 2, 5 }, 256, 0, 0, 1000, 300 },
		/* 3: 300 + 1000/8 */
		{ { 2, 5 }, 256, 128, 0, 1000, 425 },
		/* 3: no share at all, only what was promised */
		{ { 0, 1 }, 256, 128, 0, 1000, 125 },
		/* 4: an eighth of what is free is more than that; than 425 it is not */
		{ { 0, 1 }, 256, 64, 0, 200, 100 },
		{ { 2, 5 }, 256, 128, 0, 200, 425 },
		/* 4: nothing is free */
		{ { 0, 1 }, 0, 0, 0, 2000, 0 },
		/* 5 comes last: also what was promised and the floor end there */
		{ { 2, 5 }, 256, 128, 256, 1000, 250 },
		{ { 0, 1 }, 0, 0, 64, 0, 62 },
		{ { 1, 1 }, 0, 0, 1024, 1000, 1000 },
		/* all is promised to others */
		{ { 1, 1 }, 1024, 0, 0, 1000, 0 },
		{ { 1, 1 }, 2000, 0, 0, 1000, 0 },
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct limits_view view = known(WP_GIB(100));

		view.global_bytes = WP_MIB(1000);
		view.outstanding_bytes = WP_MIB(vectors[i].outstanding_mib);
		view.share = vectors[i].share;
		view.others_min_ratio_q10 = vectors[i].others_min_q10;
		view.min_ratio_q10 = vectors[i].min_q10;
		view.max_ratio_q10 = vectors[i].max_q10;
		/* 640 KiB are the least there is: 0 MiB */
		assert_int_equal(limits_device_bytes(&view) >> 20, vectors[i].limit_mib);
	}
}

TEST(limits_of_all_devices_may_add_up_to_more_than_the_global_one_but_none_exceeds_it)
{
	struct limits_view view = known(WP_GIB(100));

	view.global_bytes = WP_MIB(64);
	view.min_ratio_q10 = 512;
	for (uint64_t numerator = 0; numerator <= 8; numerator++) {
		view.share = (struct fprop_fraction){ numerator, 8 };
		assert_in_range(limits_device_bytes(&view), WP_MIB(32), WP_MIB(64));
	}
}

TEST(users_ceiling_of_a_device_comes_before_its_share_and_after_the_room)
{
	struct limits_view view = known(WP_MIB(10));

	view.max_bytes = WP_MIB(2);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(2));
	view.min_ratio_q10 = 1024;
	assert_int_equal(limits_device_bytes(&view), WP_MIB(2));
	view.max_bytes = 1;
	assert_int_equal(limits_device_bytes(&view), WP_KIB(640));
	view = known(0);
	view.max_bytes = WP_MIB(2);
	assert_int_equal(limits_device_bytes(&view), WP_MIB(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit_is_what_the_device_writes_in_the_drain_target),
		cmocka_unit_test(newcomer_has_a_limit_of_its_own),
		cmocka_unit_test(newcomer_is_held_by_ceilings_too),
		cmocka_unit_test(global_limit_is_the_least_of_its_ceilings),
		cmocka_unit_test(device_has_its_share_of_the_global_limit),
		cmocka_unit_test(device_without_a_share_has_an_eighth_of_what_is_free),
		cmocka_unit_test(device_has_no_more_than_the_drain_targets_worth),
		cmocka_unit_test(heavy_writer_gives_way),
		cmocka_unit_test(there_is_always_room_for_ten_pieces),
		cmocka_unit_test(kernel_line_is_half_of_its_freerun),
		cmocka_unit_test(newcomer_doubles_when_it_swallows_nine_tenths),
		cmocka_unit_test(wall_rises_at_once),
		cmocka_unit_test(wall_falls_by_a_32nd_of_the_distance),
		cmocka_unit_test(wall_does_not_fall_below_what_is_outstanding),
		cmocka_unit_test(kernels_order_of_share_floor_and_ratios),
		cmocka_unit_test(
			limits_of_all_devices_may_add_up_to_more_than_the_global_one_but_none_exceeds_it),
		cmocka_unit_test(
			users_ceiling_of_a_device_comes_before_its_share_and_after_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
