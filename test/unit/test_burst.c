/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the drawing in core/burst.h, with a limit of 100 bytes, a background line of 50 and a
 * credit of 40, by hand.
 */
#include "unit.h"

#include "core/burst.h"

static struct burst_view at(uint64_t outstanding_bytes)
{
	return (struct burst_view){
		.most_bytes = 40,
		.limit_bytes = 100,
		.background_bytes = 50,
		.outstanding_bytes = outstanding_bytes,
	};
}

static void step(struct burst *burst, uint64_t outstanding_bytes)
{
	struct burst_view view = at(outstanding_bytes);

	burst_step(burst, &view);
}

static uint64_t credit(const struct burst *burst, uint64_t outstanding_bytes)
{
	struct burst_view view = at(outstanding_bytes);

	return burst_credit_bytes(burst, &view);
}

static struct burst exhausted(void)
{
	struct burst burst = { 0 };

	step(&burst, 60);
	step(&burst, 140);
	assert_int_equal(burst.spent_bytes, 40);
	return burst;
}

TEST(new_device_has_all_of_it)
{
	struct burst burst = { 0 };

	assert_int_equal(credit(&burst, 0), 40);
	assert_int_equal(credit(&burst, 100), 40);
}

TEST(what_rises_above_the_limit_is_spent)
{
	struct burst burst = { 0 };

	/* between two steps already */
	assert_int_equal(credit(&burst, 115), 25);
	step(&burst, 115);
	assert_int_equal(burst.spent_bytes, 15);
	assert_int_equal(credit(&burst, 115), 25);
	assert_int_equal(credit(&burst, 139), 1);
	assert_int_equal(credit(&burst, 140), 0);
	assert_int_equal(credit(&burst, 1000), 0);
}

TEST(what_fell_and_rises_again_is_spent_again)
{
	struct burst burst = { 0 };

	step(&burst, 120);
	step(&burst, 105);
	assert_int_equal(credit(&burst, 105), 20);
	step(&burst, 115);
	assert_int_equal(credit(&burst, 115), 10);
	step(&burst, 90);
	assert_int_equal(credit(&burst, 90), 10);
}

TEST(steady_writer_gets_no_second_one)
{
	struct burst burst = exhausted();

	for (uint64_t level = 140; level > 50; level--)
		step(&burst, level);
	for (int i = 0; i < 1000; i++)
		step(&burst, i % 2 ? 60 : 95);
	assert_int_equal(credit(&burst, 60), 0);
}

TEST(below_the_background_line_it_is_refilled_by_what_leaves)
{
	struct burst burst = exhausted();

	step(&burst, 51);
	assert_int_equal(credit(&burst, 51), 0);
	step(&burst, 45);
	assert_int_equal(credit(&burst, 45), 6);
	/* what comes back below the limit takes nothing */
	step(&burst, 50);
	assert_int_equal(credit(&burst, 50), 6);
	step(&burst, 40);
	assert_int_equal(credit(&burst, 40), 16);
}

TEST(device_that_drained_meanwhile_has_it_back)
{
	struct burst burst = exhausted();

	/* nobody looked in between: 110 bytes have left */
	step(&burst, 30);
	assert_int_equal(credit(&burst, 30), 40);
}

TEST(full_when_three_quarters_of_the_limit_are_free)
{
	struct burst burst = exhausted();

	step(&burst, 60);
	step(&burst, 26);
	assert_int_equal(credit(&burst, 26), 34);
	step(&burst, 25);
	assert_int_equal(credit(&burst, 25), 40);
}

TEST(limit_that_fell_leaves_no_more_than_the_credit_above_it)
{
	struct burst burst = { .level_bytes = 190 };

	assert_int_equal(credit(&burst, 130), 10);
	assert_int_equal(credit(&burst, 190), 0);
}

TEST(who_has_no_credit_spends_nobodys)
{
	struct burst burst = { .spent_bytes = 7 };
	struct burst_view view = at(150);

	view.most_bytes = 0;
	burst_step(&burst, &view);
	assert_int_equal(burst.spent_bytes, 7);
	assert_int_equal(burst_credit_bytes(&burst, &view), 0);
	assert_int_equal(burst_ceiling_bytes(&burst, &view), 0);
}

TEST(ceiling_is_where_the_credit_of_the_last_step_ends)
{
	struct burst burst = { 0 };
	struct burst_view view = at(139);

	assert_int_equal(burst_ceiling_bytes(&burst, &view), 140);
	step(&burst, 115);
	assert_int_equal(burst_ceiling_bytes(&burst, &view), 140);
	burst = exhausted();
	assert_int_equal(burst_ceiling_bytes(&burst, &view), 0);
}

TEST(damaged_words_give_no_more_than_the_credit)
{
	struct burst burst = { .spent_bytes = UINT64_MAX, .level_bytes = UINT64_MAX };
	struct burst_view view = at(120);

	assert_int_equal(credit(&burst, 120), 0);
	assert_int_equal(burst_ceiling_bytes(&burst, &view), 0);
	burst.spent_bytes = 0;
	assert_int_equal(credit(&burst, 120), 20);
	step(&burst, 10);
	assert_int_equal(credit(&burst, 10), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_device_has_all_of_it),
		cmocka_unit_test(what_rises_above_the_limit_is_spent),
		cmocka_unit_test(what_fell_and_rises_again_is_spent_again),
		cmocka_unit_test(steady_writer_gets_no_second_one),
		cmocka_unit_test(below_the_background_line_it_is_refilled_by_what_leaves),
		cmocka_unit_test(device_that_drained_meanwhile_has_it_back),
		cmocka_unit_test(full_when_three_quarters_of_the_limit_are_free),
		cmocka_unit_test(limit_that_fell_leaves_no_more_than_the_credit_above_it),
		cmocka_unit_test(who_has_no_credit_spends_nobodys),
		cmocka_unit_test(ceiling_is_where_the_credit_of_the_last_step_ends),
		cmocka_unit_test(damaged_words_give_no_more_than_the_credit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
