/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the sums of a device's words by hand, and the times that shm/device.h names.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/stamp.h"
#include "shm/device.h"
#include "shm/orphan.h"

#define NOW WP_SEC(1000)

static const struct bounds standard = {
	.drain_ns = WP_SEC(1),
	.latency_ns = WP_MS(50),
	.background_pm = 500,
};

static int new_segment(void **state)
{
	*state = calloc(1, sizeof(struct wp_segment));
	return *state ? 0 : -1;
}

static int free_segment(void **state)
{
	free(*state);
	return 0;
}

static void number_has_one_slot(void **state)
{
	struct wp_segment *segment = *state;
	int slot = device_slot(segment, 0x803);
	int other = device_slot(segment, 0x804);

	assert_in_range(slot, 0, WP_DEVICES - 1);
	assert_in_range(other, 0, WP_DEVICES - 1);
	assert_int_not_equal(slot, other);
	assert_int_equal(device_slot(segment, 0x803), slot);
	assert_int_equal(device_number(&segment->devices[slot]), 0x803);
	assert_int_equal(device_number(&segment->devices[other]), 0x804);
}

static void device_number_zero_is_a_device(void **state)
{
	struct wp_segment *segment = *state;
	int slot = device_slot(segment, 0);

	assert_int_not_equal(segment->devices[slot].key, 0);
	assert_int_equal(device_number(&segment->devices[slot]), 0);
}

static void full_table_knows_its_own_and_no_more(void **state)
{
	struct wp_segment *segment = *state;
	int slots[DEVICE_SLOTS];

	for (uint64_t i = 0; i < DEVICE_SLOTS; i++) {
		slots[i] = device_slot(segment, 7 * i);
		assert_in_range(slots[i], 0, DEVICE_SLOTS - 1);
	}
	assert_int_equal(device_slot(segment, 7 * DEVICE_SLOTS), -1);
	for (uint64_t i = 0; i < DEVICE_SLOTS; i++)
		assert_int_equal(device_slot(segment, 7 * i), slots[i]);
}

TEST(levels_are_never_negative_nor_beyond_belief)
{
	struct wp_device device = { 0 };

	word_add(&device.outstanding_bytes, -(uint64_t)5);
	word_add(&device.inflight_bytes, -(uint64_t)5);
	assert_int_equal(device_outstanding_bytes(&device), 0);
	assert_int_equal(device_inflight_bytes(&device), 0);
	word_add(&device.outstanding_bytes, 6);
	word_add(&device.inflight_bytes, 7);
	assert_int_equal(device_outstanding_bytes(&device), 1);
	assert_int_equal(device_inflight_bytes(&device), 2);
	device.outstanding_bytes = device.inflight_bytes = INT64_MAX;
	assert_int_equal(device_outstanding_bytes(&device), WP_GIB(1024));
	assert_int_equal(device_inflight_bytes(&device), WP_GIB(1024));
}

TEST(dirt_and_completions_add_up)
{
	struct wp_device device = { 0 };

	device_dirtied(&device, 1000);
	device_dirtied(&device, 500);
	device_completed(&device, 300, NOW);
	assert_int_equal(device.dirtied_bytes, 1500);
	assert_int_equal(device.written_bytes, 300);
	assert_int_equal(device_outstanding_bytes(&device), 1200);
	assert_int_equal(device.progress_ns, NOW);
	device_completed(&device, 0, NOW + 1);
	assert_int_equal(device.progress_ns, NOW);
}

/* 10 MB of orphans on a device of 10 MB/s that nobody else writes to. */
static struct wp_device with_orphans(void)
{
	struct wp_device device = { 0 };

	device_dirtied(&device, 10000000);
	device_orphaned(&device, 10000000, NOW);
	return device;
}

TEST(orphans_stay_outstanding)
{
	struct wp_device device = with_orphans();

	assert_int_equal(device.orphan_bytes, 10000000);
	assert_int_equal(device_outstanding_bytes(&device), 10000000);
	assert_int_equal(device.written_bytes, 0);
}

TEST(orphans_leave_at_the_bandwidth)
{
	struct wp_device device = with_orphans();

	device_drain_orphans(&device, 10000000, NOW + WP_MS(100));
	assert_int_equal(device.orphan_bytes, 9000000);
	assert_int_equal(device_outstanding_bytes(&device), 9000000);
	device_drain_orphans(&device, 10000000, NOW + WP_MS(300));
	assert_int_equal(device.orphan_bytes, 7000000);
	/* completions are what was seen; nobody saw these */
	assert_int_equal(device.written_bytes, 0);
}

