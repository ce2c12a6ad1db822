/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracle: the rules of shm/sync.h and helper/strangers.h, times by hand. */
#include "unit.h"

#include "helper/strangers.h"
#include "shm/sync.h"

#define NOW WP_SEC(1000)

TEST(hold_lasts_as_long_as_the_sync)
{
	struct wp_device device = { 0 };

	assert_false(sync_holds(&device, NOW));
	sync_begins(&device, 1, WP_MS(100), NOW);
	assert_true(sync_holds(&device, NOW + WP_MS(30)));
	sync_ends(&device, NOW + WP_MS(30));
	assert_false(sync_holds(&device, NOW + WP_MS(30)));
}

TEST(hold_is_bounded)
{
	struct wp_device device = { 0 };

	sync_begins(&device, 1, WP_MS(100), NOW);
	assert_true(sync_holds(&device, NOW + WP_MS(100) - 1));
	assert_false(sync_holds(&device, NOW + WP_MS(100)));
	/* who comes late does not end the next one's hold */
	sync_begins(&device, 2, WP_MS(100), NOW + WP_MS(250));
	sync_ends(&device, NOW + WP_MS(251));
	assert_false(sync_holds(&device, NOW + WP_MS(252)));
}

TEST(hold_takes_half_of_the_time_at_most)
{
	struct wp_device device = { 0 };
	uint64_t held_ms = 0;

	/* syncs of 30 ms back to back */
	for (uint64_t ms = 0; ms < 3000; ms++) {
		if (ms % 30 == 0) {
			sync_ends(&device, NOW + WP_MS(ms));
			sync_begins(&device, 1, WP_MS(100), NOW + WP_MS(ms));
		}
		held_ms += sync_holds(&device, NOW + WP_MS(ms));
	}
	assert_in_range(held_ms, 1400, 1530);
}

TEST(no_hold_at_0)
{
	struct wp_device device = { 0 };

	sync_begins(&device, 1, 0, NOW);
	assert_false(sync_holds(&device, NOW));
	assert_int_equal(sync_others_ns(&device, 2), NOW);
}

TEST(hold_of_the_far_future_is_damage)
{
	struct wp_device device = { .hold_begin_ns = NOW, .hold_end_ns = UINT64_MAX };

	assert_false(sync_holds(&device, NOW));
}

TEST(own_syncs_are_nobody_else)
{
	struct wp_device device = { 0 };

	sync_begins(&device, 7, 0, NOW);
	sync_begins(&device, 7, 0, NOW + 1);
	assert_int_equal(sync_others_ns(&device, 7), 0);
	assert_int_equal(sync_others_ns(&device, 8), NOW + 1);
	/* two that sync see each other */
	sync_begins(&device, 8, 0, NOW + 2);
	sync_begins(&device, 7, 0, NOW + 3);
	assert_int_equal(sync_others_ns(&device, 7), NOW + 2);
	assert_int_equal(sync_others_ns(&device, 8), NOW + 3);
	assert_int_equal(device.syncs, 4);
}

TEST(strangers_count_for_all)
{
	struct wp_device device = { .stranger_ns = NOW };

	sync_begins(&device, 7, 0, NOW - 5);
	assert_int_equal(sync_others_ns(&device, 7), NOW);
}

/* Seen within @seconds when somebody flushes every @period_ms? Samples every 100 ms. */
static bool is_seen(uint64_t period_ms, uint64_t length_ms, uint64_t seconds, bool paced)
{
	struct stranger stranger = { 0 };
	struct wp_device device = { 0 };
	struct blockstat stat = { .flushes = 1000 };

	for (uint64_t ms = 0; ms < seconds * 1000; ms += 100) {
		if (ms % period_ms < length_ms) {
			stat.flushes += 2;
			device.syncs += paced;
		}
		stranger_see(&stranger, &device, &stat, 0, NOW + WP_MS(ms));
	}
	return device.stranger_ns != 0;
}

TEST(who_syncs_often_is_seen_at_once)
{
	assert_true(is_seen(100, 100, 1, false));
}

TEST(who_syncs_every_second_is_seen)
{
	assert_false(is_seen(1000, 100, 2, false));
	assert_true(is_seen(1000, 100, 10, false));
}

TEST(commits_of_the_journal_are_nobody)
{
	/* every 5 s, spread over three samples */
	assert_false(is_seen(5000, 300, 600, false));
}

TEST(syncs_of_paced_programs_are_no_strangers)
{
	assert_false(is_seen(100, 100, 60, true));
}

