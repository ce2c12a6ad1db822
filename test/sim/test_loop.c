/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the simulated disk's own count of what it wrote, and the invariants in simtask.c,
 * which are checked at every step. The engine (pace, flush, shm, core) is the shipped one; only
 * kernel, clock and disk are simulated, so every number is the same in every run.
 *
 * Bounds are what the design promises. Where the engine does not reach it today, the bound is
 * what was measured, with `Weak:` and the reason; raise it when the engine gets better.
 */
#include "../unit/unit.h"

#include <stdio.h>

#include "base/fixed.h"
#include "shm/device.h"
#include "simtask.h"

#if defined(__SANITIZE_THREAD__)
#define NO_COROUTINES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_COROUTINES 1
#endif
#endif
#ifndef NO_COROUTINES
#define NO_COROUTINES 0
#endif

/* A device capped at 10 MB/s in slices of 100 ms, as in the laboratory. */
static const struct simdisk capped = {
	.rate_bps = 10485760,
	.slice_ns = WP_MS(100),
	.medium_bps = 1000000000,
	.latency_ns = WP_US(300),
};

static void begin(const struct simdisk *disk)
{
	if (!simtask_begin(disk))
		fail_msg("no memory");
}

static int end(void **state)
{
	(void)state;
	simtask_end();
	return 0;
}

static void run(uint64_t span_ns)
{
	simtask_run(span_ns);
	if (simtask_broken)
		fail_msg("not so: %s", simtask_broken);
}

/* Run, and return what the disk wrote meanwhile, in thousandths of what it can. */
static uint64_t busy_pm(uint64_t span_ns)
{
	uint64_t before_bytes = simkernel.disk.done_bytes;

	run(span_ns);
	return mul_div(simkernel.disk.done_bytes - before_bytes, 1000,
		       ns_to_bytes(span_ns, simkernel.disk.rate_bps));
}

static void assert_at_least(uint64_t value, uint64_t least)
{
	print_message("# %llu, at least %llu\n", (unsigned long long)value,
		      (unsigned long long)least);
	assert_true(value >= least);
}

static void assert_at_most(uint64_t value, uint64_t most)
{
	print_message("# %llu, at most %llu\n", (unsigned long long)value,
		      (unsigned long long)most);
	assert_true(value <= most);
}

static struct control control_now(void)
{
	struct control control;

	simtask_control(&control);
	return control;
}

/* Jain's index of @count shares, in thousandths: 1000 = all equal, 1000 / count = one has all. */
static uint64_t fairness_pm(const uint64_t *shares, unsigned count)
{
	double sum = 0;
	double squares = 0;

	for (unsigned i = 0; i < count; i++) {
		sum += (double)shares[i];
		squares += (double)shares[i] * (double)shares[i];
	}
	return squares > 0 ? (uint64_t)(1000 * sum * sum / (count * squares)) : 0;
}

/* Seconds until avg_bps is within a fifth of the device's speed; @most when it is not by then. */
static unsigned seconds_to_learn(unsigned most)
{
	for (unsigned seconds = 0; seconds < most; seconds++) {
		uint64_t rate_bps = simkernel.disk.rate_bps;
		uint64_t known_bps = control_now().bandwidth.avg_bps;

		if (known_bps >= rate_bps - rate_bps / 5 &&
		    known_bps <= rate_bps + rate_bps / 5)
			return seconds;
		run(WP_SEC(1));
	}
	return most;
}

/* -------------------------------------------------------------------- one writer -- */

TEST(one_writer_keeps_a_capped_device_busy)
{
	begin(&capped);
	simtask_add(WP_MIB(1), 0);
	run(WP_SEC(10));
	assert_at_least(busy_pm(WP_SEC(30)), 970);
	assert_near(control_now().bandwidth.avg_bps, 10485760, 524288);
	/* and nobody waits behind more of ours than the latency target: 50 ms of it */
	assert_at_most(simtask_range.flight_bytes, 524288);
}

