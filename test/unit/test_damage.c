/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: a time that lies an hour ahead holds up nothing for that hour: what follows is what
 * follows on a time of long ago. And 1000 segments full of random bytes, and every public function of src/shm on them: what
 * comes back is bounded, nothing crashes, nothing loops without end (layout.h: random bytes may
 * cost accuracy only). Best run with the sanitizers, too.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "age/age.h"
#include "base/order.h"
#include "base/stamp.h"
#include "core/balance.h"
#include "flush/flush.h"
#include "host/kernel.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/orphan.h"
#include "shm/segment.h"
#include "shm/setting.h"
#include "shm/sync.h"
#include "shm/task.h"

#define NOW WP_SEC(1000)
#define AHEAD (NOW + WP_SEC(3600))

static const struct bounds standard = {
	.drain_ns = WP_SEC(1),
	.latency_ns = WP_MS(50),
	.background_pm = 500,
};

#define SEEDS 1000

/* Every word is random, or every eighth, or every 64th; the widths of the values too. */
static void damage(struct wp_segment *segment, uint64_t *seed)
{
	uint64_t *words = (uint64_t *)segment;
	uint64_t mask = (UINT64_C(1) << (3 * (next_random(seed) % 3))) - 1;

	for (size_t i = 0; i < sizeof(*segment) / sizeof(uint64_t); i++) {
		uint64_t value = next_random(seed);

		if (!(value & mask))
			words[i] = next_random(seed) >> (value >> 58);
	}
}

static void assert_sane(const struct wp_device *device, uint64_t now_ns)
{
	struct view view = {
		.now_ns = now_ns,
		.outstanding_bytes = device_outstanding_bytes(device),
		.dirtied_bytes = 100000,
		.paused_when_ns = now_ns - WP_MS(20),
	};
	struct control control;
	struct verdict verdict;

	assert_in_range(view.outstanding_bytes, 0, WP_GIB(1024));
	assert_in_range(device_inflight_bytes(device), 0, WP_GIB(1024));
	device_control(device, &control);
	/* unless the damaged stamp looks like one of this second, and nobody steps yet */
	if (control.stamp_ns == now_ns)
		assert_in_range(control.window.bytes, WINDOW_MIN_BYTES, WINDOW_MAX_BYTES);
	balance(&verdict, &view, &control, &standard);
	assert_in_range(verdict.pause_ns, 0, WP_MS(200));
	assert_in_range(verdict.pos_q10, 0, 2048);
	assert_in_range(verdict.piece_bytes, PIECE_LEAST_BYTES, PIECE_MAX_BYTES);
	assert_true(verdict.poll_bytes >= WP_PAGE_BYTES);
	assert_true(verdict.limit_bytes >= LIMITS_ROOM_BYTES);
}

static void use_device(struct wp_segment *segment, uint64_t *seed, uint64_t now_ns)
{
	struct wp_device *device = &segment->devices[next_random(seed) % WP_DEVICES];
	struct control control;
	uint64_t next_ns = 0;

	device_control(device, &control);
	device_dirtied(device, next_random(seed) >> 40);
	device_completed(device, next_random(seed) >> 40, now_ns);
	device_orphaned(device, next_random(seed) >> 40, now_ns);
	device_drain_orphans(device, bandwidth_assumed_bps(&control.bandwidth), now_ns);
	device_looked(device, next_random(seed) & 1, WP_MS(20), now_ns);
	device_step(device, &standard, now_ns);
	device_step(device, &standard, now_ns + WP_MS(10));
	device_control(device, &control);
	spacing_may_start(word_read(&device->start_ns), control_interval_ns(&control),
			  now_ns, &next_ns);
	assert_sane(device, now_ns + WP_MS(10));
}