TEST(own_completions_take_the_bandwidth_first)
{
	struct wp_device device = with_orphans();

	device_dirtied(&device, 400000);
	device_completed(&device, 400000, NOW + WP_MS(50));
	device_drain_orphans(&device, 10000000, NOW + WP_MS(100));
	assert_int_equal(device.orphan_bytes, 9400000);
	device_dirtied(&device, 2000000);
	device_completed(&device, 2000000, NOW + WP_MS(150));
	device_drain_orphans(&device, 10000000, NOW + WP_MS(200));
	assert_int_equal(device.orphan_bytes, 9400000);
	device_drain_orphans(&device, 10000000, NOW + WP_MS(300));
	assert_int_equal(device.orphan_bytes, 8400000);
}

/* Observed at @seen_ns: 6 MB of the 10 are there, and 1 MB was dirtied since. */
static struct wp_device observed_at(uint64_t seen_ns)
{
	struct wp_device device = with_orphans();

	device.observed_ns = seen_ns;
	device.observed_bytes = 6000000;
	device.observed_dirtied_bytes = device.dirtied_bytes - 1000000;
	return device;
}

TEST(orphans_are_what_the_observer_counts_and_what_came_since)
{
	struct wp_device device = observed_at(NOW);

	device_drain_orphans(&device, 10000000, NOW + WP_MS(100));
	assert_int_equal(device_source(&device, NOW + WP_MS(100)), WP_SOURCE_OBSERVER);
	assert_int_equal(device.orphan_bytes, 7000000);
	assert_int_equal(device_outstanding_bytes(&device), 7000000);
	device_drain_orphans(&device, 10000000, NOW + WP_MS(200));
	assert_int_equal(device.orphan_bytes, 7000000);
}

TEST(files_are_not_taken_for_orphans_by_the_observers_count)
{
	struct wp_device device = observed_at(NOW);

	device_dirtied(&device, 2000000); /* of a file that is looked at */
	device_drain_orphans(&device, 10000000, NOW + WP_MS(100));
	assert_int_equal(device.orphan_bytes, 7000000);
	assert_int_equal(device_outstanding_bytes(&device), 9000000);
}

TEST(an_observer_that_is_silent_for_two_seconds_is_left)
{
	struct wp_device device = observed_at(NOW - WP_SEC(2));

	assert_int_equal(device_source(&device, NOW + WP_MS(100)), WP_SOURCE_RATE);
	device_drain_orphans(&device, 10000000, NOW + WP_MS(100));
	assert_int_equal(device.orphan_bytes, 9000000);
}

TEST(started_orphans_that_are_gone_from_the_count_were_written)
{
	struct wp_device device = observed_at(NOW);
	uint64_t written_bytes = device.written_bytes;

	/* of 3000000 that are gone, 2000000 were started */
	device_orphans_started(&device, 2000000);
	assert_int_equal(device_drain_orphans(&device, 10000000, NOW + WP_MS(100)),
			 2000000);
	assert_int_equal(device.written_bytes - written_bytes, 2000000);
	assert_int_equal(device.progress_ns, NOW + WP_MS(100));
	assert_int_equal(device.orphan_started_bytes, 0);
	assert_int_equal(device_drain_orphans(&device, 10000000, NOW + WP_MS(200)), 0);
}

TEST(by_estimate_nothing_counts_as_written)
{
	struct wp_device device = with_orphans();

	device_orphans_started(&device, 2000000);
	assert_int_equal(device_drain_orphans(&device, 10000000, NOW + WP_MS(100)), 0);
	assert_int_equal(device.written_bytes, 0);
	assert_int_equal(device_orphans_inflight_bytes(&device, NOW + WP_MS(100)), 0);
}

TEST(started_orphans_are_in_flight_as_long_as_the_kernel_says_so)
{
	struct wp_device device = observed_at(NOW);

	device.observed_inflight_bytes = 1500000;
	assert_int_equal(device_orphans_inflight_bytes(&device, NOW), 0);
	device_orphans_started(&device, 2000000);
	assert_int_equal(device_orphans_inflight_bytes(&device, NOW), 2000000);
	assert_int_equal(device_drain_orphans(&device, 10000000, NOW + WP_MS(100)),
			 500000);
	assert_int_equal(device_orphans_inflight_bytes(&device, NOW + WP_MS(100)),
			 1500000);
	/* there was nothing to be written where it was started */
	device.observed_ns = NOW + WP_MS(150);
	device.observed_inflight_bytes = 0;
	device.observed_bytes = 7000000;
	device.observed_dirtied_bytes = device.dirtied_bytes;
	assert_int_equal(device_drain_orphans(&device, 10000000, NOW + WP_MS(200)), 0);
	assert_int_equal(device_orphans_inflight_bytes(&device, NOW + WP_MS(200)), 0);
	assert_int_equal(device.orphan_bytes, 7000000);
}

