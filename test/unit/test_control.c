/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: what core/control.h and design section 6 say happens when: numbers and times by hand.
 * A device is busy as long as nobody saw it idle since the step before.
 */
#include "unit.h"

#include "core/control.h"

#define BEGIN_NS WP_SEC(1000)

static const struct bounds standard = {
	.drain_ns = WP_SEC(1),
	.latency_ns = WP_MS(50),
	.background_pm = 500,
};

struct device {
	struct control control;
	struct control_sample sample;
	struct bounds bounds;
};

static void step(struct device *device)
{
	control_step(&device->control, &device->sample, &device->bounds);
}

/* Step every 10 ms for @span_ns; the device writes @rate_bps and is busy, or idle at 0. */
static void run(struct device *device, uint64_t span_ns, uint64_t rate_bps)
{
	for (uint64_t i = 0; i < span_ns / WP_MS(10); i++) {
		device->sample.now_ns += WP_MS(10);
		device->sample.written_bytes += rate_bps / 100;
		device->sample.dirtied_bytes += rate_bps / 100;
		if (!rate_bps)
			device->sample.idle_ns = device->sample.now_ns;
		step(device);
	}
}

static struct device newcomer(void)
{
	struct device device = { .sample = { .now_ns = BEGIN_NS }, .bounds = standard };

	step(&device);
	return device;
}

/* Known at @rate_bps, and in use until now. */
static struct device known(uint64_t rate_bps)
{
	struct device device = newcomer();

	run(&device, WP_SEC(1), rate_bps);
	assert_int_equal(device.control.bandwidth.avg_bps, rate_bps);
	return device;
}

static uint64_t limit_of(const struct device *device)
{
	return control_limit_bytes(&device->control, &device->bounds);
}

TEST(newcomer_begins_small)
{
	struct device device = newcomer();

	assert_int_equal(limit_of(&device), WP_MIB(4));
	assert_int_equal(device.control.wall_bytes, WP_MIB(4));
	assert_int_equal(device.control.ratelimit.base_bps, WP_MIB(100));
	assert_int_equal(device.control.bandwidth.avg_bps, 0);
	assert_int_equal(device.control.window.bytes, WP_KIB(64));
	assert_int_equal(control_background_bytes(WP_MIB(4), &standard), WP_MIB(2));
}

TEST(first_bandwidth_stands_after_500_ms_of_busy_time)
{
	struct device device = newcomer();

	run(&device, WP_MS(490), 10000000);
	assert_int_equal(device.control.bandwidth.avg_bps, 0);
	assert_int_equal(device.control.bandwidth.last_bps, 10000000);
	run(&device, WP_MS(10), 10000000);
	assert_int_equal(device.control.bandwidth.avg_bps, 10000000);
	assert_int_equal(limit_of(&device), 10000000);
}

TEST(first_bandwidth_takes_the_base_rate_along)
{
	struct device device = newcomer();

	run(&device, WP_MS(490), 10000000);
	assert_int_equal(device.control.ratelimit.base_bps, WP_MIB(100));
	run(&device, WP_MS(10), 10000000);
	assert_int_equal(device.control.ratelimit.base_bps, 10000000);
}

TEST(idle_time_is_no_part_of_the_first_500_ms)
{
	struct device device = newcomer();

	run(&device, WP_MS(400), 10000000);
	run(&device, WP_SEC(5), 0);
	run(&device, WP_MS(490), 20000000);
	assert_int_equal(device.control.bandwidth.avg_bps, 0);
	run(&device, WP_MS(20), 20000000);
	assert_int_equal(device.control.bandwidth.avg_bps, 20000000);
}

TEST(idle_keeps_the_bandwidth)
{
	struct device device = known(10000000);

	run(&device, WP_SEC(100), 0);
	assert_int_equal(device.control.bandwidth.avg_bps, 10000000);
	assert_int_equal(limit_of(&device), 10000000);
	/* the same without a single step in between */
	device.sample.now_ns += WP_SEC(3600);
	device.sample.idle_ns = device.sample.now_ns;
	step(&device);
	assert_int_equal(device.control.bandwidth.avg_bps, 10000000);
}

TEST(busy_and_slower_is_followed)
{
	struct device device = known(10000000);

	run(&device, WP_SEC(20), 1000000);
	assert_near(device.control.bandwidth.avg_bps, 1000000, 100000);
}

