/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/task.h"

#include "base/order.h"
#include "base/stamp.h"

#define PROBES 32
#define SILENT_NS WP_SEC(35) /* after that whatever it dirtied has been written anyway */

/* The slot of this task, or of one before it that had the same ids. */
static bool has_ids(const struct wp_task *task, const struct task_identity *identity)
{
	return word_read(&task->id) == identity->id &&
	       word_read(&task->namespace_id) == identity->namespace_id;
}

static void reset(struct wp_task *task, const struct task_identity *identity)
{
	word_write(&task->start_ns, identity->start_ns);
	word_write(&task->namespace_id, identity->namespace_id);
	word_write(&task->device_key, 0);
	word_write(&task->dirtied_bytes, 0);
	word_write(&task->dirtied_word, 0);
	word_write(&task->weight, 0);
}

static bool claim(struct wp_task *task, const struct task_identity *identity,
		  uint64_t now_ns)
{
	uint64_t seen = word_read(&task->id);

	if (seen && stamp_age_ns(word_read(&task->heartbeat_ns), now_ns) < SILENT_NS)
		return false;
	if (!word_replace(&task->id, seen, identity->id))
		return false;
	word_write(&task->heartbeat_ns, now_ns);
	reset(task, identity);
	return true;
}

/*
 * Why the start is compared: the ids may be a dead task's, used again; what it dirtied is not
 * ours to pay for. The same after exec: another program.
 */
static bool is_still(struct wp_task *task, const struct task_identity *identity,
		     uint64_t now_ns)
{
	if (!has_ids(task, identity))
		return false;
	word_write(&task->heartbeat_ns, now_ns);
	if (word_read(&task->start_ns) != identity->start_ns)
		reset(task, identity);
	return true;
}

int task_slot(struct wp_segment *segment, int slot, const struct task_identity *identity,
	      uint64_t now_ns)
{
	uint64_t start = (identity->id * UINT64_C(0x9e3779b97f4a7c15)) >> 52;

	if (slot >= 0 && slot < (int)WP_TASKS &&
	    is_still(&segment->tasks[slot], identity, now_ns))
		return slot;
	for (uint64_t i = 0; i < PROBES; i++) {
		uint64_t near = (start + i) % WP_TASKS;

		if (is_still(&segment->tasks[near], identity, now_ns))
			return (int)near;
	}
	for (uint64_t i = 0; i < PROBES; i++) {
		uint64_t near = (start + i) % WP_TASKS;

		if (claim(&segment->tasks[near], identity, now_ns))
			return (int)near;
	}
	return -1;
}
