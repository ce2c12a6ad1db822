/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: processes and threads of the test's own, that live or have ended.
 */
#include "unit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/tasks.h"
#include "host/kernel.h"

#define NAMESPACE 7

static struct wp_segment *segment;

static struct helper helper_of(void)
{
	return (struct helper){ .map = segment, .namespace_id = NAMESPACE, .root = "" };
}

static void enter(size_t slot, uint64_t pid, uint64_t tid, uint64_t namespace_id)
{
	segment->tasks[slot].id = pid << 32 | tid;
	segment->tasks[slot].namespace_id = namespace_id;
	segment->tasks[slot].heartbeat_ns = kernel_now_ns();
}

static uint64_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	waitpid(pid, NULL, 0);
	return (uint64_t)pid;
}

TEST(slots_of_the_dead_are_freed_and_no_others)
{
	struct helper helper = helper_of();
	uint64_t own = (uint64_t)getpid();
	uint64_t dead = dead_pid();

	enter(0, own, own, NAMESPACE);
	enter(1, dead, dead, NAMESPACE);
	enter(2, own, dead, NAMESPACE); /* a thread that has ended */
	enter(3, dead, dead, NAMESPACE + 1);
	enter(4, 1, 1, NAMESPACE);
	enter(WP_TASKS - 1, dead, dead, NAMESPACE);
	tasks_sweep(&helper);
	assert_int_equal(segment->tasks[0].id, own << 32 | own);
	assert_int_equal(segment->tasks[1].id, 0);
	assert_int_equal(segment->tasks[2].id, 0);
	/* of another namespace: that number says nothing here */
	assert_int_equal(segment->tasks[3].id, dead << 32 | dead);
	assert_int_equal(segment->tasks[4].id, UINT64_C(1) << 32 | 1);
	assert_int_equal(segment->tasks[WP_TASKS - 1].id, 0);
}

/* No pid at all: nobody is harmed, and it goes when it has been silent for long enough. */
TEST(damaged_ids_are_asked_for_without_harm)
{
	static const uint64_t ids[] = { UINT64_MAX, 1, UINT64_C(1) << 63,
					UINT64_C(0xffffffff00000001) };
	struct helper helper = helper_of();

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		enter(i, ids[i] >> 32, ids[i] & UINT32_MAX, NAMESPACE);
	tasks_sweep(&helper);
	assert_true(getpid() > 0);
}

static int new_segment(void **state)
{
	(void)state;
	segment = calloc(1, sizeof(*segment));
	return segment ? 0 : -1;
}

static int free_segment(void **state)
{
	(void)state;
	free(segment);
	return 0;
}

#define ON_SEGMENT(test) cmocka_unit_test_setup_teardown(test, new_segment, free_segment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_SEGMENT(slots_of_the_dead_are_freed_and_no_others),
		ON_SEGMENT(damaged_ids_are_asked_for_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
