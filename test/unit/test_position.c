/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the numbered properties in core/position.h, one test each, and the kernel's own
 * numbers for a background line of 100000 and a limit of 200000 pages (K3.1).
 */
#include "unit.h"

#include "core/position.h"

struct line {
	uint64_t setpoint;
	uint64_t limit;
};

/* Odd distances: with the kernel's "| 1" nothing is lost there. */
static const struct line lines[] = {
	{ 1, 2 },
	{ 100, 101 },
	{ 75, 100 },
	{ WP_KIB(600), WP_KIB(600) + 4095 },
	{ WP_MIB(7), WP_MIB(10) - 1 },
	{ WP_GIB(30), WP_GIB(40) + 1 },
};

#define EACH_LINE(at)                       \
	for (const struct line *at = lines; \
	     at < lines + sizeof(lines) / sizeof(lines[0]); at++)

TEST(property_1_is_two_at_the_free_line)
{
	EACH_LINE(at)
	if (2 * at->setpoint >= at->limit)
		assert_int_equal(position_cubic_q10(at->setpoint,
						    2 * at->setpoint - at->limit,
						    at->limit),
				 2048);
}

TEST(property_2_is_one_at_the_setpoint)
{
	EACH_LINE(at)
	assert_int_equal(position_cubic_q10(at->setpoint, at->setpoint, at->limit), 1024);
}

TEST(property_3_is_zero_from_the_limit_on)
{
	EACH_LINE(at)
	{
		assert_int_equal(position_cubic_q10(at->setpoint, at->limit, at->limit),
				 0);
		assert_int_equal(
			position_cubic_q10(at->setpoint, at->limit + 1, at->limit), 0);
		assert_int_equal(position_cubic_q10(at->setpoint, UINT64_MAX, at->limit),
				 0);
	}
	assert_int_equal(position_cubic_q10(5, 4, 5), 0);
	assert_int_equal(position_cubic_q10(6, 4, 5), 0);
}

TEST(property_4_never_rises)
{
	EACH_LINE(at)
	{
		uint64_t step = at->limit / 997 + 1;
		uint64_t last = UINT64_MAX;

		for (uint64_t level = 0; level <= at->limit + step; level += step) {
			uint64_t factor =
				position_cubic_q10(at->setpoint, level, at->limit);

			assert_true(factor <= last);
			last = factor;
		}
		assert_int_equal(last, 0);
	}
}

TEST(property_5_lies_between_zero_and_two)
{
	uint64_t seed = 1;

	for (int i = 0; i < 100000; i++) {
		uint64_t setpoint = next_random(&seed) >> (next_random(&seed) % 60);
		uint64_t level = next_random(&seed) >> (next_random(&seed) % 60);
		uint64_t limit = next_random(&seed) >> (next_random(&seed) % 60);

		assert_true(position_cubic_q10(setpoint, level, limit) <= 2048);
		assert_true(position_strict_q10(limit, setpoint, 0, level) <= 2048);
	}
	/* far below the setpoint the cube alone would be far above two */
	assert_int_equal(position_cubic_q10(1000, 0, 1001), 2048);
}

TEST(vectors_of_the_kernel)
{
	static const uint64_t vectors[][2] = {
		{ 150000, 2045 }, { 155000, 1547 }, { 162500, 1151 },
		{ 170000, 1031 }, { 175000, 1024 }, { 180000, 1016 },
		{ 187500, 896 },  { 195000, 500 },  { 199999, 2 },
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		assert_int_equal(position_cubic_q10(175000, vectors[i][0], 200000),
				 vectors[i][1]);
}

TEST(setpoint_is_half_way)
{
	assert_int_equal(position_setpoint(200, 100), 150);
	assert_int_equal(position_setpoint(WP_MIB(10), WP_MIB(5)), WP_KIB(7680));
}

/* K3.3: the cubic between background line and limit of the device alone. */
TEST(strict_uses_the_devices_own_setpoint)
{
	assert_int_equal(position_strict_q10(200000, 100000, 0, 150000), 1024);
	/* by hand: x = -25600000 / 50001 = -511; 255; -128; 1024 - 128 */
	assert_int_equal(position_strict_q10(200000, 100000, 0, 175000), 896);
	assert_int_equal(position_strict_q10(200000, 100000, 0, 0), 2048);
}

TEST(strict_is_a_hard_wall)
{
	assert_int_equal(position_strict_q10(200000, 100000, 0, 200000), 0);
	assert_int_equal(position_strict_q10(200000, 100000, 200000, 200000), 0);
	assert_int_equal(position_strict_q10(200000, 100000, 0, UINT64_MAX), 0);
}

TEST(strict_is_zero_without_a_setpoint)
{
	assert_int_equal(position_strict_q10(0, 0, 0, 0), 0);
	assert_int_equal(position_strict_q10(1, 0, 0, 0), 0);
	assert_int_equal(position_strict_q10(100, 100, 0, 50), 0);
	assert_int_equal(position_strict_q10(100, 300, 0, 50), 0);
}

TEST(gentle_wall_keeps_a_quarter_while_a_fallen_limit_drains)
{
	assert_int_equal(position_strict_q10(200000, 100000, 300000, 200000), 256);
	/* 256 * 200 / 299, and an eighth from the double on */
	assert_int_equal(position_strict_q10(200000, 100000, 300000, 299000), 171);
	assert_int_equal(position_strict_q10(200000, 100000, 900000, 400000), 128);
	assert_int_equal(position_strict_q10(200000, 100000, 900000, 899999), 128);
	assert_int_equal(position_strict_q10(200000, 100000, 300000, 300000), 0);
	/* nor less than a quarter just below the limit, where the cubic has gone lower */
	assert_int_equal(position_strict_q10(200000, 100000, 300000, 199999), 256);
	/* without a fall there is no floor */
	assert_int_equal(position_strict_q10(200000, 100000, 200000, 199999), 2);
	/* and no more than the cubic where that is higher */
	assert_int_equal(position_strict_q10(200000, 100000, 300000, 175000), 896);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(property_1_is_two_at_the_free_line),
		cmocka_unit_test(property_2_is_one_at_the_setpoint),
		cmocka_unit_test(property_3_is_zero_from_the_limit_on),
		cmocka_unit_test(property_4_never_rises),
		cmocka_unit_test(property_5_lies_between_zero_and_two),
		cmocka_unit_test(vectors_of_the_kernel),
		cmocka_unit_test(setpoint_is_half_way),
		cmocka_unit_test(strict_uses_the_devices_own_setpoint),
		cmocka_unit_test(strict_is_a_hard_wall),
		cmocka_unit_test(strict_is_zero_without_a_setpoint),
		cmocka_unit_test(gentle_wall_keeps_a_quarter_while_a_fallen_limit_drains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
