/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: two dd of 1 MiB each, recorded by test/observer/record.sh; what the kernel's trace adds
 * up to by hand (awk). The code under test is what runs in the kernel, over plain arrays.
 */
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "helper/observed.h"
#include "observer/queue.h"
#include "observer/sum.h"
#include "observer/sums.h"
#include "publish/publish.h"

#define CPUS 2
#define TICK_NS WP_MS(4)
#define EVENTS 1024
#define HOUR_ROUNDS 1800 /* of a recording of two seconds */

/* As record.sh's stream holds them. */
#define ONE_PID 7130
#define OTHER_PID 7131
#define ALL_BYTES 2134016
#define COMPLETED_BYTES 2118656
#define ALL_PAUSES 320
#define ALL_TICKS 350
#define OTHER_PAUSES 189
#define OTHER_TICKS 219

/* -------------------------------------------------------------- the kernel's side -- */

static unsigned on_cpu;
static uint32_t current_pid;
static uint64_t room;

static struct {
	uint32_t number;
	struct device_sums cpus[CPUS];
} devices[SUMS_DEVICES];

static struct {
	struct task_key key;
	struct task_sums sums;
} tasks[64];

static struct device_sums *device_sums(uint32_t device)
{
	for (size_t i = 0; i < room; i++) {
		if (!devices[i].number)
			devices[i].number = device;
		if (devices[i].number == device)
			return &devices[i].cpus[on_cpu];
	}
	return NULL;
}

static struct task_sums *task_sums(uint32_t device)
{
	for (size_t i = 0; i < room && i < 64; i++) {
		if (!tasks[i].key.pid)
			tasks[i].key = (struct task_key){ current_pid, device };
		if (tasks[i].key.pid == current_pid && tasks[i].key.device == device)
			return &tasks[i].sums;
	}
	return NULL;
}

static struct task_sums *known_task_sums(uint32_t pid, uint32_t device)
{
	for (size_t i = 0; i < 64; i++) {
		if (tasks[i].key.pid == pid && tasks[i].key.device == device)
			return &tasks[i].sums;
	}
	return NULL;
}

#define SUM_SHARED(word, amount) ((word) += (amount))
#define RUN_SELDOM

#include "observer/aggregate.bpf.h"

#define NO_MAPPING UINT64_MAX

static struct dirt_run runs[CPUS];

/* As the program does: a file system for each device. */
static void dirty(uint32_t device, uint64_t bytes)
{
	struct dirt_run *run = &runs[on_cpu];

	if (!run_goes_on(run, device, NO_MAPPING, current_pid))
		run_begin(run, device, current_pid, device);
	on_dirtied(run, bytes);
}

static int begin(void **state)
{
	(void)state;
	on_cpu = 0;
	memset(runs, 0, sizeof(runs));
	memset(devices, 0, sizeof(devices));
	memset(tasks, 0, sizeof(tasks));
	room = SUMS_DEVICES;
	return 0;
}

/* --------------------------------------------------------------------- recording -- */

static struct event {
	unsigned cpu;
	uint32_t pid;
	char kind[16];
	uint32_t device;
	int64_t amount;
} events[EVENTS];
static size_t event_count;

static int read_events(void)
{
	const char *source = getenv("srcdir");
	unsigned high;
	unsigned low;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/test/data/observer/dd.events",
		 source ? source : ".");
	file = fopen(path, "r");
	if (!file)
		return -1;
	for (struct event *event = events; event < events + EVENTS; event++) {
		if (fscanf(file, "%u %" SCNu32 " %15s %u:%u %" SCNd64, &event->cpu,
			   &event->pid, event->kind, &high, &low, &event->amount) != 6)
			break;
		event->device = high << 20 | low;
		event_count++;
	}
	fclose(file);
	return event_count ? 0 : -1;
}

static void replay(void)
{
	for (size_t i = 0; i < event_count; i++) {
		const struct event *event = &events[i];

		on_cpu = event->cpu % CPUS;
		current_pid = event->pid;
		if (!strcmp(event->kind, "dirtied"))
			dirty(event->device, (uint64_t)event->amount);
		else if (!strcmp(event->kind, "completed"))
			on_completed(event->device, (uint64_t)event->amount);
		else
			on_pause(event->device, event->amount, TICK_NS);
	}
}