TEST(newcomer_grows_when_it_swallows_its_limit_in_100_ms)
{
	struct device device = newcomer();

	/* 4 MiB in 10 ms: 8; the next 8 in 20 ms: 16 */
	run(&device, WP_MS(10), WP_MIB(400));
	assert_int_equal(limit_of(&device), WP_MIB(8));
	run(&device, WP_MS(20), WP_MIB(400));
	assert_int_equal(limit_of(&device), WP_MIB(16));
}

TEST(newcomer_of_42_mib_per_second_grows_once)
{
	struct device device = newcomer();

	run(&device, WP_MS(90), WP_MIB(42));
	assert_int_equal(limit_of(&device), WP_MIB(8));
	run(&device, WP_MS(390), WP_MIB(42));
	assert_int_equal(limit_of(&device), WP_MIB(8));
}

TEST(newcomer_that_takes_longer_does_not_grow)
{
	struct device device = newcomer();

	run(&device, WP_MS(490), WP_MIB(35));
	assert_int_equal(limit_of(&device), WP_MIB(4));
}

TEST(base_rate_moves_every_200_ms)
{
	struct device device = known(10000000);
	uint64_t base_bps = device.control.ratelimit.base_bps;
	uint64_t stamp_ns = device.control.base_stamp_ns;

	/* over the setpoint, and two writers: twice the dirt */
	device.sample.outstanding_bytes = 9000000;
	device.control.ratelimit.balanced_bps = 5000000;
	while (device.sample.now_ns + WP_MS(10) < stamp_ns + WP_MS(200)) {
		device.sample.dirtied_bytes += 100000;
		run(&device, WP_MS(10), 10000000);
		assert_int_equal(device.control.ratelimit.base_bps, base_bps);
	}
	device.sample.dirtied_bytes += 100000;
	run(&device, WP_MS(10), 10000000);
	assert_true(device.control.ratelimit.base_bps < base_bps);
}

TEST(base_rate_is_not_judged_by_a_long_silence)
{
	struct device device = known(10000000);
	uint64_t base_bps = device.control.ratelimit.base_bps = 5000000;

	device.control.ratelimit.balanced_bps = 10000000;
	device.sample.now_ns += WP_SEC(4);
	device.sample.idle_ns = device.sample.now_ns;
	step(&device);
	assert_int_equal(device.control.ratelimit.base_bps, base_bps);
	assert_int_equal(device.control.base_stamp_ns, device.sample.now_ns);
}

TEST(users_rate_of_one_leaves_the_others_state_alone)
{
	struct device device = known(10000000);
	struct device other = device;

	device.bounds.rate_bps = 2000000;
	run(&device, WP_SEC(10), 10000000);
	run(&other, WP_SEC(10), 10000000);
	assert_memory_equal(&device.control, &other.control, sizeof(other.control));
}

TEST(wall_follows_a_falling_limit_gently)
{
	struct device device = known(100000000);

	assert_int_equal(device.control.wall_bytes, 100000000);
	device.bounds.ceiling_bytes = 36000000;
	device.sample.outstanding_bytes = 90000000;
	/* one step every 200 ms */
	run(&device, WP_MS(200), 100000000);
	/* 100000000 - 10000000 / 32 */
	assert_int_equal(device.control.wall_bytes, 99687500);
	device.sample.outstanding_bytes = 0;
	run(&device, WP_SEC(120), 100000000);
	assert_near(device.control.wall_bytes, 36000000, 32);
}

TEST(window_is_no_more_than_the_latency_target_allows)
{
	struct device device = known(10000000);

	for (int i = 0; i < 3000; i++) {
		run(&device, WP_MS(10), 10000000);
		assert_true(device.control.window.bytes <= 500000);
		assert_true(device.control.window.bytes >= WP_KIB(64));
	}
}

TEST(device_that_becomes_slow_is_known_to_be_within_half_a_second)
{
	struct device device = known(100000000);
	uint64_t base_bps = device.control.ratelimit.base_bps;

	run(&device, WP_MS(700), 10000000);
	assert_near(device.control.bandwidth.avg_bps, 10000000, 1000000);
	/* the base rate goes with it */
	assert_true(device.control.ratelimit.base_bps <= base_bps / 9);
}

TEST(half_as_fast_is_left_to_the_filters)
{
	struct device device = known(100000000);

	run(&device, WP_MS(700), 51000000);
	assert_true(device.control.bandwidth.avg_bps > 80000000);
}