TEST(what_the_observer_still_counts_does_not_expire)
{
	struct wp_device device = observed_at(NOW);

	for (uint64_t second = 1; second < 100; second++) {
		device.observed_ns = NOW + WP_SEC(second);
		device_drain_orphans(&device, 10000, NOW + WP_SEC(second));
	}
	assert_int_equal(device.orphan_bytes, 7000000);
}

TEST(completions_before_the_orphans_do_not_count)
{
	struct wp_device device = { 0 };

	device_dirtied(&device, 15000000);
	device_completed(&device, 5000000, NOW - 1);
	device_orphaned(&device, 10000000, NOW);
	device_drain_orphans(&device, 10000000, NOW + WP_MS(100));
	assert_int_equal(device.orphan_bytes, 9000000);
}

TEST(orphans_are_drained_every_10_ms_and_never_twice)
{
	struct wp_device device = with_orphans();

	device_drain_orphans(&device, 10000000, NOW + WP_MS(10) - 1);
	assert_int_equal(device.orphan_bytes, 10000000);
	device_drain_orphans(&device, 10000000, NOW + WP_MS(10));
	device_drain_orphans(&device, 10000000, NOW + WP_MS(10));
	assert_int_equal(device.orphan_bytes, 9900000);
}

TEST(orphans_end_at_zero)
{
	struct wp_device device = with_orphans();

	device_dirtied(&device, 77);
	device_drain_orphans(&device, 10000000, NOW + WP_SEC(5));
	assert_int_equal(device.orphan_bytes, 0);
	assert_int_equal(device_outstanding_bytes(&device), 77);
}

TEST(more_orphans_do_not_stop_the_clock)
{
	struct wp_device device = with_orphans();

	device_dirtied(&device, 1000000);
	device_orphaned(&device, 1000000, NOW + WP_MS(90));
	device_drain_orphans(&device, 10000000, NOW + WP_MS(100));
	assert_int_equal(device.orphan_bytes, 10000000);
}

TEST(orphans_leave_by_the_devices_own_statistics)
{
	struct wp_device device = { .stat_written_bytes = 5000000, .stat_ns = NOW };

	device_dirtied(&device, 3000000);
	device_orphaned(&device, 3000000, NOW);
	/* nothing new from the helper: nothing leaves, whatever the bandwidth */
	device_drain_orphans(&device, 100000000, NOW + WP_MS(50));
	assert_int_equal(device.orphan_bytes, 3000000);
	/* 1000000 written, 400000 of them known files' */
	device_dirtied(&device, 400000);
	device_completed(&device, 400000, NOW + WP_MS(80));
	device.stat_written_bytes = 6000000;
	device.stat_ns = NOW + WP_MS(100);
	device_drain_orphans(&device, 100000000, NOW + WP_MS(110));
	assert_int_equal(device.orphan_bytes, 2400000);
	assert_int_equal(device.outstanding_bytes, 2400000);
	/* a helper that has gone: by the bandwidth again */
	device_drain_orphans(&device, 1000000, NOW + WP_MS(1200));
	assert_int_equal(device.orphan_bytes, 2400000 - 1090000);
}

/* A tenth of a second in which the device wrote so much, for whomever. */
static void measured_tenth(struct wp_device *device, uint64_t *now_ns, uint64_t bytes)
{
	*now_ns += WP_MS(100);
	device->stat_written_bytes += bytes;
	device->stat_ns = *now_ns;
	device_drain_orphans(device, 10000000, *now_ns);
}

TEST(what_was_written_before_it_became_an_orphan_counts)
{
	struct wp_device device = { .stat_written_bytes = 5000000, .stat_ns = NOW };
	uint64_t now_ns = NOW;

	device_dirtied(&device, 3000000);
	measured_tenth(&device, &now_ns, 0);
	/* a killed writer's, all written by somebody's sync; a second later they are orphans */
	for (int i = 0; i < 3; i++)
		measured_tenth(&device, &now_ns, 1500000);
	for (int i = 0; i < 7; i++)
		measured_tenth(&device, &now_ns, 1);
	device_orphaned(&device, 3000000, now_ns);
	measured_tenth(&device, &now_ns, 1);
	assert_in_range(device.orphan_bytes, 0, 1200000);
	assert_true(device.outstanding_bytes == device.orphan_bytes);
}

