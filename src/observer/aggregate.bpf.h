/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an event does to the sums. Compiled twice: into the kernel's programs, where sums are
 * values of maps, and into the unit test, which replays recorded events without root.
 *
 * Whoever includes it has defined before:
 *   static struct device_sums *device_sums(uint32_t device);           this CPU's; NULL = no room
 *   static struct task_sums *task_sums(uint32_t device);               the caller's; NULL = no room
 *   static struct task_sums *known_task_sums(uint32_t pid, uint32_t device);   NULL = forgotten
 *   SUM_SHARED(word, amount)                                           an atomic add
 */
#ifndef WP_OBSERVER_AGGREGATE_BPF_H
#define WP_OBSERVER_AGGREGATE_BPF_H

#include "observer/sums.h"

#define SUM_OWN(word, amount) ((word) += (amount))

/* A page of @mapping in the file system @sb. Once a page: what can be left out here is. */
static inline bool run_goes_on(const struct dirt_run *run, uint64_t sb, uint64_t mapping,
			       uint32_t pid)
{
	return run->pid == pid && (run->place == sb || run->place == mapping);
}

static RUN_SELDOM void run_end(struct dirt_run *run)
{
	struct device_sums *sums;
	struct task_sums *task;

	if (!run || !run->bytes)
		return;
	sums = device_sums(run->device);
	task = known_task_sums(run->pid, run->device);
	if (sums)
		SUM_OWN(sums->dirtied_bytes, run->bytes);
	if (task)
		SUM_SHARED(task->dirtied_bytes, run->bytes);
	run->bytes = 0;
	run->ended++;
}

/* The caller's begins. Returns the device's sums. */
static inline struct device_sums *run_begin(struct dirt_run *run, uint64_t place,
					    uint32_t pid, uint32_t device)
{
	struct device_sums *sums = device_sums(device);

	run_end(run);
	task_sums(device);
	run->place = place;
	run->pid = pid;
	run->device = device;
	return sums;
}

static inline void on_dirtied(struct dirt_run *run, uint64_t bytes)
{
	SUM_OWN(run->bytes, bytes);
}

/* Why no task: whoever runs when a device is done has nothing to do with it. */
static inline void on_completed(uint32_t device, uint64_t bytes)
{
	struct device_sums *sums = device_sums(device);

	if (sums)
		SUM_OWN(sums->completed_bytes, bytes);
}

/* The kernel tells of each of its checks; those that let the task go on have no length. */
static inline void on_pause(uint32_t device, int64_t ticks, uint64_t tick_ns)
{
	struct device_sums *sums;
	struct task_sums *task;

	if (ticks <= 0)
		return;
	sums = device_sums(device);
	task = task_sums(device);
	if (sums) {
		SUM_OWN(sums->pauses, 1);
		SUM_OWN(sums->paused_ns, (uint64_t)ticks * tick_ns);
	}
	if (task) {
		SUM_SHARED(task->pauses, 1);
		SUM_SHARED(task->paused_ns, (uint64_t)ticks * tick_ns);
	}
}

/* The newest of all CPUs counts. */
static inline void on_rate(uint32_t device, uint64_t rate_bps, uint64_t now_ns)
{
	struct device_sums *sums = device_sums(device);

	if (!sums)
		return;
	sums->rate_bps = rate_bps;
	sums->rate_ns = now_ns;
}

/* The flusher was at a file and wrote @bytes of it. */
static inline void on_visit(uint32_t device, int64_t bytes)
{
	struct device_sums *sums = bytes > 0 ? device_sums(device) : 0;

	if (!sums)
		return;
	SUM_OWN(sums->visits, 1);
	SUM_OWN(sums->visited_bytes, (uint64_t)bytes);
}

static inline void on_synced(uint32_t device, uint64_t span_ns)
{
	struct task_sums *task = task_sums(device);

	if (!task)
		return;
	SUM_SHARED(task->syncs, 1);
	SUM_SHARED(task->sync_ns, span_ns);
}

#endif
