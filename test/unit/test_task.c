/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: one slot for each living task, as shm/task.h and design section 9 promise; a slot that
 * was silent for 35 s may be taken.
 */
#include "unit.h"

#include <stdlib.h>

#include "shm/task.h"

#define NOW WP_SEC(1000)

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

static struct task_identity task(uint64_t id)
{
	return (struct task_identity){ .id = id, .start_ns = 77, .namespace_id = 5 };
}

static unsigned used_slots(const struct wp_segment *segment)
{
	unsigned used = 0;

	for (unsigned i = 0; i < WP_TASKS; i++)
		used += !!segment->tasks[i].id;
	return used;
}

static void claims_a_slot_and_says_who_it_is(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(UINT64_C(12) << 32 | 13);
	int slot = task_slot(segment, -1, &identity, NOW);

	assert_in_range(slot, 0, WP_TASKS - 1);
	assert_int_equal(segment->tasks[slot].id, UINT64_C(12) << 32 | 13);
	assert_int_equal(segment->tasks[slot].start_ns, 77);
	assert_int_equal(segment->tasks[slot].namespace_id, 5);
	assert_int_equal(segment->tasks[slot].heartbeat_ns, NOW);
}

static void keeps_its_slot_and_beats(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);
	int slot = task_slot(segment, -1, &identity, NOW);

	segment->tasks[slot].dirtied_bytes = 99;
	assert_int_equal(task_slot(segment, slot, &identity, NOW + 1), slot);
	assert_int_equal(segment->tasks[slot].heartbeat_ns, NOW + 1);
	assert_int_equal(segment->tasks[slot].dirtied_bytes, 99);
}

static void finds_its_slot_again_without_being_told(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);
	int slot = task_slot(segment, -1, &identity, NOW);

	for (uint64_t i = 1; i < 100; i++)
		assert_int_equal(task_slot(segment, -1, &identity, NOW + i), slot);
	assert_int_equal(used_slots(segment), 1);
	assert_int_equal(segment->tasks[slot].heartbeat_ns, NOW + 99);
}

static void own_slot_goes_before_a_stale_one(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);
	int first = task_slot(segment, -1, &identity, NOW);
	struct wp_task *next = &segment->tasks[(first + 1) % (int)WP_TASKS];

	/* its place is taken by one that is silent by now, its own is the next */
	*next = segment->tasks[first];
	segment->tasks[first].id = 2;
	next->heartbeat_ns = NOW + WP_SEC(100);
	assert_int_equal(task_slot(segment, -1, &identity, NOW + WP_SEC(100)),
			 (first + 1) % (int)WP_TASKS);
	assert_int_equal(segment->tasks[first].id, 2);
}

static void same_ids_of_two_pid_namespaces_are_two_tasks(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);
	int slot = task_slot(segment, -1, &identity, NOW);

	identity.namespace_id = 6;
	assert_int_not_equal(task_slot(segment, slot, &identity, NOW), slot);
	assert_int_equal(used_slots(segment), 2);
}

static void slot_is_not_taken_from_the_living(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);
	int slot = task_slot(segment, -1, &identity, NOW);

	segment->tasks[slot].namespace_id = 6;
	assert_int_not_equal(task_slot(segment, -1, &identity, NOW + WP_SEC(35) - 1),
			     slot);
}

static void slot_of_the_silent_is_taken_and_cleared(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);
	int slot = task_slot(segment, -1, &identity, NOW);

	segment->tasks[slot].id = 2;
	segment->tasks[slot].dirtied_bytes = 99;
	segment->tasks[slot].dirtied_word = 99;
	segment->tasks[slot].weight = 99;
	segment->tasks[slot].device_key = 99;
	assert_int_equal(task_slot(segment, -1, &identity, NOW + WP_SEC(35)), slot);
	assert_int_equal(segment->tasks[slot].id, 1);
	assert_int_equal(segment->tasks[slot].dirtied_bytes, 0);
	assert_int_equal(segment->tasks[slot].dirtied_word, 0);
	assert_int_equal(segment->tasks[slot].weight, 0);
	assert_int_equal(segment->tasks[slot].device_key, 0);
}

