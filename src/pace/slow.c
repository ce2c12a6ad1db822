/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pace/slow.h"

#include <fcntl.h>

#include "age/age.h"
#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "host/kernel.h"
#include "host/sys.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/sync.h"
#include "shm/task.h"

#define STALE_NS WP_SEC(1)     /* nobody is inside for so long: a long jump left it */
#define STEP_MIN_NS WP_US(200) /* between two looks at what is in flight */
#define STEP_MAX_NS WP_MS(5)
#define BURST_UNIT_BYTES WP_MIB(1) /* what is let go starts in units of this */
#define HEADROOM_AUTO_PM 30        /* smallest that lets the queue run empty */
#define OTHERS_GONE_NS WP_SEC(3)   /* silent for so long */
#define HELD_MAX_BYTES WP_MIB(1)   /* no stream's buffer is larger */
#define REST_NS WP_MS(250)
#define PATIENCE_NS WP_MS(20) /* a device nobody looked after for longer ran idle */

/* What the helper and the last sweep know of the whole. */
static void see_others(struct slow *slow)
{
	const struct wp_header *header = &slow->process->segment.map->header;
	uint64_t kernel_bytes = word_read(&header->kernel_limit_bytes);

	slow->bounds.in_use_bps = word_read(&header->bandwidth_in_use_bps);
	slow->bounds.outstanding_bytes = word_read(&header->outstanding_bytes);
	if (!segment_is_helped(slow->process->segment.map, slow->now_ns))
		return;
	slow->bounds.pressure_q10 = word_read(&header->pressure_q10);
	if (kernel_bytes)
		slow->bounds.kernel_bytes = kernel_bytes;
}

/* What is to be left to others; nothing while there are none. */
static uint64_t headroom_pm(const struct slow *slow)
{
	uint64_t headroom_pm = slow->process->conf.headroom_pm;
	uint64_t others_ns;

	if (headroom_pm != CONF_AUTO)
		return headroom_pm;
	others_ns = sync_others_ns(slow->flush.device, kernel_process_id());
	return others_ns && stamp_age_ns(others_ns, slow->now_ns) < OTHERS_GONE_NS ?
		       HEADROOM_AUTO_PM :
		       0;
}

bool slow_enter(struct slow *slow)
{
	struct pace_task *task = slow->task;
	uint64_t now_ns = kernel_now_ns();

	if (word_read(&slow->process->retired) ||
	    (task->inside_ns && now_ns < task->inside_ns + STALE_NS))
		return false;
	if (!pace_own(slow->process, task) || !segment_ready(&slow->process->segment))
		return false;
	task->inside_ns = now_ns;
	slow->now_ns = now_ns;
	slow->bounds = (struct bounds){
		.drain_ns = slow->process->conf.drain_ns,
		.latency_ns = slow->process->conf.latency_ns,
		.rate_bps = slow->process->conf.rate_bps,
		.ceiling_bytes = slow->process->conf.limit_bytes,
		.kernel_bytes = slow->process->kernel_limit_bytes,
		.burst_bytes = slow->process->conf.burst_bytes,
		.background_pm = slow->process->conf.background_pm,
		.penalty = slow->process->penalty,
	};
	/* Who names a period sets it for all who share the segment. */
	if (slow->process->conf.period_ns != AGE_PERIOD_NS)
		age_set_period(slow->process->segment.map, slow->process->conf.period_ns);
	see_others(slow);
	return true;
}

void slow_leave(struct slow *slow)
{
	/* Why: nobody will see these bytes complete before this task looks again, and a claim on
	 * the window that outlives them keeps it shut for all others. */
	if (slow->flush.file)
		file_release(slow->flush.file, slow->flush.device);
	slow->task->inside_ns = 0;
}

static int locate_device(struct wp_segment *map, const struct pace_handle *handle,
			 uint64_t slots)
{
	int slot = (int)(slots >> 32) - 1;

	if (slot >= 0 && slot < (int)WP_DEVICES &&
	    device_number(&map->devices[slot]) == handle->backing.device)
		return slot;
	return device_slot(map, handle->backing.device);
}

/*
 * Why two slots: a file is known by its own device number, for inode numbers are unique there
 * alone (two subvolumes of a btrfs); it is paced by the device that the helper found behind it.
 */
static void locate_slots(struct slow *slow, struct wp_segment *map)
{
	struct pace_handle *handle = slow->handle;
	uint64_t slots = word_read(&handle->slots);
	int device = locate_device(map, handle, slots);
	int file = (int)(slots & UINT32_MAX) - 1;

	if (device < 0)
		return;
	slow->flush.device = &map->devices[device_real_slot(map, device)];
	if (!file_is(map, file, device, handle->backing.inode))
		file = file_slot(map, device, handle->backing.inode);
	if (file >= 0) {
		slow->flush.file = &map->files[file];
		word_write(&slow->flush.file->holder, (uint64_t)sys_call(SYS_getpid)
								      << 32 |
							      (uint32_t)slow->flush.fd);
		word_write(&slow->flush.file->holder_start_ns, slow->process->start_ns);
	}
	word_write(&handle->slots, (uint64_t)(device + 1) << 32 | (uint64_t)(file + 1));
}

