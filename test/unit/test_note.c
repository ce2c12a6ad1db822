/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: what a task put into its note is what a reader gets; another task's note is not its.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "shm/note.h"

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

static struct wp_note *note(struct wp_segment *segment, uint64_t start_ns)
{
	struct task_identity identity = { .id = 7, .start_ns = start_ns };
	int slot = task_slot(segment, -1, &identity, WP_SEC(1));

	assert_true(slot >= 0);
	return note_of(segment, slot, &identity);
}

static void a_verdict_comes_out_as_it_went_in(void **state)
{
	struct wp_note *own = note(*state, 1);
	struct verdict in = { .limit_bytes = 11, .pause_ns = 12, .again = true };
	struct verdict out;

	assert_false(note_get(own, &out));
	note_put(own, &in);
	assert_true(note_get(own, &out));
	assert_int_equal(out.limit_bytes, 11);
	assert_int_equal(out.pause_ns, 12);
	assert_true(out.again && !out.at_wall && !out.free_running);
}

static void a_task_after_it_starts_an_empty_one(void **state)
{
	struct wp_segment *segment = *state;
	struct wp_note *old = note(segment, 1);
	struct verdict verdict = { .limit_bytes = 11 };
	const struct wp_task *task = &segment->tasks[old - segment->notes];

	old->slept_ns = 5;
	note_put(old, &verdict);
	assert_true(note_is_of(old, task));
	assert_ptr_equal(note(segment, 1), old);
	assert_int_equal(old->slept_ns, 5);
	assert_ptr_equal(note(segment, 2), old);
	assert_int_equal(old->slept_ns, 0);
	assert_false(note_get(old, &verdict));
	assert_true(note_is_of(old, task));
	old->start_ns++;
	assert_false(note_is_of(old, task));
}

static void damage_is_a_verdict_all_the_same(void **state)
{
	struct wp_note *own = note(*state, 1);
	struct verdict verdict;

	memset(own->verdict, 0xfe, sizeof(own->verdict));
	note_get(own, &verdict);
	assert_false(verdict.free_running || verdict.at_wall || verdict.again);
	memset(own->verdict, 0xff, sizeof(own->verdict));
	note_get(own, &verdict);
	assert_true(verdict.free_running && verdict.at_wall && verdict.again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_verdict_comes_out_as_it_went_in,
						new_segment, free_segment),
		cmocka_unit_test_setup_teardown(a_task_after_it_starts_an_empty_one,
						new_segment, free_segment),
		cmocka_unit_test_setup_teardown(damage_is_a_verdict_all_the_same,
						new_segment, free_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