static struct task_sums sums_of(uint32_t pid)
{
	struct wp_published_task task = {
		.pid = pid,
		.device = sum_number(events[0].device),
	};
	struct task_sums sums = *known_task_sums(pid, events[0].device);

	sum_task_runs(&task, runs, CPUS);
	sums.dirtied_bytes += task.dirtied_bytes;
	return sums;
}

/* The only device of the recording. */
static struct wp_published_device device_sum(void)
{
	struct wp_published_device sum =
		sum_device(devices[0].number, devices[0].cpus, CPUS);

	sum_device_runs(&sum, runs, CPUS);
	return sum;
}

TEST(sums_are_what_was_written)
{
	struct wp_published_device sum;

	replay();
	sum = device_sum();
	assert_int_equal(sum.dirtied_bytes, ALL_BYTES);
	assert_int_equal(sum.completed_bytes, COMPLETED_BYTES);
	assert_int_equal(sums_of(ONE_PID).dirtied_bytes, WP_MIB(1));
	assert_int_equal(sums_of(OTHER_PID).dirtied_bytes, WP_MIB(1));
}

TEST(only_pauses_with_a_length_count)
{
	struct wp_published_device sum;

	replay();
	sum = device_sum();
	assert_int_equal(sum.pauses, ALL_PAUSES);
	assert_int_equal(sum.paused_ns, ALL_TICKS * TICK_NS);
	assert_int_equal(sums_of(OTHER_PID).pauses, OTHER_PAUSES);
	assert_int_equal(sums_of(OTHER_PID).paused_ns, OTHER_TICKS * TICK_NS);
}

TEST(the_newest_rate_counts_whichever_cpu_heard_it)
{
	on_cpu = 1;
	on_rate(7, WP_MIB(1), 10);
	on_cpu = 0;
	on_rate(7, WP_MIB(2), 30);
	assert_int_equal(device_sum().rate_bps, WP_MIB(2));
	on_cpu = 1;
	on_rate(7, WP_MIB(3), 50);
	assert_int_equal(device_sum().rate_bps, WP_MIB(3));
}

TEST(visits_without_a_write_do_not_count)
{
	on_visit(7, WP_MIB(4));
	on_visit(7, 0);
	on_visit(7, -4096);
	on_cpu = 1;
	on_visit(7, 4096);
	assert_int_equal(device_sum().visits, 2);
	assert_int_equal(device_sum().visited_bytes, WP_MIB(4) + 4096);
}

TEST(an_hour_does_not_drift)
{
	struct wp_published_device sum;

	for (int round = 0; round < HOUR_ROUNDS; round++)
		replay();
	sum = device_sum();
	assert_int_equal(sum.dirtied_bytes, (uint64_t)ALL_BYTES * HOUR_ROUNDS);
	assert_int_equal(sum.completed_bytes, (uint64_t)COMPLETED_BYTES * HOUR_ROUNDS);
	assert_int_equal(sums_of(ONE_PID).dirtied_bytes, WP_MIB(1) * HOUR_ROUNDS);
}

TEST(full_tables_lose_events_and_nothing_else)
{
	room = 0;
	replay();
	memset(runs, 0, sizeof(runs));
	room = 1;
	current_pid = 1;
	dirty(1, 4096);
	dirty(2, 4096);
	on_synced(2, 5);
	assert_int_equal(devices[0].cpus[on_cpu].dirtied_bytes, 4096);
	assert_int_equal(tasks[0].sums.dirtied_bytes, 4096);
	assert_int_equal(tasks[0].sums.syncs, 0);
}

/* The one that goes on is no less there: a reader adds both. */
TEST(a_run_goes_into_the_sums_when_another_begins)
{
	current_pid = 1;
	dirty(7, 4096);
	dirty(7, WP_MIB(9));
	assert_int_equal(devices[0].cpus[on_cpu].dirtied_bytes, 0);
	assert_int_equal(device_sum().dirtied_bytes, 4096 + WP_MIB(9));
	assert_int_equal(runs[on_cpu].ended, 0);
	current_pid = 2;
	dirty(7, 4096);
	assert_int_equal(tasks[0].sums.dirtied_bytes, 4096 + WP_MIB(9));
	assert_int_equal(runs[on_cpu].ended, 1);
	assert_int_equal(device_sum().dirtied_bytes, 2 * 4096 + WP_MIB(9));
}

