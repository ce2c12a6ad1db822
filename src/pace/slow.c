/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pace/slow.h"

#include "age/age.h"
#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "host/kernel.h"
#include "host/sys.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/note.h"
#include "shm/orphan.h"
#include "shm/setting.h"
#include "shm/sync.h"
#include "shm/task.h"
#include "shm/turn.h"

#define HEADROOM_AUTO_PM 20       /* smallest that lets the queue run empty */
#define OTHERS_GONE_NS WP_SEC(3)  /* silent for so long */
#define HELD_MAX_BYTES WP_MIB(1)  /* no stream's buffer is larger */
#define STRAY_MAX_BYTES WP_MIB(1) /* older ones are clean by now */
#define REST_NS WP_MS(250)
#define TOLD_SOON_NS WP_MS(250)
#define WEIGHT_MAX 10000u
#define PATIENCE_NS WP_MS(20) /* a device nobody looked after for longer ran idle */

uint64_t slow_weight(const struct slow *slow)
{
	uint64_t set_weight = slow->note ? setting_value(&slow->note->set_weight) : 0;

	return set_weight ? min_u64(set_weight, WEIGHT_MAX) : slow->process->weight;
}

void slow_count_sleep(struct slow *slow)
{
	word_add(&slow->process->totals.sleeps, 1);
	if (slow->note)
		word_add(&slow->note->sleeps, 1);
}

/* The task's slot, and its place among the stripes. */
static void locate_task(struct slow *slow)
{
	struct wp_segment *map = slow->process->segment.map;
	struct task_identity identity = {
		.id = kernel_task_id(),
		.start_ns = slow->process->start_ns,
		.namespace_id = slow->process->namespace_id,
	};
	int slot = task_slot(map, -1, &identity, slow->now_ns);

	slow->stripe = (unsigned)identity.id;
	if (slot < 0)
		return;
	slow->slot = &map->tasks[slot];
	slow->note = note_of(map, slot, &identity);
	word_write(&slow->slot->weight, slow_weight(slow));
	word_write(&slow->slot->device_key, word_read(&slow->flush.device->key));
}

/* Nobody wrote to it lately: the helper need not look at it, until now. */
static bool was_at_rest(const struct slow *slow)
{
	return stamp_age_ns(word_read(&slow->flush.device->look_ns), slow->now_ns) >
	       REST_NS;
}

/* Its events in the dirtied domain; the first of all starts the aging timer. */
static void count_dirt(struct slow *slow)
{
	struct wp_segment *map = slow->process->segment.map;

	if (age_started(map, slow->now_ns) || was_at_rest(slow))
		kernel_wake(&map->header.wake);
	age_step(map, slow->now_ns);
	if (!slow->slot || !slow->dirtied_bytes)
		return;
	word_add(&slow->slot->dirtied_bytes, slow->dirtied_bytes);
	fprop_add_single(&map->dirtied, &slow->slot->dirtied_word, slow->dirtied_bytes,
			 slow->stripe);
}

/* What paced tasks read is no sign that others use a device (helper/strangers.h). */
static void count_reads(struct slow *slow, uint64_t read_bytes)
{
	uint64_t new_bytes = sub_u64(read_bytes, slow->task->read_bytes);

	slow->task->read_bytes = read_bytes;
	if (new_bytes)
		word_add(&slow->process->segment.map->header.read_bytes, new_bytes);
}

/*
 * New dirt is no more than what was charged and has not become dirty before; the rest is
 * uncovered (design 5): mapped stores, io_uring. It is owed like all dirt. Why as much as was
 * charged is not taken for that: pages written in parts count again where they were started in
 * between (the frames of sqlite's log). It is in a file that we shall look at. Returns all of it.
 */