TEST(one_writer_begins_on_an_unknown_capped_device)
{
	begin(&capped);
	simtask_add(WP_MIB(1), 0);
	assert_at_least(busy_pm(WP_SEC(2)), 970);
	/* a new device has been given no more than this before anything was known of it */
	assert_at_most(simtask_range.outstanding_bytes, WP_MIB(16));
}

TEST(one_writer_keeps_a_device_that_needs_depth_busy)
{
	static const struct simdisk disk = { .rate_bps = 200000000,
					     .latency_ns = WP_MS(1) };

	begin(&disk);
	simtask_add(WP_MIB(1), 0);
	run(WP_SEC(5));
	/* 200 KB at least have to be in flight all the time */
	assert_at_least(control_now().window.kept_bytes, 200000);
	assert_at_least(busy_pm(WP_SEC(30)), 970);
	/* though no more than four times that */
	assert_at_most(simtask_range.flight_bytes, WP_MIB(1));
}

TEST(one_writer_keeps_a_capped_device_that_needs_depth_busy)
{
	static const struct simdisk disk = {
		.rate_bps = 200000000,
		.slice_ns = WP_MS(100),
		.medium_bps = 2000000000,
		.latency_ns = WP_MS(1),
	};

	begin(&disk);
	simtask_add(WP_MIB(1), 0);
	run(WP_SEC(20));
	assert_at_least(busy_pm(WP_SEC(60)), 970);
}

TEST(one_writer_keeps_a_fast_device_busy)
{
	static const struct simdisk disk = { .rate_bps = 2000000000,
					     .latency_ns = WP_US(100) };

	begin(&disk);
	simtask_add(WP_MIB(1), 0);
	run(WP_SEC(5));
	assert_at_least(busy_pm(WP_SEC(20)), 970);
}

/* ---------------------------------------------------------------- several writers -- */

static void assert_fair(unsigned writers, uint64_t warm_up_ns, uint64_t least_busy_pm,
			uint64_t least_fair_pm)
{
	struct simtask *tasks[SIM_FILES];
	uint64_t shares[SIM_FILES];

	for (unsigned i = 0; i < writers; i++)
		tasks[i] = simtask_add(WP_MIB(1), 0);
	run(warm_up_ns);
	for (unsigned i = 0; i < writers; i++)
		shares[i] = tasks[i]->written_bytes;
	assert_at_least(busy_pm(WP_SEC(30)), least_busy_pm);
	for (unsigned i = 0; i < writers; i++)
		shares[i] = tasks[i]->written_bytes - shares[i];
	assert_at_least(fairness_pm(shares, writers), least_fair_pm);
}

TEST(two_writers_share_a_capped_device)
{
	begin(&capped);
	assert_fair(2, WP_SEC(10), 970, 950);
}

TEST(two_writers_share_an_even_device)
{
	static const struct simdisk disk = { .rate_bps = 10485760,
					     .latency_ns = WP_US(300) };

	begin(&disk);
	assert_fair(2, WP_SEC(10), 970, 990);
}

TEST(ten_writers_share_a_known_device)
{
	begin(&capped);
	simtask_add(WP_MIB(1), 0);
	run(WP_SEC(10));
	assert_fair(9, WP_SEC(10), 970, 950);
}

TEST(ten_writers_begin_together_on_an_unknown_device)
{
	begin(&capped);
	assert_fair(10, WP_SEC(10), 970, 990);
}

TEST(slow_writer_beside_a_fast_one_is_not_slept)
{
	struct simtask *slow;
	uint64_t before_ns;

	begin(&capped);
	simtask_add(WP_MIB(1), 0);
	slow = simtask_add(WP_KIB(16), 1000000);
	run(WP_SEC(5));
	before_ns = slow->paced_ns;
	run(WP_SEC(5));
	assert_at_most(slow->paced_ns - before_ns, WP_MS(100));
}