/* All block devices' own inodes are in one file system: theirs is told by the mapping. */
TEST(a_run_on_a_block_device_is_of_one_mapping)
{
	const uint64_t nodes = 1;
	const uint64_t one = 2;
	const uint64_t other = 3;
	struct dirt_run *run = &runs[on_cpu];

	run_begin(run, one, 5, 7);
	assert_true(run_goes_on(run, nodes, one, 5));
	assert_false(run_goes_on(run, nodes, other, 5));
	assert_false(run_goes_on(run, nodes, one, 6));
}

/* Two that take turns at every page cost more, and are told apart all the same. */
TEST(runs_are_of_one_process_one_device_and_one_cpu)
{
	for (unsigned i = 0; i < 100; i++) {
		current_pid = 1 + i % 2;
		on_cpu = i % 2;
		dirty(7 + i % 2, 4096);
	}
	for (unsigned i = 0; i < 100; i++) {
		current_pid = 1 + i % 2;
		on_cpu = 0;
		dirty(7, 4096);
	}
	current_pid = 3;
	for (on_cpu = 0; on_cpu < CPUS; on_cpu++)
		dirty(9, 4096);
	on_cpu = 0;
	assert_int_equal(known_task_sums(1, 7)->dirtied_bytes, 100 * 4096);
	assert_int_equal(known_task_sums(2, 7)->dirtied_bytes, 50 * 4096);
	assert_int_equal(known_task_sums(2, 8)->dirtied_bytes, 50 * 4096);
}

TEST(numbers_of_the_kernel_are_dev_t_here)
{
	uint64_t number = sum_number(253u << 20 | 300000);

	assert_int_equal(major(number), 253);
	assert_int_equal(minor(number), 300000);
	assert_int_equal(sum_kernel_number(number), 253u << 20 | 300000);
}

/* ------------------------------------------------------------------------- queue -- */

TEST(queue_is_read_as_the_kernel_writes_it)
{
	static const char text[] = "BdiWriteback:                8 kB\n"
				   "BdiReclaimable:          22176 kB\n"
				   "BdiDirtyThresh:         903780 kB\n"
				   "BdiDirtied:          277852248 kB\n"
				   "BdiWritten:           55208956 kB\n"
				   "BdiWriteBandwidth:        2280 kBps\n";
	struct queue queue;

	assert_true(queue_parse(text, &queue));
	assert_int_equal(queue.inflight_bytes, WP_KIB(8));
	assert_int_equal(queue.dirty_bytes, WP_KIB(22176));
	assert_int_equal(queue.dirtied_bytes, WP_KIB(277852248));
	assert_int_equal(queue.written_bytes, WP_KIB(55208956));
	assert_false(queue_parse("BdiWriteback:  8 kB\n", &queue));
	assert_false(queue_parse("", &queue));
}

/* ---------------------------------------------------------------- in the segment -- */

#define START 7
#define NOW WP_SEC(1000)

static struct observed_device last_seen;
static struct wp_device paced;

/* At @step tenths of a second; all in MB. Returns what is ours of it, in MB. */
static uint64_t see(unsigned step, uint64_t all, uint64_t ours, uint64_t completed,
		    uint64_t outstanding)
{
	struct wp_published_set set = { .heartbeat_ns = NOW + step * WP_MS(100),
					.start_ns = START };
	struct wp_published_device entry = {
		.dirtied_bytes = WP_MIB(all),
		.completed_bytes = WP_MIB(completed),
		.outstanding_bytes = WP_MIB(outstanding),
	};

	paced.dirtied_bytes = WP_MIB(ours);
	observed_see(&last_seen, &paced, &set, &entry, set.heartbeat_ns);
	assert_int_equal(paced.observed_ns, set.heartbeat_ns);
	/* one look tells nothing of what we had then */
	assert_int_equal(paced.observed_dirtied_bytes, step ? WP_MIB(ours) : 0);
	return paced.observed_bytes >> 20;
}

