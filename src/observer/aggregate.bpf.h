/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an event does to the sums. Compiled twice: into the kernel's programs, where sums are
 * values of maps, and into the unit test, which replays recorded events without root.
 *
 * Whoever includes it has defined before:
 *   static struct device_sums *device_sums(uint32_t device);           this CPU's; NULL = no room
 *   static struct task_sums *task_sums(uint32_t device);               the caller's; NULL = no room
 *   SUM_SHARED(word, amount)                                           an atomic add
 */
#ifndef WP_OBSERVER_AGGREGATE_BPF_H
#define WP_OBSERVER_AGGREGATE_BPF_H

#include "observer/sums.h"

#define SUM_OWN(word, amount) ((word) += (amount))

/* Returns the device's sums. */
static inline struct device_sums *on_dirtied(uint32_t device, uint64_t bytes)
{
	struct device_sums *sums = device_sums(device);
	struct task_sums *task = task_sums(device);

	if (sums)
		SUM_OWN(sums->dirtied_bytes, bytes);
	if (task)
		SUM_SHARED(task->dirtied_bytes, bytes);
	return sums;
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

static inline void on_synced(uint32_t device, uint64_t span_ns)
{
	struct task_sums *task = task_sums(device);

	if (!task)
		return;
	SUM_SHARED(task->syncs, 1);
	SUM_SHARED(task->sync_ns, span_ns);
}

#endif
