/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: K5.2, K5.3 and K5.4 worked out by hand. Most tests use a device of 10 MiB/s with
 * 32 MiB outstanding (max_pause 200 ms) and one writer: its poll threshold is then 128 KiB, the
 * least worth a sleep, and min_pause half of the 12.5 ms that takes, plus one.
 */
#include "unit.h"

#include <string.h>

#include "core/pause.h"

#define NOW WP_SEC(1000)
#define MIN_PAUSE_NS UINT64_C(7250000)

static struct pause_view one_writer(void)
{
	return (struct pause_view){
		.now_ns = NOW,
		.paused_when_ns = NOW,
		.dirtied_bytes = WP_MIB(1), /* 100 ms */
		.outstanding_bytes = WP_MIB(32),
		.bandwidth_bps = WP_MIB(10),
		.base_bps = WP_MIB(10),
		.task_bps = WP_MIB(10),
	};
}

static struct pause_plan plan_of(const struct pause_view *view)
{
	struct pause_plan plan;

	memset(&plan, 1, sizeof(plan));
	pause_plan(&plan, view);
	return plan;
}

TEST(longest_pause_is_an_eighth_of_the_drain_time)
{
	assert_int_equal(pause_max_ns(WP_MIB(8), WP_MIB(10)), WP_MS(101));
	assert_int_equal(pause_max_ns(0, WP_MIB(10)), WP_MS(1));
	assert_int_equal(pause_max_ns(WP_MIB(16), WP_MIB(10)), WP_MS(200));
	assert_int_equal(pause_max_ns(UINT64_MAX, 1), WP_MS(200));
	assert_int_equal(pause_max_ns(1, 0), WP_MS(126));
}

TEST(free_poll_interval_is_the_root_of_the_margin)
{
	assert_int_equal(pause_free_poll_bytes(WP_MIB(1), 0), 16 * 4096);
	assert_int_equal(pause_free_poll_bytes(WP_GIB(1) + 5, 5), 512 * 4096);
	assert_int_equal(pause_free_poll_bytes(WP_MIB(1), WP_MIB(1)), 4096);
	assert_int_equal(pause_free_poll_bytes(WP_MIB(1), WP_MIB(2)), 4096);
}

TEST(pause_is_what_the_bytes_should_have_taken)
{
	struct pause_view view = one_writer();
	struct pause_plan plan = plan_of(&view);

	assert_int_equal(plan.pause_ns, WP_MS(100));
	assert_int_equal(plan.paused_when_ns, NOW + WP_MS(100));
	assert_int_equal(plan.owed_bytes, 0);
	view.task_bps = WP_MIB(20);
	assert_int_equal(plan_of(&view).pause_ns, WP_MS(50));
}

TEST(no_period_yet_begins_now)
{
	struct pause_view view = one_writer();

	view.paused_when_ns = 0;
	assert_int_equal(plan_of(&view).pause_ns, WP_MS(100));
}

TEST(think_time_counts)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.paused_when_ns = NOW - WP_MS(40);
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, WP_MS(60));
	assert_int_equal(plan.paused_when_ns, NOW + WP_MS(60));
}

TEST(pause_below_the_least_is_left_to_the_next_one)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.paused_when_ns = NOW - WP_MS(100) + MIN_PAUSE_NS;
	plan = plan_of(&view);
	assert_int_equal(plan.min_pause_ns, MIN_PAUSE_NS);
	assert_int_equal(plan.pause_ns, MIN_PAUSE_NS);
	view.paused_when_ns--;
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, 0);
	/* the period has passed in virtual time: what is left of it comes with the next */
	assert_int_equal(plan.paused_when_ns, NOW + MIN_PAUSE_NS - 1);
	assert_int_equal(plan.owed_bytes, 0);
}

TEST(credit_is_kept_for_a_second)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.paused_when_ns = NOW - WP_MS(1100);
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, 0);
	assert_int_equal(plan.paused_when_ns, NOW - WP_MS(1000));
}

TEST(credit_over_a_second_is_forgotten)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.paused_when_ns = NOW - WP_MS(1100) - 1;
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, 0);
	assert_int_equal(plan.paused_when_ns, NOW);
	assert_int_equal(plan.owed_bytes, 0);
}

TEST(what_the_longest_pause_does_not_pay_for_stays_owed)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.dirtied_bytes = WP_MIB(3); /* 300 ms: 200 now, 100 owed */
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, WP_MS(200));
	assert_int_equal(plan.paused_when_ns, NOW + WP_MS(200));
	assert_int_equal(plan.owed_bytes, WP_MIB(1));
}

TEST(debt_is_paid_at_the_rate_of_the_moment)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.dirtied_bytes = WP_MIB(3);
	plan = plan_of(&view);
	view.now_ns = view.paused_when_ns = plan.paused_when_ns;
	view.dirtied_bytes = plan.owed_bytes;
	view.task_bps = WP_MIB(20);
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, WP_MS(50));
	assert_int_equal(plan.owed_bytes, 0);
}

TEST(no_more_is_owed_than_was_dirtied)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.dirtied_bytes = UINT64_MAX;
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, WP_MS(200));
	assert_true(plan.owed_bytes < UINT64_MAX);
	view.paused_when_ns = NOW + WP_SEC(1000); /* damage */
	view.dirtied_bytes = 1000;
	plan = plan_of(&view);
	assert_int_equal(plan.owed_bytes, 1000);
}

