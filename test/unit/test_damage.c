/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: 1000 segments full of random bytes, and every public function of src/shm on them: what
 * comes back is bounded, nothing crashes, nothing loops without end (layout.h: random bytes may
 * cost accuracy only). Best run with the sanitizers, too.
 */
#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/order.h"
#include "core/balance.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/task.h"

#define NOW WP_SEC(1000)

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_segment_neither_crashes_nor_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