static void use_file(struct wp_segment *segment, uint64_t *seed, uint64_t now_ns)
{
	uint64_t inode = next_random(seed) >> 40;
	int device = (int)(next_random(seed) % WP_DEVICES);
	int slot = file_slot(segment, device, inode);
	struct file_look look = {
		.present_bytes = next_random(seed) >> 40,
		.inflight_bytes = next_random(seed) >> 44,
		.dirtied_bytes = next_random(seed) >> 44,
		.others_bytes = next_random(seed) >> 44,
		.now_ns = now_ns,
	};
	struct wp_file *file;

	assert_true(slot >= -1 && slot < (int)WP_FILES);
	file = &segment->files[slot < 0 ? next_random(seed) % WP_FILES : (uint64_t)slot];
	file_settle(file, &segment->devices[device], &look);
	file_started(file, &segment->devices[device], WP_KIB(64));
	if (inode & 1)
		file_abandon(file, &segment->devices[device], now_ns);
	file_settle(file, &segment->devices[device], &look);
	/* damage or not: no more is accounted than is there */
	assert_true(word_read(&file->accounted_bytes) <= look.present_bytes);
}

TEST(damaged_segment_neither_crashes_nor_hangs)
{
	struct wp_segment *segment = calloc(1, sizeof(*segment));

	assert_non_null(segment);
	alarm(60); /* an endless loop ends here, and the test with it */
	for (uint64_t seed_number = 1; seed_number <= SEEDS; seed_number++) {
		uint64_t seed = seed_number * UINT64_C(0x9e3779b97f4a7c15);
		uint64_t now_ns = NOW + seed_number * WP_SEC(100);

		damage(segment, &seed);
		for (int i = 0; i < 20; i++) {
			struct task_identity identity = { .id = next_random(&seed) };
			int slot = device_slot(segment, next_random(&seed));

			assert_true(slot >= -1 && slot < (int)WP_DEVICES);
			slot = task_slot(segment, (int)(uint32_t)next_random(&seed),
					 &identity, now_ns);
			assert_true(slot >= -1 && slot < (int)WP_TASKS);
			use_device(segment, &seed, now_ns);
			use_file(segment, &seed, now_ns);
			now_ns += WP_MS(300);
		}
		file_sweep(segment, now_ns);
		file_sweep(segment, now_ns + WP_SEC(2));
	}
	alarm(0);
	free(segment);
}

/* ------------------------------------------------------- times that lie ahead -- */

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

TEST(a_little_ahead_is_now_and_far_ahead_is_long_ago)
{
	assert_int_equal(stamp_age_ns(NOW - 5, NOW), 5);
	assert_int_equal(stamp_age_ns(NOW, NOW), 0);
	assert_int_equal(stamp_age_ns(NOW + STAMP_SLACK_NS, NOW), 0);
	assert_true(stamp_age_ns(NOW + STAMP_SLACK_NS + 1, NOW) == UINT64_MAX);
	assert_true(stamp_age_ns(UINT64_MAX, NOW) == UINT64_MAX);
}

static void end_of_a_period_ahead_does_not_stop_aging(void **state)
{
	static const uint64_t ends[] = { AHEAD, UINT64_MAX, INT64_MAX };
	struct wp_segment *segment = *state;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		uint64_t before = segment->writeout.period;

		fprop_add(&segment->writeout, &segment->devices[0].writeout, 1000, 0);
		segment->header.period_end_ns = ends[i];
		assert_int_equal(age_step(segment, NOW), NOW + AGE_PERIOD_NS);
		age_step(segment, NOW + AGE_PERIOD_NS);
		assert_int_equal(segment->writeout.period, before + 1);
	}
}

static void length_of_a_period_is_bounded(void **state)
{
	static const uint64_t lengths[] = { UINT64_MAX - 1, WP_SEC(3601), 1 };
	struct wp_segment *segment = *state;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		segment->header.period_end_ns = 0;
		segment->header.period_ns = lengths[i];
		assert_true(age_started(segment, NOW));
		assert_int_equal(segment->header.period_end_ns, NOW + AGE_PERIOD_NS);
	}
}

