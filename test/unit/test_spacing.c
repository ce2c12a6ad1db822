/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: interval = unit / (bandwidth * gain), by hand, and the rule for the gain in
 * core/spacing.h: a quarter more after each quarter second without a busy start.
 */
#include "unit.h"

#include "core/spacing.h"

#define NOW WP_SEC(1000)

/* Every start writes 64 KiB. */
static uint64_t step(struct spacing *spacing, uint64_t starts, uint64_t busy_starts,
		     uint64_t now_ns)
{
	struct spacing_sample sample = { .now_ns = now_ns,
					 .starts = starts,
					 .busy_starts = busy_starts,
					 .written_bytes = starts * WP_KIB(64) };

	return spacing_step(spacing, &sample);
}

TEST(units_are_spread_a_sixteenth_faster_than_the_bandwidth)
{
	struct spacing spacing = { 0 };

	/* 17 / 16 of 16000000 = 17000000 */
	assert_int_equal(spacing_interval_ns(&spacing, 16000000, 170000, false),
			 WP_MS(10));
	/* a quarter faster while a larger window is tried: 20000000 */
	assert_int_equal(spacing_interval_ns(&spacing, 16000000, 200000, true),
			 WP_MS(10));
}

TEST(larger_gain_is_used_for_both)
{
	struct spacing spacing = { .gain_q10 = 2048 };

	assert_int_equal(spacing_interval_ns(&spacing, 10000000, 200000, false),
			 WP_MS(10));
	assert_int_equal(spacing_interval_ns(&spacing, 10000000, 200000, true),
			 WP_MS(10));
}

TEST(unknown_bandwidth_has_no_interval)
{
	struct spacing spacing = { .gain_q10 = 2048 };

	assert_int_equal(spacing_interval_ns(&spacing, 0, 65536, false), 0);
	assert_int_equal(spacing_interval_ns(&spacing, 0, 65536, true), 0);
}

TEST(gain_grows_faster_the_longer_no_start_found_the_device_busy)
{
	struct spacing spacing = { .gain_q10 = 1088, .epoch_ns = NOW };

	step(&spacing, 8, 0, NOW + WP_MS(250));
	assert_int_equal(spacing.gain_q10, 1280); /* 1.25 */
	step(&spacing, 16, 0, NOW + WP_MS(500));
	assert_int_equal(spacing.gain_q10, 1536); /* 1.5 */
	step(&spacing, 24, 0, NOW + WP_MS(750));
	assert_int_equal(spacing.gain_q10, 2048); /* 2 */
	step(&spacing, 32, 0, NOW + WP_MS(1000));
	assert_int_equal(spacing.gain_q10, 2048); /* and no more */
}

TEST(gain_waits_for_the_end_of_its_epoch)
{
	struct spacing spacing = { .gain_q10 = 1088, .epoch_ns = NOW };

	step(&spacing, 100, 0, NOW + WP_MS(250) - 1);
	assert_int_equal(spacing.gain_q10, 1088);
	step(&spacing, 100, 0, NOW + WP_MS(250));
	assert_int_equal(spacing.gain_q10, 1280);
}

TEST(slow_device_has_a_longer_epoch)
{
	struct spacing spacing = { .gain_q10 = 1088, .epoch_ns = NOW };

	/* 1 MB/s in units of 64 KiB: 15 starts a second */
	step(&spacing, 4, 0, NOW + WP_MS(250));
	assert_int_equal(spacing.gain_q10, 1088);
	step(&spacing, 8, 0, NOW + WP_MS(500));
	assert_int_equal(spacing.gain_q10, 1280);
}

TEST(few_starts_prove_nothing)
{
	struct spacing spacing = { .gain_q10 = 1088,
				   .epoch_ns = NOW,
				   .epoch_starts = 100 };

	step(&spacing, 107, 0, NOW + WP_MS(250));
	assert_int_equal(spacing.gain_q10, 1088);
}

TEST(one_busy_start_brings_the_gain_back)
{
	struct spacing spacing = { .gain_q10 = 5000, .epoch_ns = NOW };

	step(&spacing, 100, 1, NOW + WP_MS(250));
	assert_int_equal(spacing.gain_q10, 1088);
	/* and only for its own epoch */
	step(&spacing, 200, 1, NOW + WP_MS(500));
	assert_int_equal(spacing.gain_q10, 1280);
}

TEST(epoch_without_a_busy_start_shows_a_rate)
{
	struct spacing spacing = { .gain_q10 = 1088, .epoch_ns = NOW };

	/* 40 units of 64 KiB in 250 ms */
	assert_int_equal(step(&spacing, 40, 0, NOW + WP_MS(250)), WP_KIB(64) * 160);
	/* one that found the device busy shows nothing */
	assert_int_equal(step(&spacing, 80, 1, NOW + WP_MS(500)), 0);
	/* nor does an epoch that is not over */
	assert_int_equal(step(&spacing, 120, 1, NOW + WP_MS(600)), 0);
}

TEST(unit_starts_when_it_is_due)
{
	uint64_t next_ns = 0;

	assert_false(spacing_may_start(NOW + 1, WP_MS(10), NOW, &next_ns));
	assert_true(spacing_may_start(NOW, WP_MS(10), NOW, &next_ns));
	assert_int_equal(next_ns, NOW + WP_MS(10));
	/* 5 ms late: the next one is due at the time it would have been */
	assert_true(spacing_may_start(NOW - WP_MS(5), WP_MS(10), NOW, &next_ns));
	assert_int_equal(next_ns, NOW + WP_MS(5));
}

TEST(no_more_than_7_ms_are_made_up_for)
{
	uint64_t next_ns = 0;

	assert_true(spacing_may_start(NOW - WP_SEC(5), WP_MS(10), NOW, &next_ns));
	assert_int_equal(next_ns, NOW + WP_MS(3));
	assert_true(spacing_may_start(0, WP_MS(10), NOW, &next_ns));
	assert_int_equal(next_ns, NOW + WP_MS(3));
	assert_true(spacing_may_start(0, WP_MS(10), WP_MS(1), &next_ns));
	assert_int_equal(next_ns, WP_MS(10));
}

TEST(clock_far_ahead_is_damage_not_a_wait)
{
	uint64_t next_ns = 0;

	assert_false(spacing_may_start(NOW + WP_MS(1020) - 1, WP_MS(10), NOW, &next_ns));
	assert_true(spacing_may_start(NOW + WP_MS(1020), WP_MS(10), NOW, &next_ns));
	assert_int_equal(next_ns, NOW + WP_MS(10));
	assert_true(spacing_may_start(UINT64_MAX, WP_MS(10), NOW, &next_ns));
	assert_int_equal(next_ns, NOW + WP_MS(10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_spread_a_sixteenth_faster_than_the_bandwidth),
		cmocka_unit_test(larger_gain_is_used_for_both),
		cmocka_unit_test(unknown_bandwidth_has_no_interval),
		cmocka_unit_test(
			gain_grows_faster_the_longer_no_start_found_the_device_busy),
		cmocka_unit_test(slow_device_has_a_longer_epoch),
		cmocka_unit_test(gain_waits_for_the_end_of_its_epoch),
		cmocka_unit_test(few_starts_prove_nothing),
		cmocka_unit_test(one_busy_start_brings_the_gain_back),
		cmocka_unit_test(epoch_without_a_busy_start_shows_a_rate),
		cmocka_unit_test(unit_starts_when_it_is_due),
		cmocka_unit_test(no_more_than_7_ms_are_made_up_for),
		cmocka_unit_test(clock_far_ahead_is_damage_not_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