TEST(device_without_flushes_has_no_strangers)
{
	struct stranger stranger = { 0 };
	struct blockstat stat = { .flushes = 12345 };
	struct wp_device device = { 0 };

	for (uint64_t i = 0; i < 100; i++)
		stranger_see(&stranger, &device, &stat, 0, NOW + WP_MS(100) * i);
	assert_int_equal(device.stranger_ns, 0);
}

TEST(what_others_write_is_what_is_not_ours)
{
	struct stranger stranger = { 0 };
	struct blockstat stat = { 0 };
	struct wp_device device = { 0 };

	/* 10 MB/s of which 9 are ours, counted two samples late */
	for (uint64_t i = 0; i < 100; i++) {
		stat.written_bytes += 1000000;
		device.written_bytes += i < 2 ? 0 : 900000;
		stranger_see(&stranger, &device, &stat, 0, NOW + WP_MS(100) * i);
	}
	assert_in_range(device.others_bps, 990000, 1010000);
	/* and nothing when we have counted more than the device, for a moment */
	for (uint64_t i = 100; i < 200; i++) {
		device.written_bytes += 900000;
		stranger_see(&stranger, &device, &stat, 0, NOW + WP_MS(100) * i);
	}
	assert_int_equal(device.others_bps, 0);
}

/* Seen when @reads_bps are read from it, and @own_bps by paced programs? */
static bool is_read(uint64_t reads_bps, uint64_t own_bps, uint64_t seconds)
{
	struct stranger stranger = { 0 };
	struct wp_device device = { 0 };
	struct blockstat stat = { 0 };
	uint64_t own_bytes = 0;

	for (uint64_t i = 0; i < 10 * seconds; i++) {
		stat.read_bytes += reads_bps / 10;
		/* theirs are known at the next visit, twice a second */
		if (i % 5 == 4)
			own_bytes += own_bps / 2;
		stranger_see(&stranger, &device, &stat, own_bytes, NOW + WP_MS(100) * i);
	}
	return device.stranger_ns != 0;
}

TEST(who_reads_is_seen)
{
	assert_true(is_read(1000000, 0, 5));
	assert_true(is_read(3000000, 1000000, 10));
}

TEST(a_block_now_and_then_is_nobody)
{
	assert_false(is_read(40960, 0, 600));
}

/* A readahead is known to the program that asked before it is to the device. */
TEST(paced_programs_may_read_ahead)
{
	struct stranger stranger = { 0 };
	struct wp_device device = { 0 };
	struct blockstat stat = { 0 };

	for (uint64_t i = 0; i < 600; i++) {
		uint64_t ahead_bytes = i % 23 ? 0 : 2621440;

		stat.read_bytes += 1000000;
		stranger_see(&stranger, &device, &stat, stat.read_bytes + ahead_bytes,
			     NOW + WP_MS(100) * i);
	}
	assert_int_equal(device.stranger_ns, 0);
}

TEST(who_reads_is_seen_after_they_read_elsewhere)
{
	struct stranger stranger = { 0 };
	struct wp_device device = { 0 };
	struct blockstat stat = { 0 };
	uint64_t own_bytes = 0;

	for (uint64_t i = 0; i < 600; i++) {
		if (i < 500)
			own_bytes += 1000000;
		else
			stat.read_bytes += 100000;
		stranger_see(&stranger, &device, &stat, own_bytes, NOW + WP_MS(100) * i);
		assert_true(i >= 500 || !device.stranger_ns);
	}
	assert_true(device.stranger_ns);
}

TEST(paced_programs_may_read)
{
	assert_false(is_read(0, 10000000, 60));
	assert_false(is_read(1000000, 10000000, 60));
	assert_false(is_read(10000000, 10000000, 60));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold_lasts_as_long_as_the_sync),
		cmocka_unit_test(hold_is_bounded),
		cmocka_unit_test(hold_takes_half_of_the_time_at_most),
		cmocka_unit_test(no_hold_at_0),
		cmocka_unit_test(hold_of_the_far_future_is_damage),
		cmocka_unit_test(own_syncs_are_nobody_else),
		cmocka_unit_test(strangers_count_for_all),
		cmocka_unit_test(who_syncs_often_is_seen_at_once),
		cmocka_unit_test(who_syncs_every_second_is_seen),
		cmocka_unit_test(commits_of_the_journal_are_nobody),
		cmocka_unit_test(syncs_of_paced_programs_are_no_strangers),
		cmocka_unit_test(device_without_flushes_has_no_strangers),
		cmocka_unit_test(who_reads_is_seen),
		cmocka_unit_test(a_block_now_and_then_is_nobody),
		cmocka_unit_test(paced_programs_may_read),
		cmocka_unit_test(paced_programs_may_read_ahead),
		cmocka_unit_test(who_reads_is_seen_after_they_read_elsewhere),
		cmocka_unit_test(what_others_write_is_what_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