static bool is_for(const struct conf_device *setting, const struct slow *slow)
{
	/* Why two: the helper may have found the device behind the file's own. */
	return setting->number == slow->handle->backing.device ||
	       setting->number == device_number(slow->flush.device);
}

static uint64_t ratio_q10(uint64_t ratio_ppm)
{
	return mul_div(ratio_ppm, WP_Q10, 1000000);
}

/* What the user wants of this device; the first setting that fits counts. */
static void see_setting(struct slow *slow)
{
	const struct conf_devices *devices = &slow->process->conf.devices;
	struct bounds *bounds = &slow->bounds;
	uint64_t promised_ppm = 0;

	for (uint64_t i = devices->count; i-- > 0;) {
		const struct conf_device *setting = &devices->list[i];

		promised_ppm += setting->min_ratio_ppm;
		if (!is_for(setting, slow))
			continue;
		bounds->min_ratio_q10 = ratio_q10(setting->min_ratio_ppm);
		bounds->max_ratio_q10 = max_u64(ratio_q10(setting->max_ratio_ppm), 1);
		bounds->max_bytes = setting->max_bytes;
		bounds->bandwidth_bps = setting->bandwidth_bps;
	}
	bounds->others_min_ratio_q10 = ratio_q10(promised_ppm);
}