TEST(one_slow_moment_is_no_fall)
{
	struct device device = known(100000000);

	for (int i = 0; i < 10; i++) {
		run(&device, WP_MS(250), 10000000);
		run(&device, WP_MS(600), 100000000);
	}
	assert_true(device.control.bandwidth.avg_bps > 50000000);
}

TEST(stall_is_no_fall)
{
	struct device device = known(100000000);

	for (int i = 0; i < 90; i++) {
		device.sample.now_ns += WP_MS(10);
		step(&device);
	}
	assert_int_equal(device.control.bandwidth.avg_bps, 100000000);
}

TEST(pause_of_a_card_is_no_fall)
{
	struct device device = known(10000000);

	run(&device, WP_MS(900), 200000);
	run(&device, WP_SEC(1), 10000000);
	assert_true(device.control.bandwidth.avg_bps > 7500000);
	/* but what goes on is one */
	run(&device, WP_MS(1400), 200000);
	assert_near(device.control.bandwidth.avg_bps, 200000, 200000);
}

TEST(first_bandwidth_is_not_that_of_a_pause)
{
	struct device device = newcomer();

	/* 4 MB/s, and idle in between */
	for (int i = 0; i < 220; i++) {
		run(&device, WP_MS(10), 4000000);
		device.sample.idle_ns = device.sample.now_ns;
	}
	assert_int_equal(device.control.bandwidth.avg_bps, 0);
	run(&device, WP_MS(520), 200000);
	assert_in_range(device.control.bandwidth.avg_bps, 3000000, 4000000);
}

/* Known to a percent, and others are there. */
static struct device held(void)
{
	struct device device = known(10000000);

	run(&device, WP_SEC(4), 10000000);
	assert_int_equal(device.control.speed.bps, 10000000);
	device.bounds.headroom_pm = 40;
	run(&device, WP_MS(10), 10000000);
	return device;
}

TEST(headroom_spreads_units_below_the_speed)
{
	struct device device = held();

	assert_int_equal(device.control.held_bps, 9600000);
	/* 64 KiB at 0.96 of 10 MB/s */
	assert_int_equal(control_interval_ns(&device.control), 6826666);
	device.bounds.headroom_pm = 0;
	run(&device, WP_MS(10), 10000000);
	assert_true(control_interval_ns(&device.control) < 6300000);
}

TEST(headroom_gives_way_to_what_others_write)
{
	struct device device = held();

	device.sample.others_bps = 6000000;
	run(&device, WP_MS(10), 3600000);
	assert_int_equal(device.control.held_bps, 3600000);
	/* those who take all that there is leave a sixteenth */
	device.sample.others_bps = 9500000;
	run(&device, WP_MS(10), 625000);
	assert_int_equal(device.control.held_bps, 625000);
}

TEST(headroom_limits_to_a_few_windows)
{
	struct device device = held();

	assert_int_equal(limit_of(&device), LIMITS_ROOM_BYTES);
	device.control.window.kept_bytes = WP_MIB(1);
	assert_int_equal(limit_of(&device), WP_MIB(4));
}

TEST(headroom_waits_until_the_speed_is_known)
{
	struct device device = known(10000000);

	device.bounds.headroom_pm = 40;
	run(&device, WP_MS(500), 10000000);
	assert_int_equal(device.control.held_bps, 0);
	run(&device, WP_SEC(4), 10000000);
	assert_int_equal(device.control.held_bps, 9600000);
}

TEST(headroom_leaves_what_is_known_alone)
{
	struct device device = held();

	/* no start finds it busy: what completes is what it was given */
	for (int i = 0; i < 1000; i++) {
		device.sample.starts++;
		run(&device, WP_MS(10), 9600000);
	}
	assert_int_equal(device.control.speed.bps, 10000000);
	assert_near(device.control.bandwidth.avg_bps, 10000000, 100);
	assert_int_equal(device.control.spacing.gain_q10, SPACING_GAIN_Q10);
}

TEST(headroom_follows_a_device_that_is_slower_than_that)
{
	struct device device = held();

	run(&device, WP_SEC(6), 8000000);
	assert_near(device.control.speed.bps, 8000000, 100000);
	run(&device, WP_SEC(6), 1000000);
	assert_near(device.control.speed.bps, 1000000, 20000);
}

