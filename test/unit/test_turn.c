/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the rules in shm/turn.h, by hand: who may start, after what.
 */
#include "unit.h"

#include "shm/turn.h"

#define NOW WP_SEC(1000)
#define SLICE WP_MIB(8)

struct place {
	struct wp_device device;
	struct wp_file one;
	struct wp_file two;
};

static struct place place(void)
{
	return (struct place){ .one.key = 1, .two.key = 2 };
}

#define TAKES(file, at_ns) turn_take(&p.device, &p.file, SLICE, SLICE, at_ns)

TEST(one_file_has_it_until_its_slice_is_started)
{
	struct place p = place();

	assert_true(TAKES(one, NOW));
	turn_spend(&p.device, &p.one, SLICE - WP_KIB(64), NOW);
	assert_true(TAKES(one, NOW));
	assert_false(TAKES(two, NOW));
	turn_spend(&p.device, &p.one, WP_KIB(64), NOW);
	assert_false(TAKES(one, NOW));
	assert_true(TAKES(two, NOW));
	assert_false(TAKES(one, NOW));
}

TEST(alone_it_goes_on)
{
	struct place p = place();

	assert_true(TAKES(one, NOW));
	turn_spend(&p.device, &p.one, SLICE, NOW);
	assert_true(TAKES(one, NOW));
}

TEST(nobody_waits_for_one_with_nothing_left)
{
	struct place p = place();

	assert_true(TAKES(one, NOW));
	turn_end(&p.device, &p.one);
	assert_true(TAKES(two, NOW));
	/* not another's turn */
	turn_end(&p.device, &p.one);
	assert_false(TAKES(one, NOW));
}

TEST(nobody_waits_for_one_who_does_not_come)
{
	struct place p = place();

	assert_true(TAKES(one, NOW));
	assert_false(TAKES(two, NOW + TURN_ABSENT_NS - 1));
	assert_true(TAKES(two, NOW + TURN_ABSENT_NS));
	/* those who wanted it have gone, too */
	assert_true(TAKES(two, NOW + TURN_ABSENT_NS));
	turn_spend(&p.device, &p.two, SLICE, NOW + TURN_ABSENT_NS);
	assert_false(TAKES(two, NOW + TURN_ABSENT_NS));
	assert_true(TAKES(two, NOW + 2 * TURN_ABSENT_NS));
}

TEST(who_has_most_is_next)
{
	struct place p = place();
	struct wp_file three = { .key = 3 };

	assert_true(TAKES(one, NOW));
	assert_false(turn_take(&p.device, &p.two, WP_MIB(3), SLICE, NOW));
	assert_false(turn_take(&p.device, &three, WP_MIB(2), SLICE, NOW));
	turn_end(&p.device, &p.one);
	assert_false(turn_take(&p.device, &three, WP_MIB(2), SLICE, NOW + 1));
	assert_true(turn_take(&p.device, &p.two, WP_MIB(3), SLICE, NOW + 2));
	turn_end(&p.device, &p.two);
	assert_true(turn_take(&p.device, &three, WP_MIB(2), SLICE, NOW + 3));
}

TEST(nobody_waits_where_nobody_has_much)
{
	struct place p = place();
	struct wp_file three = { .key = 3 };

	assert_true(TAKES(one, NOW));
	assert_true(turn_take(&p.device, &p.two, WP_KIB(128), SLICE, NOW));
	assert_false(turn_take(&p.device, &three, WP_KIB(256), SLICE, NOW));
	assert_false(turn_take(&p.device, &p.two, WP_KIB(128), SLICE, NOW));
}

TEST(slice_is_4_mib_at_least)
{
	struct place p = place();

	assert_true(turn_take(&p.device, &p.one, SLICE, 1, NOW));
	turn_spend(&p.device, &p.one, WP_MIB(4) - WP_KIB(64), NOW);
	assert_false(TAKES(two, NOW));
	turn_spend(&p.device, &p.one, WP_MIB(4), NOW);
	assert_true(TAKES(two, NOW));
}

TEST(damaged_words_hold_up_nobody)
{
	struct place p = place();

	p.device.turn = UINT64_MAX;
	p.device.turn_ns = UINT64_MAX;
	p.device.turn_wanted_ns = UINT64_MAX;
	p.device.turn_wanted_bytes = UINT64_MAX;
	assert_true(TAKES(one, NOW));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file_has_it_until_its_slice_is_started),
		cmocka_unit_test(alone_it_goes_on),
		cmocka_unit_test(nobody_waits_for_one_with_nothing_left),
		cmocka_unit_test(nobody_waits_for_one_who_does_not_come),
		cmocka_unit_test(who_has_most_is_next),
		cmocka_unit_test(nobody_waits_where_nobody_has_much),
		cmocka_unit_test(slice_is_4_mib_at_least),
		cmocka_unit_test(damaged_words_hold_up_nobody),
	};

	return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
