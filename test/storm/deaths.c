/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A task does everything that is done to a segment, once, and dies behind its first write to it,
 * behind its second, and so on to the last: there are no other states that a death could leave.
 * Oracle: whatever it was, two seconds later nothing is claimed any more, the sums of each device
 * are those of its files, what was outstanding is gone after 70 s, and another task finds all
 * doors open. The engine is built with WP_POINTS.
 */
#include "../unit/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "age/age.h"
#include "base/order.h"
#include "core/balance.h"
#include "core/spacing.h"
#include "host/sys.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/note.h"
#include "shm/orphan.h"
#include "shm/sync.h"
#include "shm/task.h"
#include "shm/turn.h"

#define NOW WP_SEC(1000)
#define DEVICE 0x801u
#define BANDWIDTH_BPS WP_MIB(20)
#define DIRT_BYTES WP_MIB(1)
#define ALL_DIRT_BYTES (16 * DIRT_BYTES) /* more than anybody dirties here */

static const struct bounds bounds = {
	.drain_ns = WP_SEC(1),
	.latency_ns = WP_MS(50),
	.background_pm = 500,
};

static struct wp_segment *map;
static struct wp_segment *before; /* as it was when the task that dies began */
static uint64_t left;             /* writes until it dies, 0 = it does not */
static uint64_t points;           /* writes so far */

void order_point(void)
{
	points++;
	if (left && !--left)
		sys_call(SYS_kill, sys_call(SYS_getpid), SIGKILL);
}

/* ---------------------------------------------------------- what a task does ---- */

struct actor {
	struct task_identity identity;
	uint64_t inode;
	int device;
	struct wp_file *file;
	uint64_t now_ns;
};

static struct wp_device *device_of(const struct actor *actor)
{
	return &map->devices[actor->device];
}

static void arrive(struct actor *actor)
{
	int slot = task_slot(map, -1, &actor->identity, actor->now_ns);
	struct wp_note *note = note_of(map, slot, &actor->identity);
	struct verdict verdict = { .pause_ns = WP_MS(20) };

	actor->device = device_slot(map, DEVICE);
	actor->file = &map->files[file_slot(map, actor->device, actor->inode)];
	note_put(note, &verdict);
	age_started(map, actor->now_ns);
	age_step(map, actor->now_ns);
	fprop_add_single(&map->dirtied, &map->tasks[slot].dirtied_word, DIRT_BYTES, 1);
}

/* One look at the file: @dirtied new, @present there by now. */
static void settle(struct actor *actor, uint64_t dirtied, uint64_t present,
		   uint64_t inflight)
{
	struct file_look look = {
		.dirtied_bytes = dirtied,
		.present_bytes = present,
		.inflight_bytes = inflight,
		.now_ns = actor->now_ns,
	};

	file_settle(actor->file, device_of(actor), &look);
	if (look.completed_bytes)
		fprop_add_max(&map->writeout, &device_of(actor)->writeout,
			      look.completed_bytes, FPROP_MAX_Q10, 1);
}

static void start(struct actor *actor, uint64_t bytes)
{
	struct wp_device *device = device_of(actor);
	uint64_t watch_ns =
		device_watch(device, 0, actor->now_ns + WP_MS(5), actor->now_ns);
	uint64_t next_ns;

	if (turn_take(device, actor->file, DIRT_BYTES, DIRT_BYTES, actor->now_ns) &&
	    spacing_may_start(word_read(&device->start_ns), WP_MS(5), actor->now_ns,
			      &next_ns)) {
		word_replace(&device->start_ns, word_read(&device->start_ns), next_ns);
		file_started(actor->file, device, bytes);
		turn_spend(device, actor->file, bytes, actor->now_ns);
		word_add(&device->starts, 1);
	}
	device_unwatch(device, watch_ns);
	device_looked(device, true, WP_MS(20), actor->now_ns);
	device_step(device, &bounds, actor->now_ns);
	device_drain_orphans(device, BANDWIDTH_BPS, actor->now_ns);
	file_sweep(map, actor->now_ns);
}

static void sync_once(struct actor *actor)
{
	sync_begins(device_of(actor), 7, WP_MS(100), actor->now_ns);
	actor->now_ns += WP_MS(20);
	sync_ends(device_of(actor), actor->now_ns);
}

static void write_and_leave(struct actor *actor)
{
	struct wp_device *device;

	arrive(actor);
	device = device_of(actor);
	settle(actor, DIRT_BYTES, DIRT_BYTES, 0);
	start(actor, WP_KIB(256));
	actor->now_ns += WP_MS(300);
	settle(actor, DIRT_BYTES, DIRT_BYTES * 3 / 2, WP_KIB(128));
	start(actor, WP_KIB(256));
	sync_once(actor);
	actor->now_ns += WP_MS(300);
	file_cancelled(actor->file, device, DIRT_BYTES);
	file_dirtied(actor->file, device, DIRT_BYTES / 4, actor->now_ns);
	file_release(actor->file, device);
	turn_end(device, actor->file);
	/* closed, opened again, closed and unlinked */
	file_abandon(actor->file, device, actor->now_ns);
	actor->now_ns += WP_MS(500);
	settle(actor, DIRT_BYTES, DIRT_BYTES * 3 / 2, 0);
	start(actor, WP_KIB(256));
	file_abandon(actor->file, device, actor->now_ns);
	file_vanished(actor->file, device);
	device_ceiling_ns(device, DIRT_BYTES, BANDWIDTH_BPS, actor->now_ns);
	device_drop_orphans(device, DIRT_BYTES / 8);
}

/* ------------------------------------------------------------- what must hold ---- */

