/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the verdict's fields worked out by hand for a known device of 10 MB/s, whose limit is
 * then 10 MB, background line 5, setpoint 7.5; and the rules of K5.3 for free running and wall.
 */
#include "unit.h"

#include <string.h>

#include "core/balance.h"
#include "core/pause.h"

#define NOW WP_SEC(1000)

struct setting {
	struct control control;
	struct bounds bounds;
	struct view view;
};

static struct setting known(void)
{
	return (struct setting){
		.control = {
			.wall_bytes = 10000000,
			.bandwidth = { .last_bps = 10000000, .avg_bps = 10000000 },
			.ratelimit = { .base_bps = 4000000, .balanced_bps = 4000000 },
			.window = { .bytes = WP_MIB(1), .kept_bytes = WP_MIB(1) },
		},
		.bounds = {
			.drain_ns = WP_SEC(1),
			.latency_ns = WP_MS(50),
			.background_pm = 500,
		},
		.view = {
			.now_ns = NOW,
			.paused_when_ns = NOW,
			.outstanding_bytes = 8750000,
			.dirtied_bytes = 350000,
		},
	};
}

static struct verdict verdict_of(const struct setting *setting)
{
	struct verdict verdict;

	memset(&verdict, 1, sizeof(verdict));
	balance(&verdict, &setting->view, &setting->control, &setting->bounds);
	assert_memory_equal(&verdict.view, &setting->view, sizeof(struct view));
	return verdict;
}

TEST(paced_verdict_by_hand)
{
	struct setting setting = known();
	struct verdict verdict = verdict_of(&setting);

	assert_int_equal(verdict.limit_bytes, 10000000);
	assert_int_equal(verdict.background_bytes, 5000000);
	assert_int_equal(verdict.setpoint_bytes, 7500000);
	assert_int_equal(verdict.wall_bytes, 10000000);
	assert_int_equal(verdict.bandwidth_bps, 10000000);
	assert_int_equal(verdict.base_bps, 4000000);
	/* half way between setpoint and limit: 1 - (1/2)^3, a unit lost: K3.3's 896 of 1024 */
	assert_int_equal(verdict.pos_q10, 896);
	assert_int_equal(verdict.task_bps, 3500000);
	/* 875 ms to drain, an eighth of it and a tick */
	assert_int_equal(verdict.max_pause_ns, 110375000);
	/* 350000 bytes at that rate */
	assert_int_equal(verdict.pause_ns, WP_MS(100));
	assert_int_equal(verdict.paused_when_ns, NOW + WP_MS(100));
	assert_false(verdict.free_running);
	assert_false(verdict.at_wall);
	assert_int_equal(verdict.owed_bytes, 0);
	/* 350000 in 100 ms would be 256 KiB; the threshold is shorter */
	assert_int_equal(verdict.poll_bytes, WP_KIB(128));
	assert_int_equal(verdict.piece_bytes, WP_KIB(128));
}

TEST(runs_free_half_way_to_the_setpoint)
{
	struct setting setting = known();
	struct verdict verdict;

	/* limit 10, background 5, setpoint 7.5 million */
	setting.view.outstanding_bytes = 6250000;
	setting.view.paused_when_ns = NOW - WP_SEC(9);
	verdict = verdict_of(&setting);
	assert_true(verdict.free_running);
	assert_int_equal(verdict.pause_ns, 0);
	assert_int_equal(verdict.paused_when_ns, NOW); /* no debt, no credit */
	assert_int_equal(verdict.owed_bytes, 0);
	assert_false(verdict.at_wall);
	assert_int_equal(verdict.task_bps, 10000000);
	assert_int_equal(verdict.pos_q10, 2048);
	assert_int_equal(verdict.max_pause_ns, 0);
	assert_int_equal(verdict.min_pause_ns, 0);
	/* 915 pages of margin: 2^(9/2) = 16 */
	assert_int_equal(verdict.poll_bytes, WP_KIB(64));
	setting.view.outstanding_bytes = 6250001;
	assert_false(verdict_of(&setting).free_running);
}

TEST(bytes_stay_owed_where_there_are_none)
{
	struct setting setting = known();

	setting.view.dirtied_bytes = 0;
	assert_int_equal(verdict_of(&setting).owed_bytes, setting.view.dirtied_bytes);
}

TEST(free_running_looks_again_no_sooner_than_after_a_piece)
{
	struct setting setting = known();

	/* a limit of 640 KiB: a margin of 60 pages would be 4 of them */
	setting.control.bandwidth.avg_bps = 1;
	setting.view.outstanding_bytes = WP_KIB(400);
	assert_true(verdict_of(&setting).free_running);
	assert_int_equal(verdict_of(&setting).poll_bytes, WP_KIB(64));
}

TEST(at_the_limit_is_the_wall)
{
	struct setting setting = known();
	struct verdict verdict;

	setting.view.outstanding_bytes = 10000000;
	verdict = verdict_of(&setting);
	assert_true(verdict.at_wall);
	assert_int_equal(verdict.pos_q10, 0);
	assert_int_equal(verdict.task_bps, 0);
	assert_int_equal(verdict.pause_ns, WP_MS(126));
	assert_int_equal(verdict.poll_bytes, WP_PAGE_BYTES);
	assert_int_equal(verdict.piece_bytes, PIECE_LEAST_BYTES);
}

TEST(limit_that_fell_leaves_a_quarter_of_the_rate)
{
	struct setting setting = known();
	struct verdict verdict;

	setting.control.wall_bytes = 15000000;
	setting.view.outstanding_bytes = 10000000;
	verdict = verdict_of(&setting);
	assert_int_equal(verdict.wall_bytes, 15000000);
	assert_int_equal(verdict.pos_q10, 256);
	assert_int_equal(verdict.task_bps, 1000000);
	assert_false(verdict.at_wall);
	setting.view.outstanding_bytes = 15000000;
	assert_true(verdict_of(&setting).at_wall);
}