TEST(headroom_takes_a_writer_that_wants_less_for_no_slower_device)
{
	struct device device = held();

	for (int i = 0; i < 1000; i++) {
		device.sample.idle_ns = device.sample.now_ns + 1;
		run(&device, WP_MS(10), 4000000);
	}
	assert_int_equal(device.control.speed.bps, 10000000);
}

/* Little completes as little was started in time; the device had done all before. */
TEST(headroom_takes_late_starts_for_no_slower_device)
{
	struct device device = held();

	for (uint64_t i = 0; i < 1000; i++) {
		device.sample.late_ns += WP_MS(6);
		run(&device, WP_MS(10), 4000000);
	}
	assert_int_equal(device.control.speed.bps, 10000000);
	/* it was given six tenths, and took four */
	for (uint64_t i = 0; i < 1000; i++) {
		device.sample.late_ns += WP_MS(4);
		run(&device, WP_MS(10), 4000000);
	}
	assert_near(device.control.speed.bps, 4000000, 100000);
}

TEST(window_shrinks_to_the_latency_target_at_once)
{
	struct device device = known(10000000);

	device.control.window.bytes = device.control.window.kept_bytes = WP_MIB(1);
	device.bounds.latency_ns = WP_MS(10);
	run(&device, WP_MS(10), 10000000);
	assert_int_equal(device.control.window.bytes, 100000);
	assert_int_equal(device.control.window.kept_bytes, 100000);
}

TEST(window_is_not_judged_while_the_device_is_idle)
{
	struct device device = newcomer();

	for (int i = 0; i < 100; i++) {
		device.sample.idle_ns = device.sample.now_ns + 1;
		run(&device, WP_MS(10), 10000000);
	}
	assert_int_equal(device.control.window.phase, WINDOW_START);
	assert_int_equal(device.control.window.kept_bps, 0);
}

TEST(units_that_find_the_device_free_are_spread_less)
{
	struct device device = known(10000000);

	for (int i = 0; i < 26; i++) {
		device.sample.starts++;
		run(&device, WP_MS(10), 10000000);
	}
	assert_int_equal(device.control.spacing.gain_q10, 1280);
	device.sample.busy_starts++;
	run(&device, WP_MS(260), 10000000);
	assert_int_equal(device.control.spacing.gain_q10, 1088);
}

TEST(larger_window_that_pays_raises_the_bandwidth_at_once)
{
	struct device device = known(10000000);

	while (device.control.window.phase != WINDOW_UP)
		run(&device, WP_MS(10), 10000000);
	/* 1.15 times as much comes through at twice the window */
	for (int i = 0; i < 100 && device.control.window.phase == WINDOW_UP; i++)
		run(&device, WP_MS(10), 11500000);
	assert_int_equal(device.control.window.phase, WINDOW_HOLD);
	assert_int_equal(device.control.bandwidth.avg_bps, 11500000);
	assert_int_equal(limit_of(&device), 11500000);
}

TEST(units_are_not_spread_before_bandwidth_is_known)
{
	struct device device = newcomer();

	run(&device, WP_MS(50), 10000000);
	assert_int_equal(device.control.window.phase, WINDOW_START);
	assert_int_equal(device.control.bandwidth.last_bps, 10000000);
	assert_int_equal(control_interval_ns(&device.control), 0);
	run(&device, WP_MS(300), 10000000);
	/* Why not by the first impression: it would only show what it leads to. */
	assert_int_equal(device.control.window.phase, WINDOW_HOLD);
	assert_int_equal(device.control.bandwidth.avg_bps, 0);
	assert_int_equal(control_interval_ns(&device.control), 0);
	run(&device, WP_MS(300), 10000000);
	/* 64 KiB at 17 / 16 of what is known then: 10.6 MB/s */
	assert_int_equal(control_interval_ns(&device.control), 6168094);
}

TEST(units_are_quicker_while_a_larger_window_is_tried)
{
	struct device device = known(10000000);

	while (device.control.window.phase != WINDOW_UP)
		run(&device, WP_MS(10), 10000000);
	/* 64 KiB at 12.5 MB/s */
	assert_int_equal(control_interval_ns(&device.control), 5242880);
}

/* ------------------------------------------------------------------- bursts ---- */

/* A credit of 24 MB above the 10 MB of a known device. */
static struct device with_burst(void)
{
	struct device device = known(10000000);

	device.bounds.burst_bytes = 24000000;
	return device;
}