TEST(slow_writer_beside_a_fast_one_leaves_the_device_busy)
{
	struct simtask *slow;

	begin(&capped);
	simtask_add(WP_MIB(1), 0);
	slow = simtask_add(WP_KIB(16), 1000000);
	run(WP_SEC(20));
	assert_at_least(busy_pm(WP_SEC(30)), 970);
	assert_at_least(slow->written_bytes, 30000000);
}

/* ------------------------------------------------------------------------- changes -- */

TEST(burst_after_idling_finds_what_was_learned)
{
	struct simtask *task;
	uint64_t known_bps;

	begin(&capped);
	task = simtask_add(WP_MIB(1), 0);
	task->rest_from_ns = simkernel.now_ns + WP_SEC(20);
	task->rest_until_ns = task->rest_from_ns + WP_SEC(30);
	run(WP_SEC(20));
	known_bps = control_now().bandwidth.avg_bps;
	run(WP_SEC(30));
	/* what ended just then may still be taken in */
	assert_near(control_now().bandwidth.avg_bps, known_bps, known_bps / 100);
	simtask_range = (struct simtask_range){ 0 };
	assert_at_least(busy_pm(WP_SEC(10)), 970);
	assert_at_most(simtask_range.outstanding_bytes, 11000000);
}

TEST(stalled_device_lets_go_after_5_s_and_recovers)
{
	struct simtask *task;
	uint64_t written_bytes;

	begin(&capped);
	task = simtask_add(WP_MIB(1), 0);
	run(WP_SEC(10));
	simkernel.disk.stall_until_ns = simkernel.now_ns + WP_SEC(10);
	run(WP_SEC(3));
	written_bytes = task->written_bytes;
	run(WP_SEC(5));
	/* held, but not for ever */
	assert_true(task->written_bytes > written_bytes);
	assert_at_most(task->longest_ns, WP_MS(5300));
	assert_at_least(task->longest_ns, WP_SEC(5));
	run(WP_SEC(2));
	assert_at_most(seconds_to_learn(30), 2);
	assert_at_least(busy_pm(WP_SEC(10)), 950);
}

TEST(device_that_becomes_ten_times_slower_is_followed)
{
	static const struct simdisk disk = {
		.rate_bps = 100000000,
		.slice_ns = WP_MS(100),
		.medium_bps = 2000000000,
		.latency_ns = WP_US(300),
	};
	struct simtask *task;
	unsigned seconds = 0;

	begin(&disk);
	task = simtask_add(WP_MIB(1), 0);
	run(WP_SEC(20));
	simkernel.disk.rate_bps = 10000000;
	/* what is outstanding has to be written, too: 75 MB are 7.5 s of the slow device */
	while (simkernel.outstanding_bytes > 20000000 && seconds++ < 30)
		run(WP_SEC(1));
	assert_at_most(seconds, 10);
	assert_at_most(seconds_to_learn(30), 1);
	assert_at_least(busy_pm(WP_SEC(10)), 970);
	/* 250 ms and a megabyte */
	assert_at_most(task->longest_ns, WP_MS(360));
}

TEST(device_that_becomes_ten_times_faster_is_followed)
{
	static const struct simdisk disk = {
		.rate_bps = 10000000,
		.slice_ns = WP_MS(100),
		.medium_bps = 2000000000,
		.latency_ns = WP_US(300),
	};

	begin(&disk);
	simtask_add(WP_MIB(1), 0);
	run(WP_SEC(20));
	simkernel.disk.rate_bps = 100000000;
	assert_at_most(seconds_to_learn(40), 10);
	assert_at_least(busy_pm(WP_SEC(10)), 900);
}

/* ------------------------------------------------------------------- the user's rate -- */