static uint64_t count_new_dirt(struct slow *slow)
{
	struct pace_task *task = slow->task;
	struct kernel_io io = kernel_thread_io();
	uint64_t new_bytes = sub_u64(io.dirtied_bytes, task->dirtied_bytes);
	uint64_t aside_bytes = min_u64(new_bytes, task->aside_bytes);
	uint64_t known_bytes = task->charged_bytes + task->held_bytes;
	uint64_t covered_bytes = min_u64(new_bytes - aside_bytes, known_bytes);
	uint64_t beyond_bytes = new_bytes - aside_bytes - covered_bytes;
	uint64_t stray_bytes = min_u64(beyond_bytes, known_bytes);

	count_reads(slow, io.read_bytes);
	task->dirtied_bytes = io.dirtied_bytes;
	task->aside_bytes = 0;
	task->held_bytes = min_u64(known_bytes - covered_bytes, HELD_MAX_BYTES);
	task->unplaced_bytes += covered_bytes;
	task->stray_bytes = min_u64(task->stray_bytes + stray_bytes, STRAY_MAX_BYTES);
	task->owed_bytes += beyond_bytes;
	slow->uncovered_bytes = beyond_bytes - stray_bytes;
	slow->cancelled_bytes = io.cancelled_bytes;
	word_add(&slow->process->totals.uncovered_bytes, beyond_bytes);
	return beyond_bytes;
}

/*
 * What the task truncated was not written, and nobody waits for it. First it is what is not
 * settled yet. Why of this file: nobody tells which one it was, and most often it is.
 */
static void take_cancelled(struct slow *slow)
{
	uint64_t new_bytes = min_u64(slow->dirtied_bytes, slow->cancelled_bytes);

	slow->dirtied_bytes -= new_bytes;
	if (slow->cancelled_bytes && slow->file)
		file_cancelled(slow->file, slow->flush.device,
			       sub_u64(word_read(&slow->file->accounted_bytes),
				       slow->cancelled_bytes - new_bytes));
}

void slow_take_dirt(struct slow *slow)
{
	struct pace_task *task = slow->task;
	uint64_t beyond_bytes = count_new_dirt(slow);
	uint64_t handle_bytes;

	slow->charged_bytes = task->charged_bytes;
	task->charged_bytes = 0;
	handle_bytes = pace_take_charged(slow->process, slow->handle);
	slow->dirtied_bytes = min_u64(handle_bytes, task->unplaced_bytes);
	slow->others_bytes = sub_u64(handle_bytes, slow->charged_bytes);
	task->unplaced_bytes -= slow->dirtied_bytes;
	take_cancelled(slow);
	task->owed_bytes += slow->dirtied_bytes;
	if (slow->bounds.rate_bps)
		slow->ceiling_ns = device_ceiling_ns(
			slow->flush.device, slow->dirtied_bytes + slow->others_bytes,
			slow->bounds.rate_bps, slow->now_ns);
	locate_task(slow);
	count_dirt(slow);
	if (slow->note) {
		word_add(&slow->note->charged_bytes, slow->charged_bytes);
		word_add(&slow->note->uncovered_bytes, beyond_bytes);
	}
}

/* No entry, or a file that can not be asked: its bytes leave as the device writes. */
static void orphan_dirt(struct slow *slow)
{
	device_dirtied(slow->flush.device, slow->dirtied_bytes);
	device_orphaned(slow->flush.device, slow->dirtied_bytes, slow->now_ns);
	slow->dirty_bytes =
		slow->flush.file ?
			flush_guess(&slow->flush, slow->dirtied_bytes, slow->now_ns) :
			0;
}

/*
 * The helper looks at what we can not. Where nobody does, the speed that is known has to do;
 * without that the dirt is not accounted for, so nobody waits for what nobody knows.
 */
static void settle_unseen(struct slow *slow)
{
	if (slow->hidden && !slow->control.bandwidth.avg_bps)
		return;
	file_dirtied(slow->file, slow->flush.device, slow->dirtied_bytes, slow->now_ns);
	if (slow->hidden)
		file_abandon(slow->file, slow->flush.device, slow->now_ns);
}

/*
 * Dirt past all calls that is not in this file is in one that nobody looks at: it leaves by the
 * device's rate. Why no more than there is room for: it may be another device's.
 */
static void orphan_uncovered(struct slow *slow, uint64_t bytes)
{
	struct wp_device *device = slow->flush.device;
	uint64_t limit_bytes = control_limit_bytes(&slow->control, &slow->bounds);

	bytes = min_u64(bytes, sub_u64(limit_bytes, device_outstanding_bytes(device)));
	device_dirtied(device, bytes);
	device_orphaned(device, bytes, slow->now_ns);
}

