/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A segment that somebody writes into, and who uses it. Input: steps of ten bytes: what, which
 * slot, a value; a step writes a word of header, device, task, file or setting, or is a visit.
 * Oracle: layout.h: whatever stands there costs accuracy only: what comes out is bounded, no index
 * leads out of it, and a sweep an hour later finds an order again.
 */
#include "fuzz.h"

#include <sys/mman.h>

#include "age/age.h"
#include "base/order.h"
#include "core/balance.h"
#include "core/spacing.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/note.h"
#include "shm/orphan.h"
#include "shm/segment.h"
#include "shm/sync.h"
#include "shm/task.h"
#include "shm/turn.h"

#define NOW WP_SEC(100000)
#define STEP_BYTES 10
#define STEPS_MAX 100

static const struct bounds bounds = {
	.drain_ns = WP_SEC(1),
	.latency_ns = WP_MS(50),
	.background_pm = 500,
	.burst_bytes = WP_MIB(1),
};

static struct wp_segment *map;
static uint64_t now_ns;

static const struct part {
	size_t offset;
	size_t bytes;
	size_t count;
} parts[] = {
	{ offsetof(struct wp_segment, header), sizeof(struct wp_header), 1 },
	{ offsetof(struct wp_segment, devices), sizeof(struct wp_device), WP_DEVICES },
	{ offsetof(struct wp_segment, devices), sizeof(struct wp_device), WP_DEVICES },
	{ offsetof(struct wp_segment, tasks), sizeof(struct wp_task), WP_TASKS },
	{ offsetof(struct wp_segment, files), sizeof(struct wp_file), WP_FILES },
	{ offsetof(struct wp_segment, notes), sizeof(struct wp_note), WP_TASKS },
	{ offsetof(struct wp_segment, writeout), sizeof(struct fprop_domain), 1 },
	{ offsetof(struct wp_segment, dirtied), sizeof(struct fprop_domain), 1 },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void poke(const struct part *part, unsigned slot, unsigned word, uint64_t value)
{
	size_t at = part->offset + slot % part->count * part->bytes +
		    word * sizeof(uint64_t) % part->bytes;

	word_write((uint64_t *)(void *)((char *)map + at), value);
}

static void check_balance(const struct wp_device *device)
{
	struct view view = {
		.now_ns = now_ns,
		.outstanding_bytes = device_outstanding_bytes(device),
		.dirtied_bytes = 100000,
		.paused_when_ns = now_ns - WP_MS(20),
	};
	struct control control;
	struct verdict verdict;

	device_control(device, &control);
	balance(&verdict, &view, &control, &bounds);
	must(verdict.pause_ns <= WP_MS(200));
	must(verdict.piece_bytes >= PIECE_LEAST_BYTES &&
	     verdict.piece_bytes <= PIECE_MAX_BYTES);
	must(verdict.poll_bytes >= WP_PAGE_BYTES);
	must(verdict.limit_bytes >= LIMITS_ROOM_BYTES);
	must(window_unit_bytes(&control.window) >= WINDOW_MIN_BYTES);
	must(window_bytes(&control.window) <= WINDOW_MAX_BYTES);
}

static void visit_file(int device_at, struct wp_device *device, unsigned inode,
		       uint64_t value)
{
	int at = file_slot(map, device_at, inode);
	struct file_look look = {
		.present_bytes = value & 0xffffff,
		.inflight_bytes = value >> 8 & 0xffff,
		.dirtied_bytes = value >> 24 & 0xffffff,
		.others_bytes = value >> 48,
		.now_ns = now_ns,
	};
	struct wp_file *file;
	uint64_t watch_ns;

	must(at >= -1 && at < (int)WP_FILES);
	if (at < 0)
		return;
	file = &map->files[at];
	file_settle(file, device, &look);
	must(word_read(&file->accounted_bytes) <= look.present_bytes);
	fprop_add_max(&map->writeout, &device->writeout, look.completed_bytes, 512,
		      inode);
	if (turn_take(device, file, value & 0xffffff, WP_MIB(4), now_ns)) {
		file_started(file, device, WP_KIB(64));
		turn_spend(device, file, WP_KIB(64), now_ns);
	}
	watch_ns = device_watch(device, 0, now_ns + WP_MS(5), now_ns);
	device_unwatch(device, watch_ns);
	if (value & 1)
		file_cancelled(file, device, value & 0xffff);
	if (value & 2)
		file_abandon(file, device, now_ns);
	if (value & 4)
		file_vanished(file, device);
}

static void visit_device(struct wp_device *device, uint64_t value)
{
	struct fprop_fraction share;
	struct control control;
	uint64_t next_ns = 0;

	device_looked(device, value & 1, WP_MS(20), now_ns);
	device_step(device, &bounds, now_ns);
	device_control(device, &control);
	device_drain_orphans(device, bandwidth_assumed_bps(&control.bandwidth), now_ns);
	if (spacing_may_start(word_read(&device->start_ns), control_interval_ns(&control),
			      now_ns, &next_ns))
		word_write(&device->start_ns, next_ns);
	must(device_ceiling_ns(device, value & 0xffffff, WP_MIB(1), now_ns) <
	     now_ns + WP_SEC(60));
	sync_begins(device, value & 7, WP_MS(100), now_ns);
	sync_ends(device, now_ns + WP_MS(1));
	must(!sync_holds(device, now_ns + WP_SEC(2)));
	share = fprop_share(&map->writeout, &device->writeout);
	must(share.denominator && share.numerator <= share.denominator);
	check_balance(device);
}

static void visit(unsigned slot, uint64_t value)
{
	struct task_identity identity = { .id = (uint64_t)slot << 32 | 1,
					  .start_ns = value & 3 };
	int device_at = device_slot(map, slot % 5);
	int task_at = task_slot(map, (int)(value & 0xffff), &identity, now_ns);

	must(device_at >= -1 && device_at < (int)WP_DEVICES);
	must(task_at >= -1 && task_at < (int)WP_TASKS);
	if (task_at >= 0) {
		struct verdict verdict;

		note_get(note_of(map, task_at, &identity), &verdict);
		fprop_add_single(&map->dirtied, &map->tasks[task_at].dirtied_word,
				 value & 0xffffff, slot);
	}
	age_started(map, now_ns);
	age_step(map, now_ns);
	if (device_at < 0)
		return;
	device_at = device_real_slot(map, device_at);
	must(device_at >= 0 && device_at < (int)WP_DEVICES);
	visit_file(device_at, &map->devices[device_at], slot, value);
	visit_device(&map->devices[device_at], value);
	file_sweep(map, now_ns);
}

/* Is it ours? Another one is mapped where it is not. */
static void check_header(void)
{
	struct segment segment = { .state = SEGMENT_SHARED, .map = map };
	bool ready = segment_ready(&segment);

	must(ready);
	if (segment.map == map)
		must(map->header.segment_bytes == sizeof(*map));
	else
		munmap(segment.map, sizeof(*map));
}

static void step(const uint8_t *data)
{
	unsigned slot = data[1];
	uint64_t value;

	memcpy(&value, data + 2, sizeof(value));
	if (data[0] & 0x80) {
		now_ns += value % WP_MS(300);
		visit(slot, value);
		return;
	}
	/* times near now are what is believed */
	if (data[0] & 0x40)
		value = now_ns + (value & 0xfffffffffff) - (UINT64_C(1) << 43);
	poke(&parts[data[0] % PARTS], slot, data[0] / 8u % 8 * 16 + data[9] % 16u, value);
}

/* Nobody writes into it any more: what was damaged is mended, or as good as gone. */
static void check_order(void)
{
	for (size_t i = 0; i < 5; i++) {
		now_ns += WP_SEC(1200);
		file_sweep(map, now_ns);
		age_step(map, now_ns);
	}
	for (size_t i = 0; i < WP_FILES; i++)
		must(!map->files[i].accounted_bytes && !map->files[i].inflight_bytes);
	for (size_t i = 0; i < WP_DEVICES; i++) {
		const struct wp_device *device = &map->devices[i];

		if (!device->key || device_real_slot(map, (int)i) != (int)i)
			continue;
		must(device->outstanding_bytes == device->orphan_bytes);
		must(!device->inflight_bytes);
	}
	must(map->header.period_end_ns <= now_ns + WP_SEC(3600) + WP_SEC(35));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (!map)
		map = malloc(sizeof(*map));
	must(map);
	memset(map, 0, sizeof(*map));
	map->header.magic = WP_LAYOUT_MAGIC;
	map->header.version = WP_LAYOUT_VERSION;
	map->header.segment_bytes = sizeof(*map);
	now_ns = NOW;
	for (size_t i = 0; bytes >= STEP_BYTES && i < STEPS_MAX; i++) {
		step(data);
		data += STEP_BYTES;
		bytes -= STEP_BYTES;
	}
	check_header();
	check_order();
	return 0;
}