static void heartbeat_ahead_is_no_helper(void **state)
{
	struct wp_segment *segment = *state;

	segment->header.helper_ns = NOW;
	assert_true(segment_is_helped(segment, NOW + WP_SEC(5)));
	assert_false(segment_is_helped(segment, NOW + WP_SEC(5) + 1));
	segment->header.helper_ns = AHEAD;
	assert_false(segment_is_helped(segment, NOW));
}

static void orphans_ahead_are_drained(void **state)
{
	struct wp_device *device = &((struct wp_segment *)*state)->devices[0];

	device_dirtied(device, WP_MIB(1));
	device_orphaned(device, WP_MIB(1), NOW);
	device->orphan_ns = AHEAD;
	device_drain_orphans(device, WP_MIB(10), NOW);
	device_drain_orphans(device, WP_MIB(10), NOW + WP_MS(50));
	assert_near(device->orphan_bytes, WP_KIB(512), 1024);
}

static void statistics_ahead_are_none(void **state)
{
	struct wp_device *device = &((struct wp_segment *)*state)->devices[0];

	device->stat_written_bytes = 5000000;
	device_dirtied(device, WP_MIB(1));
	device_orphaned(device, WP_MIB(1), NOW);
	device->stat_ns = AHEAD;
	device_drain_orphans(device, WP_MIB(10), NOW + WP_MS(50));
	assert_near(device->orphan_bytes, WP_KIB(512), 1024);
}

static void device_looked_at_ahead_is_not_in_use(void **state)
{
	struct wp_segment *segment = *state;
	struct wp_device *device = &segment->devices[device_slot(segment, 5)];
	struct control control = { .bandwidth = { .avg_bps = WP_MIB(10) } };

	device->look_ns = NOW;
	memcpy(device->control, &control, sizeof(control));
	file_sweep(segment, NOW);
	assert_int_equal(segment->header.bandwidth_in_use_bps, WP_MIB(10));
	device->look_ns = AHEAD;
	file_sweep(segment, NOW + WP_SEC(2));
	assert_int_equal(segment->header.bandwidth_in_use_bps, 0);
}

/* Ten seconds of a device that writes 10 MiB/s, always busy; what it learned in them. */
static struct control busy_control(struct wp_device *device)
{
	struct control control;

	for (uint64_t ns = WP_MS(20); ns <= WP_SEC(10); ns += WP_MS(20)) {
		device_dirtied(device, WP_MIB(10) / 50);
		device_completed(device, WP_MIB(10) / 50, NOW + ns);
		word_add(&device->starts, 2);
		device_step(device, &standard, NOW + ns);
	}
	device_control(device, &control);
	return control;
}

/* Of a device whose word @word lies ahead; the same must come out as without. */
static void assert_learns(struct wp_device *device, uint64_t *word)
{
	struct wp_device undamaged = { 0 };
	struct control expected;
	struct control control;

	device_step(&undamaged, &standard, NOW);
	device_step(device, &standard, NOW);
	*word = AHEAD;
	expected = busy_control(&undamaged);
	control = busy_control(device);
	assert_near(control.bandwidth.avg_bps, expected.bandwidth.avg_bps, WP_MIB(1));
	assert_true(control.base_stamp_ns > NOW + WP_SEC(9) &&
		    control.base_stamp_ns <= NOW + WP_SEC(10));
	assert_true(control.window.epoch_ns <= NOW + WP_SEC(10));
	assert_int_not_equal(control.window.phase, WINDOW_START);
	assert_true(control.spacing.epoch_ns <= NOW + WP_SEC(10));
	assert_true(control.fall.stamp_ns <= NOW + WP_SEC(10));
	assert_near(control.speed.bps, expected.speed.bps, WP_MIB(1));
}

