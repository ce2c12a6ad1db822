/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The beginning of a visit: may we, and what is the descriptor? */
#include <fcntl.h>

#include "age/age.h"
#include "base/fixed.h"
#include "base/order.h"
#include "host/kernel.h"
#include "host/sys.h"
#include "pace/slow.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/setting.h"

#define DRAIN_MIN_NS WP_MS(10)
#define DRAIN_MAX_NS WP_SEC(3600)
#define RATE_MIN_BPS WP_KIB(64)
#define REFUSED_NS WP_SEC(10)

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

/* What a person set for all since the program began. */
static void see_settings(struct slow *slow)
{
	const struct wp_settings *settings = &slow->process->segment.map->settings;
	uint64_t limit_bytes = setting_value(&settings->limit_bytes);
	uint64_t drain_ns = setting_value(&settings->drain_ns);

	if (limit_bytes)
		slow->bounds.ceiling_bytes = max_u64(limit_bytes, LIMITS_ROOM_BYTES);
	if (drain_ns)
		slow->bounds.drain_ns = clamp_u64(drain_ns, DRAIN_MIN_NS, DRAIN_MAX_NS);
}

bool slow_enter(struct slow *slow)
{
	struct pace_task *task = slow->task;
	uint64_t now_ns = kernel_now_ns();

	if (word_read(&slow->process->retired) ||
	    (task->inside_ns && now_ns < task->inside_ns + SLOW_STALE_NS))
		return false;
	if (!pace_own(slow->process, task) || !segment_ready(&slow->process->segment))
		return false;
	task->inside_ns = now_ns;
	slow->process_id = kernel_process_id();
	slow->since_ns = now_ns;
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
	see_settings(slow);
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
	slow_leave_other(slow);
	if (slow->flush.device)
		device_unwatch(slow->flush.device, slow->watch_ns);
	slow->task->inside_ns = 0;
	if (slow->blocked)
		kernel_unblock_signals(slow->signal_mask);
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

/* Nobody can see what is behind the device, or nobody is there to look. */
static bool is_hidden(const struct slow *slow, const struct wp_segment *map, int device)
{
	return word_read(&map->devices[device].alias) == (uint64_t)device + 1 ||
	       !segment_is_helped(map, slow->now_ns);
}

/*
 * What we can not look at, or start, only the helper may. Why the second only for a while: it may
 * have been one file's affair.
 */
static bool is_unseen(const struct slow *slow)
{
	uint64_t refused_ns = word_read(&slow->process->refused_ns);

	return slow->handle->backing.unseen ||
	       (refused_ns && slow->now_ns < refused_ns + REFUSED_NS);
}

/* Whoever needs a descriptor of the file finds ours. */
static void hold_file(struct slow *slow, struct wp_file *file)
{
	bool unseen = is_unseen(slow);

	slow->file = file;
	slow->flush.file = unseen ? NULL : file;
	word_write(&file->unseen, unseen);
	word_write(&file->holder, slow->process_id << 32 | (uint32_t)slow->flush.fd);
	word_write(&file->holder_start_ns, slow->process->start_ns);
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
	slow->hidden = is_unseen(slow) && is_hidden(slow, map, device);
	slow->flush.device = &map->devices[device_real_slot(map, device)];
	slow->device_key = word_read(&slow->flush.device->key);
	if (!file_is(map, file, device, handle->backing.inode))
		file = file_slot(map, device, handle->backing.inode);
	if (file >= 0)
		hold_file(slow, &map->files[file]);
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

/* What the user wants of this device, and what the kernel allows there; the first setting that fits counts. */
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
	if (segment_is_helped(slow->process->segment.map, slow->now_ns))
		bounds->max_bytes =
			limits_least(bounds->max_bytes,
				     word_read(&slow->flush.device->kernel_limit_bytes));
}

/* The same for one device. */
static void see_device_setting(struct slow *slow)
{
	struct wp_segment *map = slow->process->segment.map;
	const struct wp_device_setting *setting =
		&map->settings.devices[slow->flush.device - map->devices];
	uint64_t rate_bps = setting_value(&setting->rate_bps);
	uint64_t max_bytes = setting_value(&setting->max_bytes);

	if (rate_bps)
		slow->bounds.rate_bps = max_u64(rate_bps, RATE_MIN_BPS);
	if (max_bytes)
		slow->bounds.max_bytes = max_bytes;
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
		see_device_setting(slow);
		slow->bounds.share = fprop_share(&slow->process->segment.map->writeout,
						 &slow->flush.device->writeout);
		pace_note_device(slow->process, slow->handle->backing.device);
	}
	return true;
}