static void heartbeat_of_the_far_future_is_damage(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);
	int slot = task_slot(segment, -1, &identity, NOW);

	segment->tasks[slot].id = 2;
	segment->tasks[slot].heartbeat_ns = NOW + WP_SEC(36);
	assert_int_equal(task_slot(segment, -1, &identity, NOW), slot);
}

static void reused_ids_are_another_task(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(UINT64_C(12) << 32 | 12);
	int slot = task_slot(segment, -1, &identity, NOW);

	segment->tasks[slot].dirtied_bytes = 99;
	segment->tasks[slot].dirtied_word = 99;
	segment->tasks[slot].weight = 99;
	identity.start_ns = 78;
	/* in its own place: no second entry that would wait for its silence to end */
	assert_int_equal(task_slot(segment, slot, &identity, NOW + 1), slot);
	assert_int_equal(used_slots(segment), 1);
	assert_int_equal(segment->tasks[slot].start_ns, 78);
	assert_int_equal(segment->tasks[slot].dirtied_bytes, 0);
	assert_int_equal(segment->tasks[slot].dirtied_word, 0);
	assert_int_equal(segment->tasks[slot].weight, 0);
	/* and found without the slot's number, too */
	segment->tasks[slot].dirtied_bytes = 99;
	identity.start_ns = 79;
	assert_int_equal(task_slot(segment, -1, &identity, NOW + 2), slot);
	assert_int_equal(segment->tasks[slot].dirtied_bytes, 0);
	segment->tasks[slot].dirtied_bytes = 99;
	assert_int_equal(task_slot(segment, slot, &identity, NOW + 3), slot);
	assert_int_equal(segment->tasks[slot].dirtied_bytes, 99);
}

static void slots_out_of_range_are_no_slots(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);
	int slot = task_slot(segment, INT_MAX, &identity, NOW);

	assert_in_range(slot, 0, WP_TASKS - 1);
	assert_int_equal(task_slot(segment, (int)WP_TASKS, &identity, NOW), slot);
	assert_int_equal(task_slot(segment, INT_MIN, &identity, NOW), slot);
}

static void full_table_is_said(void **state)
{
	struct wp_segment *segment = *state;
	struct task_identity identity = task(1);

	for (unsigned i = 0; i < WP_TASKS; i++) {
		segment->tasks[i].id = 1000 + i;
		segment->tasks[i].heartbeat_ns = NOW;
	}
	assert_int_equal(task_slot(segment, -1, &identity, NOW), -1);
	assert_int_equal(task_slot(segment, 7, &identity, NOW), -1);
}

static void a_thousand_tasks_have_a_thousand_slots(void **state)
{
	struct wp_segment *segment = *state;

	for (uint64_t i = 0; i < 1000; i++) {
		struct task_identity identity = task((i + 1) << 32 | (i + 1));

		assert_int_not_equal(task_slot(segment, -1, &identity, NOW), -1);
	}
	assert_int_equal(used_slots(segment), 1000);
}

#define ON_SEGMENT(test) cmocka_unit_test_setup_teardown(test, new_segment, free_segment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_SEGMENT(claims_a_slot_and_says_who_it_is),
		ON_SEGMENT(keeps_its_slot_and_beats),
		ON_SEGMENT(finds_its_slot_again_without_being_told),
		ON_SEGMENT(own_slot_goes_before_a_stale_one),
		ON_SEGMENT(same_ids_of_two_pid_namespaces_are_two_tasks),
		ON_SEGMENT(slot_is_not_taken_from_the_living),
		ON_SEGMENT(slot_of_the_silent_is_taken_and_cleared),
		ON_SEGMENT(reused_ids_are_another_task),
		ON_SEGMENT(heartbeat_of_the_far_future_is_damage),
		ON_SEGMENT(slots_out_of_range_are_no_slots),
		ON_SEGMENT(full_table_is_said),
		ON_SEGMENT(a_thousand_tasks_have_a_thousand_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