TEST(device_learns_whatever_lies_ahead)
{
	static const size_t stamps[] = {
		offsetof(struct control, stamp_ns),
		offsetof(struct control, bandwidth_stamp_ns),
		offsetof(struct control, bandwidth_written_bytes),
		offsetof(struct control, base_stamp_ns),
		offsetof(struct control, base_dirtied_bytes),
		offsetof(struct control, newcomer_stamp_ns),
		offsetof(struct control, window.epoch_ns),
		offsetof(struct control, window.epoch_written_bytes),
		offsetof(struct control, spacing.epoch_ns),
		offsetof(struct control, spacing.epoch_written_bytes),
		offsetof(struct control, fall.stamp_ns),
		offsetof(struct control, fall.written_bytes),
		offsetof(struct control, begin_ns),
		offsetof(struct control, begin_written_bytes),
		offsetof(struct control, speed.begin_ns),
		offsetof(struct control, speed.begin_written_bytes),
	};
	struct wp_device device = { 0 };

	assert_learns(&device, &device.idle_ns);
	for (size_t i = 0; i < sizeof(stamps) / sizeof(stamps[0]); i++) {
		memset(&device, 0, sizeof(device));
		assert_learns(&device, &device.control[stamps[i] / sizeof(uint64_t)]);
	}
}

/* Not a time but as long: what is held for an hour. */
TEST(hold_of_a_window_is_bounded)
{
	struct wp_device device = { 0 };
	struct control control;

	busy_control(&device);
	device.control[offsetof(struct control, window.hold_ns) / sizeof(uint64_t)] =
		AHEAD;
	device_step(&device, &standard, NOW + WP_SEC(11));
	device_control(&device, &control);
	assert_true(control.window.hold_ns <= WINDOW_HOLD_MAX_NS);
}

/* A hold that ended ahead, or lasted for hours, keeps nobody from the next one. */
TEST(a_sync_is_first_whatever_the_last_hold_was)
{
	static const struct {
		uint64_t begin_ns;
		uint64_t end_ns;
	} holds[] = {
		{ NOW - WP_SEC(9), AHEAD },      { 0, NOW - WP_SEC(2) },
		{ AHEAD, AHEAD + WP_SEC(1) },    { UINT64_MAX, UINT64_MAX },
		{ NOW + WP_SEC(1), UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++) {
		struct wp_device device = { .hold_begin_ns = holds[i].begin_ns,
					    .hold_end_ns = holds[i].end_ns };

		sync_begins(&device, 1, WP_MS(100), NOW);
		assert_true(sync_holds(&device, NOW + WP_MS(50)));
		assert_false(sync_holds(&device, NOW + WP_MS(101)));
	}
}

TEST(setting_without_its_seal_is_nobodys_word)
{
	static const uint64_t values[] = { 1, 65536, WP_GIB(1), UINT64_MAX };
	struct wp_setting setting = { 0 };
	uint64_t seed = 5;

	assert_int_equal(setting_value(&setting), 0);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		setting = setting_of(values[i]);
		assert_true(setting_value(&setting) == values[i]);
		setting.value ^= UINT64_C(1) << i * 16;
		assert_int_equal(setting_value(&setting), 0);
		setting = (struct wp_setting){ values[i], values[i] };
		assert_int_equal(setting_value(&setting), 0);
	}
	for (int i = 0; i < 1000000; i++) {
		setting.value = next_random(&seed) >> (i & 63);
		setting.seal = next_random(&seed);
		assert_int_equal(setting_value(&setting), 0);
	}
}

/* Full of what never was: the first that comes finds a place all the same. */
static void devices_that_never_were_make_room(void **state)
{
	struct wp_segment *segment = *state;
	int slot;

	segment->header.sweep_ns = NOW;
	for (size_t i = 0; i < WP_DEVICES; i++) {
		segment->devices[i].key = 1000 + i;
		segment->devices[i].look_ns = NOW - WP_SEC(599);
	}
	assert_int_equal(device_slot(segment, 5), -1);
	segment->devices[70].look_ns = AHEAD;
	segment->devices[70].alias = 3;
	segment->devices[70].outstanding_bytes = 12345;
	segment->devices[80].look_ns = NOW - WP_SEC(600);
	slot = device_slot(segment, 5);
	assert_int_equal(slot, 70);
	assert_int_equal(device_number(&segment->devices[70]), 5);
	assert_int_equal(device_real_slot(segment, 70), 70);
	assert_int_equal(segment->devices[70].outstanding_bytes, 0);
	assert_int_equal(device_slot(segment, 5), 70);
	assert_int_equal(device_slot(segment, 6), 80);
	assert_int_equal(device_slot(segment, 7), -1);
}