TEST(what_was_written_long_before_does_not_count)
{
	struct wp_device device = { .stat_written_bytes = 5000000, .stat_ns = NOW };
	uint64_t now_ns = NOW;

	device_dirtied(&device, 3000000);
	measured_tenth(&device, &now_ns, 0);
	measured_tenth(&device, &now_ns, 3000000);
	/* with the helper at work, and without: nobody looked for a minute */
	for (int i = 0; i < 200; i++)
		measured_tenth(&device, &now_ns, 1);
	device_orphaned(&device, 3000000, now_ns);
	measured_tenth(&device, &now_ns, 1);
	assert_in_range(device.orphan_bytes, 2999000, 3000000);

	device = (struct wp_device){ .stat_written_bytes = 5000000, .stat_ns = NOW };
	device_dirtied(&device, 3000000);
	measured_tenth(&device, &now_ns, 0);
	now_ns += WP_SEC(60);
	device.stat_written_bytes += 100000000;
	device.stat_ns = now_ns;
	device_orphaned(&device, 3000000, now_ns);
	measured_tenth(&device, &now_ns, 1);
	assert_in_range(device.orphan_bytes, 2999000, 3000000);
}

TEST(what_nobody_confirms_is_dropped)
{
	struct wp_device device = { .stat_written_bytes = 5000000, .stat_ns = NOW };
	uint64_t now_ns = NOW;

	device_dirtied(&device, 3000000);
	device_orphaned(&device, 3000000, NOW);
	/* busy with others' files that are ours to know; at the end with nothing at all */
	for (int i = 0; i < 340; i++) {
		device_dirtied(&device, 1000000);
		device_completed(&device, 1000000, now_ns);
		measured_tenth(&device, &now_ns, 1000000);
	}
	assert_int_equal(device.orphan_bytes, 3000000);
	for (int i = 0; i < 380; i++)
		measured_tenth(&device, &now_ns, 0);
	assert_int_equal(device.orphan_bytes, 0);
	assert_int_equal(device.outstanding_bytes, 0);
	/* younger ones stay */
	device_dirtied(&device, 3000000);
	device_orphaned(&device, 3000000, now_ns);
	for (int i = 0; i < 340; i++)
		measured_tenth(&device, &now_ns, 0);
	assert_int_equal(device.orphan_bytes, 3000000);
}

TEST(orphans_leave_by_the_bandwidth_where_files_are_unseen)
{
	struct wp_device device = { .stat_written_bytes = 5000000, .stat_ns = NOW };

	device_dirtied(&device, 3000000);
	device_orphaned(&device, 3000000, NOW);
	device.unseen_ns = NOW;
	device_drain_orphans(&device, 10000000, NOW + WP_MS(100));
	assert_int_equal(device.orphan_bytes, 2000000);
	/* 35 s after the last of it, what the device says counts again */
	device.stat_ns = NOW + WP_SEC(36);
	device.orphan_ns = NOW + WP_SEC(36) - WP_MS(100);
	device_drain_orphans(&device, 10000000, NOW + WP_SEC(36));
	assert_int_equal(device.orphan_bytes, 2000000);
}

TEST(overdue_with_nothing_in_flight_is_idle)
{
	struct wp_device device = { .look_ns = NOW, .start_ns = NOW };

	device_looked(&device, true, WP_MS(20), NOW + WP_MS(20));
	assert_int_equal(device.idle_ns, 0);
	device.inflight_bytes = 4096;
	device_looked(&device, true, WP_MS(20), NOW + WP_MS(30));
	assert_int_equal(device.idle_ns, 0);
	device.inflight_bytes = 0;
	device_looked(&device, true, WP_MS(20), NOW + WP_MS(31));
	assert_int_equal(device.idle_ns, NOW + WP_MS(31));
	assert_int_equal(device.look_ns, NOW + WP_MS(31));
}

TEST(below_its_background_line_is_idle)
{
	struct wp_device device = { .look_ns = NOW,
				    .start_ns = NOW,
				    .inflight_bytes = 4096 };

	device_looked(&device, false, WP_MS(20), NOW + WP_MS(1));
	assert_int_equal(device.idle_ns, NOW + WP_MS(1));
}

TEST(unwatched_for_longer_than_patience_is_idle)
{
	struct wp_device device = { .look_ns = NOW, .inflight_bytes = 4096 };

	device_looked(&device, true, WP_MS(20), NOW + WP_MS(20));
	assert_int_equal(device.idle_ns, 0);
	device_looked(&device, true, WP_MS(20), NOW + WP_MS(40) + 1);
	assert_int_equal(device.idle_ns, NOW + WP_MS(40) + 1);
}