static uint64_t credit_of(const struct device *device, uint64_t outstanding_bytes)
{
	return control_credit_bytes(&device->control, &device->bounds, outstanding_bytes);
}

TEST(credit_needs_a_device_that_is_known)
{
	struct device device = newcomer();

	device.bounds.burst_bytes = 24000000;
	assert_int_equal(credit_of(&device, 0), 0);
	device = with_burst();
	assert_int_equal(credit_of(&device, 0), 24000000);
}

TEST(credit_ends_where_ceilings_do)
{
	struct device device = with_burst();

	device.bounds.max_bytes = 15000000;
	assert_int_equal(credit_of(&device, 0), 5000000);
	device.bounds.kernel_bytes = 13000000;
	assert_int_equal(credit_of(&device, 0), 3000000);
	device.bounds.ceiling_bytes = 9000000;
	assert_int_equal(credit_of(&device, 0), 0);
}

TEST(credit_shrinks_under_memory_pressure)
{
	struct device device = with_burst();

	device.bounds.pressure_q10 = 256;
	assert_int_equal(credit_of(&device, 0), 6000000);
}

TEST(credit_is_none_under_a_users_rate)
{
	struct device device = with_burst();

	device.bounds.rate_bps = 10000000;
	assert_int_equal(credit_of(&device, 0), 0);
}

TEST(burst_raises_the_wall_and_its_end_brings_it_down_gently)
{
	struct device device = with_burst();
	uint64_t wall_bytes;

	device.sample.outstanding_bytes = 9000000;
	run(&device, WP_MS(10), 10000000);
	assert_int_equal(device.control.wall_bytes, 10000000);
	/* the whole of it between two steps */
	device.sample.outstanding_bytes = 34000000;
	run(&device, WP_MS(10), 10000000);
	assert_int_equal(credit_of(&device, 34000000), 0);
	assert_int_equal(device.control.wall_bytes, 34000000);
	/* a quarter of the rate all the way down, and never above what is there */
	for (uint64_t bytes = 34000000; bytes > 10000000; bytes -= 75000) {
		wall_bytes = device.control.wall_bytes;
		device.sample.outstanding_bytes = bytes;
		run(&device, WP_MS(10), 10000000);
		assert_in_range(device.control.wall_bytes, bytes, wall_bytes);
	}
	assert_int_equal(credit_of(&device, 10000000), 0);
}

TEST(burst_leaves_the_base_rate_alone)
{
	struct device device = with_burst();
	uint64_t base_bps = device.control.ratelimit.base_bps;

	/* 100 MB/s come in for a second: up to 100 MB */
	device.bounds.burst_bytes = 100000000;
	device.sample.outstanding_bytes = 10000000;
	for (int i = 0; i < 100; i++) {
		device.sample.outstanding_bytes += 900000;
		device.sample.dirtied_bytes += 900000;
		run(&device, WP_MS(10), 10000000);
	}
	assert_int_equal(device.control.ratelimit.base_bps, base_bps);
	assert_int_equal(credit_of(&device, 100000000), 10000000);
}

/* ---------------------------------------------------- settings of one device ---- */

TEST(given_bandwidth_counts_from_the_first_byte)
{
	struct device device = { .sample = { .now_ns = BEGIN_NS }, .bounds = standard };

	device.bounds.bandwidth_bps = 20000000;
	step(&device);
	assert_int_equal(limit_of(&device), 20000000);
	assert_int_equal(device.control.wall_bytes, 20000000);
	assert_int_equal(device.control.ratelimit.base_bps, 20000000);
}

TEST(first_measured_bandwidth_takes_the_place_of_the_given_one)
{
	struct device device = { .sample = { .now_ns = BEGIN_NS }, .bounds = standard };

	device.bounds.bandwidth_bps = 20000000;
	step(&device);
	run(&device, WP_MS(490), 5000000);
	assert_int_equal(limit_of(&device), 20000000);
	run(&device, WP_MS(10), 5000000);
	assert_int_equal(limit_of(&device), 5000000);
	assert_int_equal(device.control.ratelimit.base_bps, 5000000);
	run(&device, WP_SEC(10), 5000000);
	assert_int_equal(limit_of(&device), 5000000);
}

TEST(given_bandwidth_changes_nothing_of_a_device_that_was_measured)
{
	struct device device = known(10000000);

	device.bounds.bandwidth_bps = 20000000;
	run(&device, WP_SEC(1), 10000000);
	assert_int_equal(limit_of(&device), 10000000);
}