bool slow_locate(struct slow *slow)
{
	int flags = kernel_open_flags(slow->flush.fd);

	if (flags < 0 || (flags & (O_DIRECT | O_SYNC | O_DSYNC)) ||
	    !kernel_still(slow->flush.fd, &slow->handle->backing))
		return false;
	slow->flush.size_bytes = slow->handle->backing.size_bytes;
	locate_slots(slow, slow->process->segment.map);
	if (slow->flush.device) {
		device_control(slow->flush.device, &slow->control);
		see_setting(slow);
		slow->bounds.share = fprop_share(&slow->process->segment.map->writeout,
						 &slow->flush.device->writeout);
		pace_note_device(slow->process, slow->handle->backing.device);
	}
	return true;
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
	word_write(&slow->slot->weight, slow->process->weight);
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

/*
 * New dirt is no more than what was charged and has not become dirty before; the rest is
 * uncovered (design 5): mapped stores, io_uring. It is owed like all dirt.
 */
static void count_new_dirt(struct slow *slow)
{
	struct pace_task *task = slow->task;
	uint64_t count_bytes = kernel_thread_dirtied_bytes();
	uint64_t new_bytes = sub_u64(count_bytes, task->dirtied_bytes);
	uint64_t aside_bytes = min_u64(new_bytes, task->aside_bytes);
	uint64_t known_bytes = task->charged_bytes + task->held_bytes;
	uint64_t covered_bytes = min_u64(new_bytes - aside_bytes, known_bytes);

	task->dirtied_bytes = count_bytes;
	task->aside_bytes = 0;
	task->held_bytes = min_u64(known_bytes - covered_bytes, HELD_MAX_BYTES);
	task->unplaced_bytes += covered_bytes;
	slow->uncovered_bytes = new_bytes - aside_bytes - covered_bytes;
	task->owed_bytes += slow->uncovered_bytes;
	word_add(&slow->process->totals.uncovered_bytes, slow->uncovered_bytes);
}

void slow_take_dirt(struct slow *slow)
{
	struct pace_task *task = slow->task;
	uint64_t handle_bytes;

	count_new_dirt(slow);
	slow->charged_bytes = task->charged_bytes;
	task->charged_bytes = 0;
	handle_bytes = pace_take_charged(slow->process, slow->handle);
	slow->dirtied_bytes = min_u64(handle_bytes, task->unplaced_bytes);
	slow->others_bytes = sub_u64(handle_bytes, slow->charged_bytes);
	task->unplaced_bytes -= slow->dirtied_bytes;
	task->owed_bytes += slow->dirtied_bytes;
	if (slow->bounds.rate_bps)
		slow->ceiling_ns = device_ceiling_ns(
			slow->flush.device, slow->dirtied_bytes + slow->others_bytes,
			slow->bounds.rate_bps, slow->now_ns);
	locate_task(slow);
	count_dirt(slow);
}

/* No entry, or a file that can not be asked: its bytes leave by the learned rate. */
static void orphan_dirt(struct slow *slow)
{
	device_dirtied(slow->flush.device, slow->dirtied_bytes);
	device_orphaned(slow->flush.device, slow->dirtied_bytes, slow->now_ns);
	slow->dirty_bytes = 0;
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

void slow_settle(struct slow *slow)
{
	struct file_look look = {
		.dirtied_bytes = slow->dirtied_bytes,
		.others_bytes = slow->others_bytes + slow->uncovered_bytes,
		.now_ns = slow->now_ns,
	};
	uint64_t max_q10 = slow->bounds.max_ratio_q10;
	int64_t dirty = slow->flush.file ? flush_look(&slow->flush, &look) : -ENOENT;

	if (dirty < 0)
		orphan_dirt(slow);
	else
		slow->dirty_bytes = (uint64_t)dirty;
	if (look.completed_bytes)
		fprop_add_max(&slow->process->segment.map->writeout,
			      &slow->flush.device->writeout, look.completed_bytes,
			      max_q10 ? max_q10 : FPROP_MAX_Q10, slow->stripe);
	if (slow->uncovered_bytes)
		orphan_uncovered(slow, sub_u64(slow->uncovered_bytes, look.found_bytes));
	slow->dirtied_bytes = 0;
	slow->others_bytes = 0;
	slow->uncovered_bytes = 0;
}

static uint64_t service_ns(const struct slow *slow, uint64_t bytes)
{
	return bytes_to_ns(bytes, bandwidth_assumed_bps(&slow->control.bandwidth));
}

void slow_push(struct slow *slow, uint64_t bytes)
{
	struct flush_pace pace = flush_pace_of(&slow->control, slow->now_ns);

	bytes = min_u64(bytes, slow->dirty_bytes);
	pace.forced = true;
	/* Why: less than a unit takes no more than its part of the turn. */
	pace.interval_ns = mul_div(pace.interval_ns, min_u64(bytes, pace.unit_bytes),
				   pace.unit_bytes);
	if (slow->flush.file)
		flush_start(&slow->flush, bytes, &pace);
}

void slow_let_go(struct slow *slow)
{
	uint64_t until_ns = slow->now_ns + slow->bounds.drain_ns;
	struct flush_pace pace = flush_pace_of(&slow->control, slow->now_ns);
	uint64_t left_bytes = slow->dirty_bytes;

	pace.forced = true;
	pace.unit_bytes = BURST_UNIT_BYTES;
	pace.interval_ns = service_ns(slow, pace.unit_bytes);
	while (left_bytes && kernel_now_ns() < until_ns) {
		int64_t started = flush_start(
			&slow->flush, min_u64(left_bytes, pace.unit_bytes), &pace);

		if (started <= 0)
			return;
		left_bytes = sub_u64(left_bytes, (uint64_t)started);
	}
}

void slow_tick(struct slow *slow, uint64_t background_bytes)
{
	struct wp_device *device = slow->flush.device;
	struct flush_pace pace = flush_pace_of(&slow->control, slow->now_ns);
	bool wanted;

	slow->bounds.headroom_pm = headroom_pm(slow);
	slow_settle(slow);
	device_drain_orphans(device, bandwidth_assumed_bps(&slow->control.bandwidth),
			     slow->now_ns);
	wanted = device_outstanding_bytes(device) > background_bytes;
	if (slow->dirty_bytes && wanted)
		flush_start(&slow->flush, slow->dirty_bytes, &pace);
	device_looked(device, wanted,
		      max_u64(PATIENCE_NS, 4 * service_ns(slow, pace.window_bytes)),
		      slow->now_ns);
	device_step(device, &slow->bounds, slow->now_ns);
	device_control(device, &slow->control);
	file_sweep(slow->process->segment.map, slow->now_ns);
}

bool slow_sleep(struct slow *slow, uint64_t until_ns)
{
	uint64_t unit_bytes = window_unit_bytes(&slow->control.window);
	uint64_t step_ns =
		clamp_u64(service_ns(slow, unit_bytes) / 4, STEP_MIN_NS, STEP_MAX_NS);
	uint64_t before_ns = slow->now_ns;
	uint64_t span_ns = min_u64(sub_u64(until_ns, before_ns), step_ns);
	bool interrupted;

	/* Signal: nothing is held here; a handler may write, or jump out and never come back. */
	slow->task->inside_ns = 0;
	interrupted = !kernel_sleep_ns(span_ns);
	slow->now_ns = kernel_now_ns();
	slow->task->inside_ns = slow->now_ns;
	word_add(&slow->process->totals.slept_ns, slow->now_ns - before_ns);
	if (word_read(&slow->process->retired))
		return false;
	if (slow->manner == PACE_BLOCKED)
		return !kernel_signals_pending();
	return !interrupted;
}

void slow_wait_ceiling(struct slow *slow, uint64_t background_bytes)
{
	if (slow->manner == PACE_NO_SLEEP || slow->ceiling_ns <= slow->now_ns)
		return;
	word_add(&slow->process->totals.sleeps, 1);
	while (slow->now_ns < slow->ceiling_ns && slow_sleep(slow, slow->ceiling_ns))
		slow_tick(slow, background_bytes);
}