/* Of what was looked for @found_bytes were there; the strays may be in another file. */
static void place_uncovered(struct slow *slow, uint64_t found_bytes)
{
	uint64_t stray_bytes = min_u64(slow->task->stray_bytes, found_bytes);

	slow->task->stray_bytes -= stray_bytes;
	if (slow->uncovered_bytes)
		orphan_uncovered(
			slow, sub_u64(slow->uncovered_bytes, found_bytes - stray_bytes));
}

void slow_count_completed(const struct slow *slow, uint64_t bytes)
{
	uint64_t max_q10 = slow->bounds.max_ratio_q10;

	if (bytes)
		fprop_add_max(&slow->process->segment.map->writeout,
			      &slow->flush.device->writeout, bytes,
			      max_q10 ? max_q10 : FPROP_MAX_Q10, slow->stripe);
}

static void settle(struct slow *slow, bool may_rest)
{
	struct file_look look = {
		.dirtied_bytes = slow->dirtied_bytes,
		.others_bytes = slow->others_bytes + slow->uncovered_bytes +
				slow->task->stray_bytes,
		.now_ns = slow->now_ns,
		.may_rest = may_rest && !slow->others_bytes && !slow->uncovered_bytes,
	};
	int64_t dirty = slow->flush.file ? flush_look(&slow->flush, &look) : -ENOENT;

	slow->looked = dirty >= 0;
	if (dirty >= 0)
		slow->dirty_bytes = (uint64_t)dirty;
	else if (slow->file && !slow->flush.file)
		settle_unseen(slow);
	else
		orphan_dirt(slow);
	slow_count_completed(slow, look.completed_bytes);
	place_uncovered(slow, look.found_bytes);
	slow->dirtied_bytes = 0;
	slow->others_bytes = 0;
	slow->uncovered_bytes = 0;
}

void slow_settle(struct slow *slow)
{
	settle(slow, false);
}

/* What is to be left to others; nothing while there are none. */
static uint64_t headroom_pm(const struct slow *slow)
{
	uint64_t headroom_pm = slow->process->conf.headroom_pm;
	uint64_t others_ns;

	if (headroom_pm != CONF_AUTO)
		return headroom_pm;
	others_ns = sync_others_ns(slow->flush.device, slow->process_id);
	return others_ns && stamp_age_ns(others_ns, slow->now_ns) < OTHERS_GONE_NS ?
		       HEADROOM_AUTO_PM :
		       0;
}

/*
 * A helper has not looked at the device yet, but will at once: what is known soon need not be
 * guessed, and the first burst is over by then.
 */
static bool is_told_soon(const struct slow *slow)
{
	const struct wp_device *device = slow->flush.device;

	return !word_read(&device->stat_ns) && !word_read(&device->observed_ns) &&
	       segment_is_helped(slow->process->segment.map, slow->now_ns) &&
	       stamp_age_ns(word_read(&device->orphan_ns), slow->now_ns) < TOLD_SOON_NS;
}

static void drain_orphans(struct slow *slow)
{
	uint64_t likely_bps = bandwidth_likely_bps(&slow->control.bandwidth);

	if (!is_told_soon(slow))
		slow_count_completed(slow,
				     device_drain_orphans(slow->flush.device, likely_bps,
							  slow->now_ns));
}

void slow_tick(struct slow *slow, uint64_t background_bytes)
{
	struct wp_device *device = slow->flush.device;
	struct flush_pace pace = flush_pace_of(&slow->control, slow->now_ns);
	bool wanted;

	pace.requeue = slow->process->conf.requeue;
	slow->bounds.headroom_pm = headroom_pm(slow);
	settle(slow, true);
	drain_orphans(slow);
	wanted = device_outstanding_bytes(device) > background_bytes;
	if (wanted)
		slow_start_due(slow, &pace);
	slow_tend_other(slow, &pace, wanted);
	device_looked(device, wanted,
		      max_u64(PATIENCE_NS, 4 * slow_service_ns(slow, pace.window_bytes)),
		      slow->now_ns);
	device_step(device, &slow->bounds, slow->now_ns);
	device_control(device, &slow->control);
	file_sweep(slow->process->segment.map, slow->now_ns);
}