TEST(ratios_of_a_device_are_parts_of_the_global_limit)
{
	struct device device = known(10000000);

	device.bounds.in_use_bps = 100000000;
	device.bounds.ceiling_bytes = 16000000;
	device.bounds.outstanding_bytes = 16000000;
	device.bounds.share = (struct fprop_fraction){ 1, 10 };
	assert_int_equal(limit_of(&device), 1600000);
	device.bounds.others_min_ratio_q10 = 256;
	device.bounds.min_ratio_q10 = 256;
	/* 16 * 3/4 / 10 + 16 / 4 */
	assert_int_equal(limit_of(&device), 5200000);
	device.bounds.max_ratio_q10 = 128;
	assert_int_equal(limit_of(&device), 2000000);
	device.bounds.max_bytes = 1000000;
	assert_int_equal(limit_of(&device), 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newcomer_begins_small),
		cmocka_unit_test(first_bandwidth_stands_after_500_ms_of_busy_time),
		cmocka_unit_test(first_bandwidth_takes_the_base_rate_along),
		cmocka_unit_test(idle_time_is_no_part_of_the_first_500_ms),
		cmocka_unit_test(idle_keeps_the_bandwidth),
		cmocka_unit_test(busy_and_slower_is_followed),
		cmocka_unit_test(newcomer_grows_when_it_swallows_its_limit_in_100_ms),
		cmocka_unit_test(newcomer_of_42_mib_per_second_grows_once),
		cmocka_unit_test(newcomer_that_takes_longer_does_not_grow),
		cmocka_unit_test(base_rate_moves_every_200_ms),
		cmocka_unit_test(base_rate_is_not_judged_by_a_long_silence),
		cmocka_unit_test(users_rate_of_one_leaves_the_others_state_alone),
		cmocka_unit_test(wall_follows_a_falling_limit_gently),
		cmocka_unit_test(window_is_no_more_than_the_latency_target_allows),
		cmocka_unit_test(
			device_that_becomes_slow_is_known_to_be_within_half_a_second),
		cmocka_unit_test(half_as_fast_is_left_to_the_filters),
		cmocka_unit_test(one_slow_moment_is_no_fall),
		cmocka_unit_test(stall_is_no_fall),
		cmocka_unit_test(pause_of_a_card_is_no_fall),
		cmocka_unit_test(first_bandwidth_is_not_that_of_a_pause),
		cmocka_unit_test(headroom_spreads_units_below_the_speed),
		cmocka_unit_test(headroom_gives_way_to_what_others_write),
		cmocka_unit_test(headroom_limits_to_a_few_windows),
		cmocka_unit_test(headroom_waits_until_the_speed_is_known),
		cmocka_unit_test(headroom_leaves_what_is_known_alone),
		cmocka_unit_test(headroom_follows_a_device_that_is_slower_than_that),
		cmocka_unit_test(
			headroom_takes_a_writer_that_wants_less_for_no_slower_device),
		cmocka_unit_test(headroom_takes_late_starts_for_no_slower_device),
		cmocka_unit_test(window_shrinks_to_the_latency_target_at_once),
		cmocka_unit_test(window_is_not_judged_while_the_device_is_idle),
		cmocka_unit_test(units_that_find_the_device_free_are_spread_less),
		cmocka_unit_test(larger_window_that_pays_raises_the_bandwidth_at_once),
		cmocka_unit_test(units_are_not_spread_before_bandwidth_is_known),
		cmocka_unit_test(units_are_quicker_while_a_larger_window_is_tried),
		cmocka_unit_test(credit_needs_a_device_that_is_known),
		cmocka_unit_test(credit_ends_where_ceilings_do),
		cmocka_unit_test(credit_shrinks_under_memory_pressure),
		cmocka_unit_test(credit_is_none_under_a_users_rate),
		cmocka_unit_test(burst_raises_the_wall_and_its_end_brings_it_down_gently),
		cmocka_unit_test(burst_leaves_the_base_rate_alone),
		cmocka_unit_test(given_bandwidth_counts_from_the_first_byte),
		cmocka_unit_test(
			first_measured_bandwidth_takes_the_place_of_the_given_one),
		cmocka_unit_test(
			given_bandwidth_changes_nothing_of_a_device_that_was_measured),
		cmocka_unit_test(ratios_of_a_device_are_parts_of_the_global_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