TEST(nothing_dirtied_is_no_period)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.dirtied_bytes = 0;
	view.paused_when_ns = NOW - WP_MS(10);
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, 0);
	assert_int_equal(plan.paused_when_ns, NOW - WP_MS(10));
	assert_int_equal(plan.owed_bytes, 0);
}

TEST(at_the_wall_it_is_the_longest_pause)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.task_bps = 0;
	view.dirtied_bytes = 0;
	view.paused_when_ns = NOW - WP_SEC(5);
	view.outstanding_bytes = WP_MIB(8);
	plan = plan_of(&view);
	assert_int_equal(plan.pause_ns, WP_MS(101));
	assert_int_equal(plan.paused_when_ns, NOW + WP_MS(101));
	assert_int_equal(plan.owed_bytes, 0);
}

TEST(poll_is_ten_ms_worth_for_one_fast_writer)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	view.bandwidth_bps = view.base_bps = view.task_bps = 100000000;
	view.outstanding_bytes = 100000000; /* max_pause 126 ms */
	plan = plan_of(&view);
	assert_int_equal(plan.poll_bytes, 1000000);
	assert_int_equal(plan.min_pause_ns, WP_MS(6));
}

TEST(poll_grows_by_ten_ms_for_each_doubling_of_writers)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	/* an eighth of 2^26 per second: 10 + 3 * 10 ms of 2^23 */
	view.bandwidth_bps = WP_MIB(64);
	view.base_bps = view.task_bps = WP_MIB(8);
	view.outstanding_bytes = WP_MIB(128);
	plan = plan_of(&view);
	assert_int_equal(plan.poll_bytes, 335544);
	assert_int_equal(plan.min_pause_ns, WP_MS(21));
}

TEST(poll_is_no_more_than_half_the_longest_pause)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	/* max_pause 1 + 8 = 9 ms, so 5.5 ms of 100 MB/s instead of 10 */
	view.bandwidth_bps = view.base_bps = view.task_bps = 100000000;
	view.outstanding_bytes = 6400000;
	plan = plan_of(&view);
	assert_int_equal(plan.max_pause_ns, WP_MS(9));
	assert_int_equal(plan.poll_bytes, 550000);
	assert_int_equal(plan.min_pause_ns, 3750000);
}

TEST(poll_below_128_kib_takes_the_longest_pause)
{
	struct pause_view view = one_writer();
	struct pause_plan plan = plan_of(&view);

	/* 10 ms of 10 MiB/s are too little, 200 ms more than needed: 128 KiB, 12.5 ms */
	assert_int_equal(plan.poll_bytes, WP_KIB(128));
	assert_int_equal(plan.min_pause_ns, MIN_PAUSE_NS);
	/* 200 ms of 64 KiB/s are less still: take what that gives, and sleep no shorter */
	view.bandwidth_bps = view.base_bps = view.task_bps = WP_KIB(64);
	plan = plan_of(&view);
	assert_int_equal(plan.poll_bytes, 13107);
	assert_int_equal(plan.min_pause_ns, WP_MS(200));
}

TEST(poll_is_what_the_longest_pause_can_pay_for)
{
	struct pause_view view = one_writer();
	struct pause_plan plan;

	/* max_pause 51 ms; 128 KiB at 1 MiB/s would be 125: only 51 ms worth of it */
	view.outstanding_bytes = WP_MIB(4);
	view.task_bps = WP_MIB(1);
	plan = plan_of(&view);
	assert_int_equal(plan.max_pause_ns, WP_MS(51));
	assert_int_equal(plan.poll_bytes, 53477);
	assert_int_equal(plan.min_pause_ns, WP_MS(51));
}

TEST(poll_is_never_below_a_page)
{
	struct pause_view view = one_writer();

	view.task_bps = 0;
	assert_int_equal(plan_of(&view).poll_bytes, 4096);
	view.task_bps = 1;
	assert_int_equal(plan_of(&view).poll_bytes, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_pause_is_an_eighth_of_the_drain_time),
		cmocka_unit_test(free_poll_interval_is_the_root_of_the_margin),
		cmocka_unit_test(pause_is_what_the_bytes_should_have_taken),
		cmocka_unit_test(no_period_yet_begins_now),
		cmocka_unit_test(think_time_counts),
		cmocka_unit_test(pause_below_the_least_is_left_to_the_next_one),
		cmocka_unit_test(credit_is_kept_for_a_second),
		cmocka_unit_test(credit_over_a_second_is_forgotten),
		cmocka_unit_test(what_the_longest_pause_does_not_pay_for_stays_owed),
		cmocka_unit_test(debt_is_paid_at_the_rate_of_the_moment),
		cmocka_unit_test(no_more_is_owed_than_was_dirtied),
		cmocka_unit_test(nothing_dirtied_is_no_period),
		cmocka_unit_test(at_the_wall_it_is_the_longest_pause),
		cmocka_unit_test(poll_is_ten_ms_worth_for_one_fast_writer),
		cmocka_unit_test(poll_grows_by_ten_ms_for_each_doubling_of_writers),
		cmocka_unit_test(poll_is_no_more_than_half_the_longest_pause),
		cmocka_unit_test(poll_below_128_kib_takes_the_longest_pause),
		cmocka_unit_test(poll_is_what_the_longest_pause_can_pay_for),
		cmocka_unit_test(poll_is_never_below_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
