/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observer/gather.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "observer/queue.h"
#include "observer/sum.h"

/* All of a map at once. Returns how many there were. */
static uint32_t read_map(int fd, void *keys, void *values, uint32_t room)
{
	uint32_t count = room;
	uint32_t next;
	int error = bpf_map_lookup_batch(fd, NULL, &next, keys, values, &count, NULL);

	/* Why: the end of the map is told as an error. */
	return error && error != -ENOENT ? 0 : count;
}

/* ------------------------------------------------------------------------ runs -- */

#define RUN_TRIES 8

/*
 * What is not in the sums yet. Read after the sums, and again if a run went into them meanwhile: it
 * would be in neither, or in both.
 */
struct runs {
	unsigned cpus;
	struct dirt_run *now;
	struct dirt_run *before;
};

static bool read_runs(struct dirt_run *runs, const struct loaded *loaded)
{
	uint32_t first = 0;

	return !bpf_map_lookup_elem(loaded->runs_fd, &first, runs);
}

static struct runs *runs_of(const struct loaded *loaded)
{
	static struct runs runs;

	if (!runs.cpus) {
		runs.now = calloc(loaded->cpus, sizeof(*runs.now));
		runs.before = calloc(loaded->cpus, sizeof(*runs.before));
		runs.cpus = runs.now && runs.before ? loaded->cpus : 0;
	}
	return &runs;
}

static bool has_ended(const struct runs *runs)
{
	for (unsigned cpu = 0; cpu < runs->cpus; cpu++) {
		if (runs->now[cpu].ended != runs->before[cpu].ended)
			return true;
	}
	return false;
}

/* Read a map by @read until no run ended meanwhile, a bounded number of times. */
static struct runs *read_settled(const struct loaded *loaded,
				 void (*read)(const struct loaded *loaded, void *to),
				 void *to)
{
	struct runs *runs = runs_of(loaded);

	for (int tries = 0; tries < RUN_TRIES; tries++) {
		bool known = runs->cpus && read_runs(runs->before, loaded);

		read(loaded, to);
		if (!known || !read_runs(runs->now, loaded) || !has_ended(runs))
			break;
	}
	return runs;
}

/* --------------------------------------------------------------------- devices -- */

/* What is kept of each queue, also when it is gone: sums never fall. */
struct known_queue {
	uint32_t device;
	bool known;
	uint64_t base_bytes;    /* it had written when first seen */
	uint64_t written_bytes; /* since then */
};

static struct known_queue *queue_of(uint32_t device)
{
	static struct known_queue queues[SUMS_DEVICES];

	for (size_t i = 0; i < SUMS_DEVICES; i++) {
		if (queues[i].device == device)
			return &queues[i];
		if (!queues[i].device) {
			queues[i].device = device;
			return &queues[i];
		}
	}
	return NULL;
}

/* A queue that is another one by now begins anew. */
static void note_written(struct known_queue *known, uint64_t written_bytes)
{
	if (!known->known || written_bytes < known->base_bytes + known->written_bytes) {
		known->known = true;
		known->base_bytes = written_bytes - known->written_bytes;
	}
	known->written_bytes = written_bytes - known->base_bytes;
}

/*
 * Why the larger: the block layer tells of requests; a device without any (btrfs, dm, NFS) has
 * its queue's count only.
 */
static void add_queue(struct wp_published_device *device, const char *name)
{
	struct known_queue *known = queue_of(sum_kernel_number(device->number));
	struct queue queue;

	if (known && queue_read("", name, &queue)) {
		note_written(known, queue.written_bytes);
		device->inflight_bytes = queue.inflight_bytes;
		device->outstanding_bytes = queue.dirty_bytes + queue.inflight_bytes;
		device->flags |= WP_PUBLISHED_QUEUE;
	}
	if (known)
		device->completed_bytes =
			max_u64(device->completed_bytes, known->written_bytes);
}