static void assert_sums(uint64_t death)
{
	const struct wp_device *device = &map->devices[device_slot(map, DEVICE)];
	uint64_t accounted_bytes = 0;
	uint64_t inflight_bytes = 0;

	for (size_t i = 0; i < WP_FILES; i++) {
		accounted_bytes += map->files[i].accounted_bytes;
		inflight_bytes += map->files[i].inflight_bytes;
	}
	if (device->outstanding_bytes - device->orphan_bytes != accounted_bytes)
		fail_msg("death %llu: outstanding %lld, orphans %lld, files %lld",
			 (unsigned long long)death, (long long)device->outstanding_bytes,
			 (long long)device->orphan_bytes, (long long)accounted_bytes);
	if (device->inflight_bytes != inflight_bytes || inflight_bytes)
		fail_msg("death %llu: in flight %lld, files %lld",
			 (unsigned long long)death, (long long)device->inflight_bytes,
			 (long long)inflight_bytes);
	if (accounted_bytes || device->outstanding_bytes > ALL_DIRT_BYTES)
		fail_msg("death %llu: still claimed %lld, outstanding %lld",
			 (unsigned long long)death, (long long)accounted_bytes,
			 (long long)device->outstanding_bytes);
}

/* Another task's visit: what it may do, whatever the dead one was at. */
static void assert_doors_open(uint64_t death, uint64_t now_ns)
{
	struct task_identity identity = { .id = 99, .start_ns = 9, .namespace_id = 1 };
	struct wp_device *device = &map->devices[device_slot(map, DEVICE)];
	struct wp_file *file = &map->files[file_slot(map, device_slot(map, DEVICE), 77)];
	uint64_t period = map->writeout.period;
	struct control control;
	uint64_t next_ns;

	assert_true(task_slot(map, -1, &identity, now_ns) >= 0);
	if (sync_holds(device, now_ns) ||
	    !device_watch(device, 0, now_ns + WP_MS(5), now_ns) ||
	    !spacing_may_start(device->start_ns, WP_MS(5), now_ns, &next_ns) ||
	    !turn_take(device, file, WP_MIB(1), WP_MIB(1), now_ns))
		fail_msg("death %llu: another one may not start",
			 (unsigned long long)death);
	device_step(device, &bounds, now_ns);
	device_control(device, &control);
	assert_int_equal(control.stamp_ns, now_ns);
	assert_in_range(device_ceiling_ns(device, 4096, BANDWIDTH_BPS, now_ns), 0,
			now_ns + WP_SEC(2));
	fprop_add(&map->writeout, &device->writeout, DIRT_BYTES, 0);
	age_started(map, now_ns);
	age_step(map, now_ns);
	age_step(map, now_ns + WP_SEC(9));
	if (map->writeout.period == period)
		fail_msg("death %llu: no period ends", (unsigned long long)death);
}

static void assert_mended(uint64_t death, uint64_t now_ns)
{
	struct wp_device *device = &map->devices[device_slot(map, DEVICE)];

	/* one that is broken off leaves half a sum to the next */
	for (int sweep = 0; sweep < 4; sweep++) {
		now_ns += WP_SEC(1);
		file_sweep(map, now_ns);
		if (sweep == 1)
			assert_doors_open(death, now_ns);
	}
	assert_sums(death);
	for (int i = 0; i < 72; i++) {
		now_ns += WP_SEC(1);
		device_drain_orphans(device, 0, now_ns);
		file_sweep(map, now_ns);
	}
	if (device->outstanding_bytes)
		fail_msg("death %llu: %lld bytes outstanding for ever",
			 (unsigned long long)death, (long long)device->outstanding_bytes);
}

/* ----------------------------------------------------------------------- tests ---- */

static struct actor actor(uint64_t id, uint64_t inode, uint64_t now_ns)
{
	return (struct actor){
		.identity = { .id = id, .start_ns = 5, .namespace_id = 1 },
		.inode = inode,
		.now_ns = now_ns,
	};
}

static void die_after(uint64_t death)
{
	struct actor mortal = actor(2, 12, NOW + WP_SEC(2));
	int status = 0;

	memcpy(map, before, sizeof(*map));
	if (!fork()) {
		left = death;
		write_and_leave(&mortal);
		_exit(0);
	}
	wait(&status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_mended(death, NOW + WP_SEC(4));
}

/* Beside another's file that is there the whole time and falls silent too. */
static void die_everywhere(uint64_t period_ns)
{
	struct actor other = actor(1, 11, NOW);
	struct actor mortal = actor(2, 12, NOW + WP_SEC(2));
	uint64_t deaths;

	memset(map, 0, sizeof(*map));
	map->header.period_ns = period_ns;
	arrive(&other);
	settle(&other, DIRT_BYTES, DIRT_BYTES, 0);
	start(&other, WP_KIB(128));
	memcpy(before, map, sizeof(*map));
	points = 0;
	write_and_leave(&mortal);
	deaths = points;
	assert_in_range(deaths, 200, 20000);
	for (uint64_t death = 1; death <= deaths; death++)
		die_after(death);
	print_message("# %llu deaths\n", (unsigned long long)deaths);
}

TEST(a_death_behind_any_write_is_mended)
{
	die_everywhere(0);
}

TEST(the_same_where_the_period_is_chosen)
{
	die_everywhere(WP_PERIOD_AUTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_death_behind_any_write_is_mended),
		cmocka_unit_test(the_same_where_the_period_is_chosen),
	};

	map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		   -1, 0);
	before = malloc(sizeof(*before));
	if (map == MAP_FAILED || !before)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