TEST(users_rate_holds_one_writer)
{
	static const struct simdisk disk = { .rate_bps = 100000000,
					     .latency_ns = WP_US(300) };

	begin(&disk);
	simtask_process.conf.rate_bps = 2000000;
	simtask_add(WP_MIB(1), 0);
	run(WP_SEC(5));
	/* thousandths of 100 MB/s */
	assert_near(busy_pm(WP_SEC(20)), 20, 1);
}

TEST(users_rate_holds_two_writers)
{
	static const struct simdisk disk = { .rate_bps = 100000000,
					     .latency_ns = WP_US(300) };

	begin(&disk);
	simtask_process.conf.rate_bps = 2000000;
	simtask_add(WP_MIB(1), 0);
	simtask_add(WP_MIB(1), 0);
	run(WP_SEC(5));
	assert_near(busy_pm(WP_SEC(20)), 20, 1);
}

/* ------------------------------------------------------------ the user's limits -- */

static const struct simdisk even_100 = { .rate_bps = 100000000,
					 .latency_ns = WP_US(300) };

TEST(limit_that_falls_stops_nobody)
{
	struct simtask *task;

	begin(&even_100);
	task = simtask_add(WP_MIB(1), 0);
	run(WP_SEC(20));
	simtask_process.conf.limit_bytes = 20000000;
	task->longest_ns = 0;
	for (int second = 0; second < 5; second++) {
		uint64_t before_bytes = task->written_bytes;

		run(WP_SEC(1));
		/* a quarter of the rate is left to it */
		assert_at_least(task->written_bytes - before_bytes, 10000000);
	}
	assert_at_most(task->longest_ns, WP_MS(220));
	assert_at_most(simkernel.outstanding_bytes, 20000000 + WP_KIB(512));
	assert_at_least(busy_pm(WP_SEC(10)), 970);
}

/* The most outstanding in a second, from what the disk's kernel counts. */
static uint64_t peak_bytes(void)
{
	uint64_t most_bytes = 0;

	for (int i = 0; i < 1000; i++) {
		run(WP_MS(1));
		most_bytes = max_u64(most_bytes, simkernel.outstanding_bytes);
	}
	return most_bytes;
}

static void set_device(const struct conf_device *setting)
{
	simtask_process.conf.devices =
		(struct conf_devices){ .count = 1, .list = { *setting } };
}

static const struct conf_device two_mib = {
	.number = SIM_DEVICE,
	.max_ratio_ppm = 1000000,
	.max_bytes = WP_MIB(2),
};

TEST(setting_of_a_device_is_found_by_its_number)
{
	begin(&even_100);
	set_device(&two_mib);
	simtask_add(WP_MIB(1), 0);
	assert_at_most(peak_bytes(), WP_MIB(2) + WP_KIB(512));
	assert_at_least(busy_pm(WP_SEC(10)), 970);
}

TEST(setting_of_another_device_is_not_taken)
{
	struct conf_device setting = two_mib;

	begin(&even_100);
	setting.number = SIM_DEVICE + 1;
	set_device(&setting);
	simtask_process.conf.devices.list[0].max_bytes = 0; /* for the invariant */
	setting.max_bytes = WP_MIB(2);
	simtask_process.conf.devices.list[1] = setting;
	simtask_process.conf.devices.count = 2;
	simtask_add(WP_MIB(1), 0);
	assert_at_least(peak_bytes(), WP_MIB(3));
}

/* What the helper does with a partition. */
static int merge_into(uint64_t number)
{
	struct wp_segment *map = simtask_process.segment.map;
	int real = device_slot(map, number);

	map->devices[device_slot(map, SIM_DEVICE)].alias = (uint64_t)real + 1;
	return real;
}

TEST(setting_is_found_by_the_number_of_the_real_device_and_by_the_files_own)
{
	for (uint64_t own = 0; own < 2; own++) {
		struct conf_device setting = two_mib;

		begin(&even_100);
		merge_into(SIM_DEVICE + 1);
		setting.number = own ? SIM_DEVICE : SIM_DEVICE + 1;
		set_device(&setting);
		simtask_add(WP_MIB(1), 0);
		assert_at_most(peak_bytes(), WP_MIB(2) + WP_KIB(512));
		if (!own)
			simtask_end();
	}
}

