/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: steps worked out by hand from K4.4, and its promise: N equal writers end at
 * bandwidth / N without anybody knowing N.
 */
#include "unit.h"

#include "core/position.h"
#include "core/ratelimit.h"

TEST(task_rate_is_base_times_position)
{
	assert_int_equal(ratelimit_task_bps(1000, 1024), 1000);
	assert_int_equal(ratelimit_task_bps(1000, 512), 500);
	assert_int_equal(ratelimit_task_bps(1000, 0), 0);
	assert_int_equal(ratelimit_task_bps(UINT64_C(1) << 60, 2048), UINT64_C(1) << 61);
}

TEST(rises_by_hand)
{
	struct ratelimit ratelimit = { .base_bps = 1000, .balanced_bps = 5000 };
	struct ratelimit_sample sample = {
		.dirty_bps = 1000,
		.bandwidth_bps = 10000,
		.pos_q10 = 2048,
		.outstanding_bytes = 1,
		.setpoint_bytes = 2,
	};

	/* task 2001; balanced 2001 * 10000 / 1001 = 19990 -> 10000; least of 5000, 10000 and
	 * 2001 -> step 1001; shift 1000 / 2003 = 0; (1001 + 7) / 8 = 126 */
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1126);
	assert_int_equal(ratelimit.balanced_bps, 10000);
}

TEST(falls_by_hand)
{
	struct ratelimit ratelimit = { .base_bps = 1000, .balanced_bps = 400 };
	struct ratelimit_sample sample = {
		.dirty_bps = 2000,
		.bandwidth_bps = 1000,
		.pos_q10 = 512,
		.outstanding_bytes = 3,
		.setpoint_bytes = 2,
	};

	/* task 501; balanced 501 * 1000 / 2001 = 250; largest of 400, 250 and 501 -> step 499;
	 * shift 1000 / 999 = 1; (249 + 7) / 8 = 32 */
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 968);
	assert_int_equal(ratelimit.balanced_bps, 250);
}

TEST(small_errors_are_damped_away)
{
	struct ratelimit ratelimit = { .base_bps = 1000000, .balanced_bps = 2000000 };
	struct ratelimit_sample sample = {
		.dirty_bps = 1000,
		.bandwidth_bps = 2000000,
		.pos_q10 = 1031,
		.outstanding_bytes = 1,
		.setpoint_bytes = 2,
	};

	/* task 1006836; step 6836; shift 1000000 / 13673 = 73: nothing */
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1000000);
	/* task 1036133; step 36133; shift 1000000 / 72267 = 13; 36133 >> 13 = 4: rounded up, 1 */
	sample.pos_q10 = 1061;
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1000001);
	ratelimit.base_bps = 1000000;
	/* task 1250001; step 250001; shift 1000000 / 500003 = 1; (125000 + 7) / 8 = 15625 */
	sample.pos_q10 = 1280;
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1015625);
}

TEST(stays_where_position_and_rate_disagree)
{
	struct ratelimit ratelimit = { .base_bps = 1000, .balanced_bps = 5000 };
	struct ratelimit_sample sample = {
		.dirty_bps = 5000,
		.bandwidth_bps = 1000,
		.pos_q10 = 1536,
		.outstanding_bytes = 1,
		.setpoint_bytes = 2,
	};

	/* room left, but the writers are too fast: no reason to rise, none yet to fall */
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1000);
	/* too full, but the writers are slow enough already */
	sample.dirty_bps = 100;
	sample.bandwidth_bps = 10000;
	sample.pos_q10 = 512;
	sample.outstanding_bytes = 3;
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1000);
}

TEST(the_balanced_rate_before_must_agree_too)
{
	struct ratelimit ratelimit = { .base_bps = 1000, .balanced_bps = 900 };
	struct ratelimit_sample sample = {
		.dirty_bps = 1000,
		.bandwidth_bps = 10000,
		.pos_q10 = 2048,
		.outstanding_bytes = 1,
		.setpoint_bytes = 2,
	};

	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1000);
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1126);
}

TEST(never_reaches_zero)
{
	struct ratelimit ratelimit = { .base_bps = 100, .balanced_bps = 1 };
	struct ratelimit_sample sample = {
		.dirty_bps = 1000000,
		.bandwidth_bps = 1,
		.outstanding_bytes = 3,
		.setpoint_bytes = 2,
	};

	for (int i = 0; i < 1000; i++)
		ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1);
	ratelimit.base_bps = 0;
	ratelimit_step(&ratelimit, &sample);
	assert_int_equal(ratelimit.base_bps, 1);
}

/*
 * N writers that each dirty exactly what they are told, a device of 10 MB/s with room for a
 * second of it. They look every 10 ms, the base rate moves every 200 ms. What is outstanding is
 * what was dirtied and not written.
 */
struct loop {
	struct ratelimit ratelimit;
	struct ratelimit_sample sample;
	uint64_t writers;
};

static void loop_step(struct loop *loop)
{
	struct ratelimit_sample *sample = &loop->sample;
	uint64_t dirtied_bytes = 0;

	for (int i = 0; i < 20; i++) {
		uint64_t dirty_bytes;

		sample->pos_q10 = position_strict_q10(10000000, 5000000, 0,
						      sample->outstanding_bytes);
		dirty_bytes =
			loop->writers *
			ratelimit_task_bps(loop->ratelimit.base_bps, sample->pos_q10) /
			100;
		dirtied_bytes += dirty_bytes;
		sample->outstanding_bytes =
			sub_u64(sample->outstanding_bytes + dirty_bytes,
				sample->bandwidth_bps / 100);
	}
	sample->dirty_bps = dirtied_bytes * 5;
	ratelimit_step(&loop->ratelimit, sample);
}

/*
 * The base rate after 20 s, when all together dirty what the device writes. Why an eighth is
 * near enough: a step of a tenth is damped to a 2500th; what is left, the position corrects.
 */
static uint64_t settled_base_bps(uint64_t writers)
{
	struct loop loop = {
		.ratelimit = { .base_bps = 10000000, .balanced_bps = 10000000 },
		.sample = { .bandwidth_bps = 10000000, .setpoint_bytes = 7500000 },
		.writers = writers,
	};

	for (int i = 0; i < 100; i++)
		loop_step(&loop);
	assert_near(loop.sample.dirty_bps, 10000000, 100000);
	return loop.ratelimit.base_bps;
}

TEST(one_writer_gets_all)
{
	assert_near(settled_base_bps(1), 10000000, 10000000 / 8);
}

TEST(two_writers_converge_to_half)
{
	assert_near(settled_base_bps(2), 5000000, 5000000 / 8);
}

TEST(ten_writers_converge_to_a_tenth)
{
	assert_near(settled_base_bps(10), 1000000, 1000000 / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(task_rate_is_base_times_position),
		cmocka_unit_test(rises_by_hand),
		cmocka_unit_test(falls_by_hand),
		cmocka_unit_test(small_errors_are_damped_away),
		cmocka_unit_test(stays_where_position_and_rate_disagree),
		cmocka_unit_test(the_balanced_rate_before_must_agree_too),
		cmocka_unit_test(never_reaches_zero),
		cmocka_unit_test(one_writer_gets_all),
		cmocka_unit_test(two_writers_converge_to_half),
		cmocka_unit_test(ten_writers_converge_to_a_tenth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