static void turn_ahead_is_due(void **state)
{
	uint64_t next_ns = 0;

	(void)state;
	assert_false(spacing_may_start(NOW + WP_MS(10), WP_MS(20), NOW, &next_ns));
	assert_true(spacing_may_start(AHEAD, WP_MS(20), NOW, &next_ns));
	assert_in_range(next_ns, NOW, NOW + WP_MS(20));
}

static void file_seen_ahead_is_silent(void **state)
{
	struct wp_segment *segment = *state;
	int device = device_slot(segment, 5);
	struct wp_file *file = &segment->files[file_slot(segment, device, 7)];
	struct file_look look = {
		.present_bytes = 5000,
		.dirtied_bytes = 5000,
		.now_ns = NOW,
	};

	file_settle(file, &segment->devices[device], &look);
	file->seen_ns = AHEAD;
	assert_true(file_is_silent(file, NOW));
	file_sweep(segment, NOW + WP_SEC(1));
	assert_int_equal(file->accounted_bytes, 0);
	assert_int_equal(segment->devices[device].orphan_bytes, 5000);
}

/* A real file, dirty in what is taken for its clean head. */
static void head_looked_at_ahead_is_looked_at_again(void **state)
{
	struct wp_segment *segment = *state;
	char path[] = "/var/tmp/test_damage.XXXXXX";
	struct flush_file flush = {
		.fd = mkstemp(path),
		.file = &segment->files[0],
		.device = &segment->devices[0],
	};
	struct file_look look = { .now_ns = NOW };
	struct kernel_pages pages;
	int error;

	assert_true(flush.fd >= 0);
	unlink(path);
	assert_int_equal(pwrite(flush.fd, "x", 1, 0), 1);
	error = kernel_cachestat(flush.fd, 0, 4096, &pages);
	flush.file->low_bytes = 4096;
	flush.file->cursor_bytes = 4096;
	flush.file->whole_ns = AHEAD;
	flush_look(&flush, &look);
	close(flush.fd);
	if (error || !pages.dirty_bytes) {
		print_message("# no cachestat here\n");
		skip();
	}
	assert_int_equal(flush.file->low_bytes, 0);
}

#define ON_SEGMENT(test) cmocka_unit_test_setup_teardown(test, new_segment, free_segment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_little_ahead_is_now_and_far_ahead_is_long_ago),
		ON_SEGMENT(end_of_a_period_ahead_does_not_stop_aging),
		ON_SEGMENT(length_of_a_period_is_bounded),
		ON_SEGMENT(heartbeat_ahead_is_no_helper),
		ON_SEGMENT(orphans_ahead_are_drained),
		ON_SEGMENT(statistics_ahead_are_none),
		ON_SEGMENT(device_looked_at_ahead_is_not_in_use),
		cmocka_unit_test(device_learns_whatever_lies_ahead),
		cmocka_unit_test(hold_of_a_window_is_bounded),
		cmocka_unit_test(a_sync_is_first_whatever_the_last_hold_was),
		cmocka_unit_test(setting_without_its_seal_is_nobodys_word),
		ON_SEGMENT(devices_that_never_were_make_room),
		ON_SEGMENT(turn_ahead_is_due),
		ON_SEGMENT(file_seen_ahead_is_silent),
		ON_SEGMENT(head_looked_at_ahead_is_looked_at_again),
		cmocka_unit_test(damaged_segment_neither_crashes_nor_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