static void add_queues(struct gathered_devices *gathered, const struct loaded *loaded)
{
	static struct bdi_name names[SUMS_DEVICES];
	static uint32_t devices[SUMS_DEVICES];
	uint32_t count = read_map(loaded->names_fd, names, devices, SUMS_DEVICES);

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < gathered->count; j++) {
			if (gathered->devices[j].number == sum_number(devices[i]))
				add_queue(&gathered->devices[j], names[i].text);
		}
	}
}

static void read_devices(const struct loaded *loaded, void *to)
{
	static uint32_t keys[SUMS_DEVICES];
	static struct device_sums *sums;
	struct gathered_devices *gathered = to;

	gathered->count = 0;
	if (!sums)
		sums = calloc((size_t)SUMS_DEVICES * loaded->cpus, sizeof(*sums));
	if (!sums)
		return;
	gathered->count = read_map(loaded->devices_fd, keys, sums, SUMS_DEVICES);
	for (uint32_t i = 0; i < gathered->count; i++)
		gathered->devices[i] = sum_device(
			keys[i], &sums[(size_t)i * loaded->cpus], loaded->cpus);
}

void gather_devices(struct gathered_devices *gathered, const struct loaded *loaded)
{
	const struct runs *runs = read_settled(loaded, read_devices, gathered);

	for (uint32_t i = 0; i < gathered->count; i++)
		sum_device_runs(&gathered->devices[i], runs->now, runs->cpus);
	add_queues(gathered, loaded);
}

/* ----------------------------------------------------------------------- tasks -- */

static int by_uid(const void *a, const void *b)
{
	const struct wp_published_task *one = a;
	const struct wp_published_task *other = b;

	if (one->uid != other->uid)
		return one->uid < other->uid ? -1 : 1;
	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return one->device < other->device ? -1 : one->device > other->device;
}

static struct wp_published_task entry_of(const struct task_key *key,
					 const struct task_sums *sums)
{
	struct wp_published_task task = {
		.pid = key->pid,
		.uid = sums->uid,
		.device = sum_number(key->device),
		.dirtied_bytes = sums->dirtied_bytes,
		.pauses = sums->pauses,
		.paused_ns = sums->paused_ns,
		.syncs = sums->syncs,
		.sync_ns = sums->sync_ns,
	};

	memcpy(task.name, sums->name, sizeof(task.name));
	return task;
}

static void read_tasks(const struct loaded *loaded, void *to)
{
	static struct task_key keys[SUMS_TASKS];
	static struct task_sums sums[SUMS_TASKS];
	struct gathered_tasks *gathered = to;

	gathered->count = read_map(loaded->tasks_fd, keys, sums, SUMS_TASKS);
	for (uint32_t i = 0; i < gathered->count; i++)
		gathered->tasks[i] = entry_of(&keys[i], &sums[i]);
}

void gather_tasks(struct gathered_tasks *gathered, const struct loaded *loaded)
{
	const struct runs *runs = read_settled(loaded, read_tasks, gathered);

	for (uint32_t i = 0; i < gathered->count; i++)
		sum_task_runs(&gathered->tasks[i], runs->now, runs->cpus);
	qsort(gathered->tasks, gathered->count, sizeof(gathered->tasks[0]), by_uid);
}

/* ---------------------------------------------------------------------- forget -- */

static bool is_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

static bool was_gone(const struct task_key *gone, uint32_t count,
		     const struct task_key *key)
{
	for (uint32_t i = 0; i < count; i++) {
		if (gone[i].pid == key->pid && gone[i].device == key->device)
			return true;
	}
	return false;
}

void gather_forget(const struct gathered_tasks *gathered, const struct loaded *loaded)
{
	static struct task_key gone[SUMS_TASKS];
	static uint32_t before;
	uint32_t count = 0;

	for (uint32_t i = 0; i < gathered->count; i++) {
		const struct wp_published_task *task = &gathered->tasks[i];
		struct task_key key = { task->pid, sum_kernel_number(task->device) };

		if (!is_gone(task->pid))
			continue;
		if (was_gone(gone, before, &key))
			bpf_map_delete_elem(loaded->tasks_fd, &key);
		else if (count < SUMS_TASKS)
			gone[count++] = key;
	}
	before = count;
}