TEST(step_is_published)
{
	struct wp_device device = { 0 };
	struct control control;

	device_step(&device, &standard, NOW);
	device_control(&device, &control);
	assert_int_equal(control.stamp_ns, NOW);
	assert_int_equal(control.newcomer_bytes, WP_MIB(4));
	assert_int_equal(control.wall_bytes, WP_MIB(4));
	assert_int_equal(control.window.bytes, WP_KIB(64));
}

TEST(step_sees_the_devices_words)
{
	struct wp_device device = { 0 };
	struct control_sample sample = { .now_ns = NOW };
	struct control expected = { 0 };
	struct control control;

	for (int i = 0; i < 200; i++) {
		device_dirtied(&device, 150000);
		device_completed(&device, 100000, sample.now_ns);
		word_add(&device.starts, 3);
		word_add(&device.busy_starts, 1);
		sample.now_ns += WP_MS(10);
		sample.dirtied_bytes += 150000;
		sample.written_bytes += 100000;
		sample.outstanding_bytes += 50000;
		sample.starts += 3;
		sample.busy_starts += 1;
		if (i == 120)
			device.idle_ns = sample.idle_ns = sample.now_ns;
		control_step(&expected, &sample, &standard);
		device_step(&device, &standard, sample.now_ns);
	}
	device_control(&device, &control);
	assert_memory_equal(&control, &expected, sizeof(control));
}

TEST(step_waits_10_ms)
{
	struct wp_device device = { 0 };
	struct wp_device before;

	device_step(&device, &standard, NOW);
	before = device;
	device_step(&device, &standard, NOW + WP_MS(10) - 1);
	assert_memory_equal(&device, &before, sizeof(device));
	device_step(&device, &standard, NOW + WP_MS(10));
	assert_int_equal(device.control[0], NOW + WP_MS(10));
}

TEST(stamp_of_the_future_does_not_stop_the_steps)
{
	struct wp_device device = { 0 };

	device_step(&device, &standard, NOW);
	device.control[0] = NOW + 2 * STAMP_SLACK_NS;
	device_step(&device, &standard, NOW + WP_MS(10));
	assert_int_equal(device.control[0], NOW + WP_MS(10));
}

#define ON_SEGMENT(test) cmocka_unit_test_setup_teardown(test, new_segment, free_segment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_SEGMENT(number_has_one_slot),
		ON_SEGMENT(device_number_zero_is_a_device),
		ON_SEGMENT(full_table_knows_its_own_and_no_more),
		cmocka_unit_test(levels_are_never_negative_nor_beyond_belief),
		cmocka_unit_test(dirt_and_completions_add_up),
		cmocka_unit_test(orphans_stay_outstanding),
		cmocka_unit_test(orphans_leave_at_the_bandwidth),
		cmocka_unit_test(own_completions_take_the_bandwidth_first),
		cmocka_unit_test(
			orphans_are_what_the_observer_counts_and_what_came_since),
		cmocka_unit_test(files_are_not_taken_for_orphans_by_the_observers_count),
		cmocka_unit_test(an_observer_that_is_silent_for_two_seconds_is_left),
		cmocka_unit_test(
			started_orphans_that_are_gone_from_the_count_were_written),
		cmocka_unit_test(by_estimate_nothing_counts_as_written),
		cmocka_unit_test(
			started_orphans_are_in_flight_as_long_as_the_kernel_says_so),
		cmocka_unit_test(what_the_observer_still_counts_does_not_expire),
		cmocka_unit_test(completions_before_the_orphans_do_not_count),
		cmocka_unit_test(orphans_are_drained_every_10_ms_and_never_twice),
		cmocka_unit_test(orphans_end_at_zero),
		cmocka_unit_test(more_orphans_do_not_stop_the_clock),
		cmocka_unit_test(orphans_leave_by_the_devices_own_statistics),
		cmocka_unit_test(what_was_written_before_it_became_an_orphan_counts),
		cmocka_unit_test(what_was_written_long_before_does_not_count),
		cmocka_unit_test(what_nobody_confirms_is_dropped),
		cmocka_unit_test(orphans_leave_by_the_bandwidth_where_files_are_unseen),
		cmocka_unit_test(overdue_with_nothing_in_flight_is_idle),
		cmocka_unit_test(below_its_background_line_is_idle),
		cmocka_unit_test(unwatched_for_longer_than_patience_is_idle),
		cmocka_unit_test(step_is_published),
		cmocka_unit_test(step_sees_the_devices_words),
		cmocka_unit_test(step_waits_10_ms),
		cmocka_unit_test(stamp_of_the_future_does_not_stop_the_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