static int see_nothing(void **state)
{
	(void)state;
	memset(&last_seen, 0, sizeof(last_seen));
	memset(&paced, 0, sizeof(paced));
	return 0;
}

TEST(alone_all_that_is_outstanding_is_ours)
{
	assert_int_equal(see(0, 100, 0, 50, 0), 0);
	assert_int_equal(see(1, 108, 8, 50, 8), 8);
	assert_int_equal(see(2, 110, 10, 54, 6), 6);
	/* A program tells later than the kernel: the same in the end. */
	assert_int_equal(see(3, 114, 10, 54, 10), 6);
	assert_int_equal(see(4, 114, 14, 54, 10), 10);
}

TEST(others_bytes_are_theirs_and_leave_by_their_part)
{
	assert_int_equal(see(0, 100, 0, 50, 0), 0);
	assert_int_equal(see(1, 140, 10, 50, 40), 10);
	assert_int_equal(see(2, 140, 10, 70, 20), 5);
	assert_int_equal(see(3, 140, 10, 90, 0), 0);
}

TEST(what_was_there_before_the_observer_is_others_beyond_what_we_dirtied)
{
	see(0, 0, 3, 0, 20);
	assert_int_equal(see(1, 0, 3, 0, 20), 3);
	assert_int_equal(see(2, 2, 5, 0, 22), 5);
}

TEST(what_left_by_estimate_and_is_there_is_found_at_the_first_look)
{
	paced.outstanding_bytes = WP_MIB(1);
	see(0, 4, 4, 0, 4);
	assert_int_equal(paced.orphan_bytes, WP_MIB(3));
	assert_int_equal(paced.outstanding_bytes, WP_MIB(4));
	see(1, 8, 4, 0, 8);
	assert_int_equal(paced.outstanding_bytes, WP_MIB(4));
}

TEST(what_was_dirtied_after_the_observers_look_is_not_in_it)
{
	struct wp_published_set set = { .heartbeat_ns = NOW + WP_MS(125),
					.start_ns = START };
	struct wp_published_device entry = { 0 };

	see(0, 0, 0, 0, 0);
	see(1, 1, 1, 0, 1);
	paced.dirtied_bytes = WP_MIB(4);
	entry.dirtied_bytes = WP_MIB(1);
	observed_see(&last_seen, &paced, &set, &entry, NOW + WP_MS(200));
	assert_int_equal(paced.observed_dirtied_bytes, WP_MIB(1));
	/* counted before our last look, published after it */
	set.heartbeat_ns = NOW + WP_MS(190);
	paced.dirtied_bytes = WP_MIB(9);
	observed_see(&last_seen, &paced, &set, &entry, NOW + WP_MS(300));
	assert_int_equal(paced.observed_dirtied_bytes, WP_MIB(1));
}

/* --------------------------------------------------------------------- published -- */

static char folder[64];