TEST(unknown_device_is_assumed_fast)
{
	struct setting setting = known();
	struct verdict verdict;

	setting.control = (struct control){ 0 };
	setting.view.outstanding_bytes = WP_MIB(3) + 1;
	verdict = verdict_of(&setting);
	assert_int_equal(verdict.limit_bytes, WP_MIB(4));
	assert_int_equal(verdict.setpoint_bytes, WP_MIB(3));
	assert_int_equal(verdict.bandwidth_bps, WP_MIB(100));
	assert_int_equal(verdict.base_bps, WP_MIB(100));
	assert_int_equal(verdict.piece_bytes, PIECE_MIN_BYTES);
}

TEST(users_rate_asks_for_a_look_every_50_ms)
{
	struct setting setting = known();
	struct verdict verdict;

	setting.bounds.rate_bps = 200000;
	setting.view.outstanding_bytes = 0;
	verdict = verdict_of(&setting);
	assert_true(verdict.free_running);
	assert_int_equal(verdict.poll_bytes, 10000);
	assert_int_equal(verdict.piece_bytes, 8192);
	/* the limit is the device's, what may stay dirty the drain target's worth at that rate */
	assert_int_equal(verdict.limit_bytes, 10000000);
	assert_int_equal(verdict.background_bytes, 100000);
}

static uint64_t piece_of(uint64_t task_bps, uint64_t window_bytes)
{
	struct setting setting = known();

	/* at 896 of 1024 */
	setting.control.ratelimit.base_bps = task_bps / 7 * 8;
	setting.control.window.kept_bytes = window_bytes;
	setting.control.window.kept_depth = 4;
	/* a device so large that the threshold is long */
	setting.control.bandwidth.avg_bps = UINT64_C(1) << 40;
	setting.bounds.in_use_bps = 0;
	setting.view.outstanding_bytes = (UINT64_C(1) << 40) / 1000 * 875;
	return verdict_of(&setting).piece_bytes;
}

TEST(piece_is_a_power_of_two_within_bounds)
{
	assert_int_equal(piece_of(7, WP_MIB(64)), PIECE_LEAST_BYTES);
	assert_int_equal(piece_of(700000, WP_MIB(64)), WP_KIB(64));
	/* 100 ms would be 2.1 MB, the threshold at half a longest pause is 1.3 */
	assert_int_equal(piece_of(21000000, WP_MIB(64)), WP_MIB(1));
	assert_int_equal(piece_of(UINT64_C(7) << 40, WP_MIB(64)), WP_MIB(8));
}

TEST(piece_is_no_more_than_a_unit_of_writeback)
{
	assert_int_equal(piece_of(21000000, WP_MIB(2)), WP_KIB(512));
	assert_int_equal(piece_of(21000000, WP_KIB(64)), WP_KIB(64));
	assert_int_equal(piece_of(21000000, 0), WP_KIB(64));
}

TEST(runs_free_while_there_is_credit_and_paced_afterwards)
{
	struct setting setting = known();
	struct verdict verdict;

	setting.bounds.burst_bytes = 24000000;
	setting.view.outstanding_bytes = 33000000;
	verdict = verdict_of(&setting);
	assert_int_equal(verdict.limit_bytes, 10000000);
	assert_int_equal(verdict.credit_bytes, 1000000);
	assert_true(verdict.free_running);
	assert_int_equal(verdict.pause_ns, 0);
	/* 244 pages are left of it: 2^(7/2) = 8, less than a piece */
	assert_int_equal(verdict.poll_bytes, PIECE_MIN_BYTES);
	setting.view.outstanding_bytes = 8750000;
	/* 6164 pages: 2^(12/2) = 64 */
	assert_int_equal(verdict_of(&setting).poll_bytes, WP_KIB(256));
	setting.view.outstanding_bytes = 34000000;
	assert_true(verdict_of(&setting).at_wall);
	/* with the wall where the burst ended, three times the limit: an eighth of the rate */
	setting.control.wall_bytes = 34000000;
	setting.view.outstanding_bytes = 33000000;
	setting.control.burst.spent_bytes = 24000000;
	verdict = verdict_of(&setting);
	assert_false(verdict.free_running);
	assert_int_equal(verdict.task_bps, 500000);
}

TEST(no_credit_under_a_users_rate)
{
	struct setting setting = known();

	setting.bounds.burst_bytes = 24000000;
	setting.bounds.rate_bps = 2000000;
	assert_int_equal(verdict_of(&setting).credit_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paced_verdict_by_hand),
		cmocka_unit_test(runs_free_half_way_to_the_setpoint),
		cmocka_unit_test(bytes_stay_owed_where_there_are_none),
		cmocka_unit_test(free_running_looks_again_no_sooner_than_after_a_piece),
		cmocka_unit_test(at_the_limit_is_the_wall),
		cmocka_unit_test(limit_that_fell_leaves_a_quarter_of_the_rate),
		cmocka_unit_test(unknown_device_is_assumed_fast),
		cmocka_unit_test(users_rate_asks_for_a_look_every_50_ms),
		cmocka_unit_test(piece_is_a_power_of_two_within_bounds),
		cmocka_unit_test(piece_is_no_more_than_a_unit_of_writeback),
		cmocka_unit_test(runs_free_while_there_is_credit_and_paced_afterwards),
		cmocka_unit_test(no_credit_under_a_users_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