TEST(given_bandwidth_gives_a_new_device_its_limit_at_once)
{
	struct conf_device setting = {
		.number = SIM_DEVICE,
		.max_ratio_ppm = 1000000,
		.bandwidth_bps = 30000000,
	};

	begin(&even_100);
	set_device(&setting);
	simtask_add(WP_MIB(1), 0);
	/* 22.5 MB in no time, and no 100 of what it can before that is measured */
	run(WP_MS(20));
	assert_at_least(simkernel.outstanding_bytes, 18000000);
	run(WP_MS(400));
	assert_at_most(simtask_range.outstanding_bytes, 30000000);
	/* then what is measured counts */
	assert_at_most(seconds_to_learn(10), 5);
}

TEST(burst_on_a_known_device_goes_to_its_credit_and_no_second_one_follows)
{
	struct simtask *task;

	begin(&capped);
	task = simtask_add(WP_MIB(1), 0);
	run(WP_SEC(10));
	simtask_process.conf.burst_bytes = 24000000;
	run(WP_MS(100));
	assert_at_least(simkernel.outstanding_bytes, 32000000);
	assert_at_most(simkernel.outstanding_bytes, 10485760 + 24000000 + WP_MIB(1));
	/* back to the limit within 24 MB / three quarters of 10 MB/s, never stopped */
	run(WP_SEC(5));
	assert_at_most(simkernel.outstanding_bytes, 10485760);
	assert_at_most(task->longest_ns, WP_MS(220));
	simtask_range = (struct simtask_range){ 0 };
	assert_at_least(busy_pm(WP_SEC(30)), 970);
	assert_at_most(simtask_range.outstanding_bytes, 10485760);
}

#define IN_WORLD(test) cmocka_unit_test_teardown(test, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(one_writer_keeps_a_capped_device_busy),
		IN_WORLD(one_writer_begins_on_an_unknown_capped_device),
		IN_WORLD(one_writer_keeps_a_device_that_needs_depth_busy),
		IN_WORLD(one_writer_keeps_a_capped_device_that_needs_depth_busy),
		IN_WORLD(one_writer_keeps_a_fast_device_busy),
		IN_WORLD(two_writers_share_a_capped_device),
		IN_WORLD(two_writers_share_an_even_device),
		IN_WORLD(ten_writers_share_a_known_device),
		IN_WORLD(ten_writers_begin_together_on_an_unknown_device),
		IN_WORLD(slow_writer_beside_a_fast_one_is_not_slept),
		IN_WORLD(slow_writer_beside_a_fast_one_leaves_the_device_busy),
		IN_WORLD(burst_after_idling_finds_what_was_learned),
		IN_WORLD(stalled_device_lets_go_after_5_s_and_recovers),
		IN_WORLD(device_that_becomes_ten_times_slower_is_followed),
		IN_WORLD(device_that_becomes_ten_times_faster_is_followed),
		IN_WORLD(users_rate_holds_one_writer),
		IN_WORLD(users_rate_holds_two_writers),
		IN_WORLD(limit_that_falls_stops_nobody),
		IN_WORLD(setting_of_a_device_is_found_by_its_number),
		IN_WORLD(setting_of_another_device_is_not_taken),
		IN_WORLD(
			setting_is_found_by_the_number_of_the_real_device_and_by_the_files_own),
		IN_WORLD(given_bandwidth_gives_a_new_device_its_limit_at_once),
		IN_WORLD(
			burst_on_a_known_device_goes_to_its_credit_and_no_second_one_follows),
	};

	if (NO_COROUTINES) {
		puts("1..0 # SKIP the thread sanitizer does not know coroutines");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