static int make(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/writepace-test-XXXXXX");
	return mkdtemp(folder) ? read_events() : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static struct publication published(uint32_t entries)
{
	struct publication publication;

	assert_true(publish_begin(&publication, folder, "words", 0400, getuid(),
				  sizeof(uint64_t), entries));
	return publication;
}

static bool read_words(struct wp_published_set *set, uint64_t *words, uint32_t count)
{
	return published_read(folder, "words", set, words, sizeof(*words), count);
}

TEST(readers_see_the_last_set)
{
	struct publication publication = published(4);
	struct wp_published_set set = { .entries = 0 };
	uint64_t words[4] = { 1, 2, 3, 4 };
	struct stat st;

	assert_true(read_words(&set, words, 4)); /* nothing was published yet */
	assert_int_equal(set.entries, 0);
	for (uint64_t round = 1; round < 5; round++) {
		uint64_t known[4] = { 0 };

		words[0] = round;
		set = (struct wp_published_set){ .heartbeat_ns = round, .entries = 3 };
		assert_true(publish(&publication, &set, words));
		memset(&set, 0, sizeof(set));
		assert_true(read_words(&set, known, 4));
		assert_int_equal(set.heartbeat_ns, round);
		assert_int_equal(set.entries, 3);
		assert_int_equal(known[0], round);
		assert_int_equal(known[3], 0);
	}
	assert_true(read_words(&set, words, 2)); /* no more than there is room for */
	assert_int_equal(set.entries, 2);
	set.entries = 5;
	assert_false(publish(&publication, &set, words));
	assert_int_equal(stat(publication.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0400);
	publish_end(&publication);
	assert_false(read_words(&set, words, 4));
}

TEST(what_is_not_ours_is_not_read)
{
	struct publication publication = published(4);
	struct wp_published_set set;
	uint64_t words[4];

	assert_false(published_read(folder, "words", &set, words, 4, 4));
	assert_int_equal(truncate(publication.path, 40), 0);
	assert_false(read_words(&set, words, 4));
	publish_end(&publication);
}

#define RACE_ENTRIES 256
#define RACE_ROUNDS 20000

static void *write_rounds(void *argument)
{
	struct publication *publication = argument;
	static uint64_t words[RACE_ENTRIES];

	for (uint64_t round = 1; round <= RACE_ROUNDS; round++) {
		struct wp_published_set set = { .heartbeat_ns = round,
						.entries = RACE_ENTRIES };

		for (size_t i = 0; i < RACE_ENTRIES; i++)
			words[i] = round;
		if (!publish(publication, &set, words))
			return publication;
	}
	return NULL;
}

TEST(no_reader_sees_two_sets_at_once)
{
	struct publication publication = published(RACE_ENTRIES);
	uint64_t words[RACE_ENTRIES];
	uint64_t last = 0;
	uint64_t reads = 0;
	pthread_t writer;
	void *failed;

	assert_int_equal(pthread_create(&writer, NULL, write_rounds, &publication), 0);
	for (uint64_t tries = 0; last < RACE_ROUNDS && tries < 100 * RACE_ROUNDS;
	     tries++) {
		struct wp_published_set set;

		if (!read_words(&set, words, RACE_ENTRIES))
			continue;
		assert_true(set.heartbeat_ns >= last);
		last = set.heartbeat_ns;
		for (size_t i = 0; i < set.entries; i++)
			assert_int_equal(words[i], last);
		reads++;
	}
	pthread_join(writer, &failed);
	assert_null(failed);
	assert_true(reads > 0);
	publish_end(&publication);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sums_are_what_was_written, begin),
		cmocka_unit_test_setup(only_pauses_with_a_length_count, begin),
		cmocka_unit_test_setup(the_newest_rate_counts_whichever_cpu_heard_it,
				       begin),
		cmocka_unit_test_setup(visits_without_a_write_do_not_count, begin),
		cmocka_unit_test_setup(an_hour_does_not_drift, begin),
		cmocka_unit_test_setup(full_tables_lose_events_and_nothing_else, begin),
		cmocka_unit_test_setup(a_run_goes_into_the_sums_when_another_begins,
				       begin),
		cmocka_unit_test_setup(a_run_on_a_block_device_is_of_one_mapping, begin),
		cmocka_unit_test_setup(runs_are_of_one_process_one_device_and_one_cpu,
				       begin),
		cmocka_unit_test(numbers_of_the_kernel_are_dev_t_here),
		cmocka_unit_test(queue_is_read_as_the_kernel_writes_it),
		cmocka_unit_test_setup(alone_all_that_is_outstanding_is_ours,
				       see_nothing),
		cmocka_unit_test_setup(others_bytes_are_theirs_and_leave_by_their_part,
				       see_nothing),
		cmocka_unit_test_setup(
			what_was_there_before_the_observer_is_others_beyond_what_we_dirtied,
			see_nothing),
		cmocka_unit_test_setup(
			what_left_by_estimate_and_is_there_is_found_at_the_first_look,
			see_nothing),
		cmocka_unit_test_setup(
			what_was_dirtied_after_the_observers_look_is_not_in_it,
			see_nothing),
		cmocka_unit_test(readers_see_the_last_set),
		cmocka_unit_test(what_is_not_ours_is_not_read),
		cmocka_unit_test(no_reader_sees_two_sets_at_once),
	};

	return cmocka_run_group_tests(tests, make, remove_folder);
}
