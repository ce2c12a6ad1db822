/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flush/flush.h"

#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "core/spacing.h"
#include "host/kernel.h"
#include "shm/device.h"
#include "shm/sync.h"
#include "shm/turn.h"

#define WHOLE_NS WP_SEC(1)       /* how often the whole file is looked at */
#define LOW_STEP_BYTES WP_MIB(1) /* the clean head grows in steps of at least this */
#define MAX_PROBES 64
#define MAX_UNITS 16

static bool is_clean(const struct kernel_pages *pages)
{
	return !pages->dirty_bytes && !pages->writeback_bytes;
}

/*
 * Move the offset below which nothing is outstanding. Why: a look costs 9 ns a page, and a
 * sequential writer has all that matters at its end. Once a second the head is looked at too,
 * because somebody may have gone back to it.
 */
static void move_low(const struct flush_file *flush, uint64_t now_ns)
{
	uint64_t low_bytes = word_read(&flush->file->low_bytes);
	uint64_t cursor_bytes = word_read(&flush->file->cursor_bytes);
	struct kernel_pages pages;

	/* Somebody truncated it, perhaps by opening it anew. */
	if (low_bytes > flush->size_bytes && flush->size_bytes) {
		word_write(&flush->file->low_bytes, 0);
		return;
	}
	if (stamp_age_ns(word_read(&flush->file->whole_ns), now_ns) > WHOLE_NS) {
		word_write(&flush->file->whole_ns, now_ns);
		if (low_bytes && (kernel_cachestat(flush->fd, 0, low_bytes, &pages) ||
				  !is_clean(&pages))) {
			word_write(&flush->file->low_bytes, 0);
			return;
		}
	}
	if (cursor_bytes >= low_bytes + LOW_STEP_BYTES &&
	    !kernel_cachestat(flush->fd, low_bytes, cursor_bytes - low_bytes, &pages) &&
	    is_clean(&pages))
		word_replace(&flush->file->low_bytes, low_bytes, cursor_bytes);
}

int64_t flush_look(const struct flush_file *flush, struct file_look *look)
{
	struct kernel_pages pages;
	int error;

	move_low(flush, look->now_ns);
	error = kernel_cachestat(flush->fd, word_read(&flush->file->low_bytes), 0,
				 &pages);
	if (error)
		return error;
	look->present_bytes = pages.dirty_bytes + pages.writeback_bytes;
	look->inflight_bytes = pages.writeback_bytes;
	file_settle(flush->file, flush->device, look);
	return (int64_t)pages.dirty_bytes;
}

void flush_cancelled(const struct flush_file *flush)
{
	struct kernel_pages pages;

	if (!kernel_cachestat(flush->fd, 0, 0, &pages))
		file_cancelled(flush->file, flush->device,
			       pages.dirty_bytes + pages.writeback_bytes);
}

static uint64_t dirty_in(const struct flush_file *flush, uint64_t offset_bytes,
			 uint64_t length_bytes)
{
	struct kernel_pages pages;

	if (kernel_cachestat(flush->fd, offset_bytes, length_bytes, &pages))
		return 0;
	return pages.dirty_bytes;
}

/*
 * The first offset from the cursor on whose next unit holds something dirty: steps that double
 * over clean ranges, then halves back. Returns how much that is, 0 when there is none up to the
 * end of the file.
 */
static uint64_t next_dirty(const struct flush_file *flush, uint64_t unit_bytes,
			   uint64_t *offset_bytes)
{
	uint64_t at_bytes = *offset_bytes;
	uint64_t step_bytes = unit_bytes;

	for (int probe = 0; probe < MAX_PROBES; probe++) {
		uint64_t dirty_bytes;

		if (flush->size_bytes && at_bytes >= flush->size_bytes)
			return 0;
		dirty_bytes = dirty_in(flush, at_bytes, step_bytes);
		if (!dirty_bytes) {
			if (at_bytes > INT64_MAX - 2 * step_bytes)
				return 0;
			at_bytes += step_bytes;
			if (step_bytes < WP_GIB(64))
				step_bytes *= 2;
		} else if (step_bytes > unit_bytes) {
			step_bytes /= 2;
		} else {
			*offset_bytes = at_bytes;
			return dirty_bytes;
		}
	}
	return 0;
}

/*
 * One unit at the cursor, which turns round at the end. Returns what of it was dirty, 0: nothing
 * found.
 */
static int64_t start_unit(const struct flush_file *flush, uint64_t unit_bytes)
{
	uint64_t cursor_bytes = word_read(&flush->file->cursor_bytes);
	uint64_t offset_bytes = cursor_bytes;
	uint64_t dirty_bytes;
	int error;

	dirty_bytes = next_dirty(flush, unit_bytes, &offset_bytes);
	if (!dirty_bytes) {
		offset_bytes = word_read(&flush->file->low_bytes);
		dirty_bytes = next_dirty(flush, unit_bytes, &offset_bytes);
		if (!dirty_bytes)
			return 0;
	}
	/* Order: who moves the cursor starts that unit; another takes the next one. */
	if (!word_replace(&flush->file->cursor_bytes, cursor_bytes,
			  offset_bytes + unit_bytes))
		return 0;
	error = kernel_start_writeback(flush->fd, offset_bytes, unit_bytes);
	if (error)
		return error;
	file_started(flush->file, flush->device, dirty_bytes);
	return (int64_t)dirty_bytes;
}

static void see_busy(struct wp_device *device, uint64_t clock_ns, uint64_t now_ns)
{
	if (word_exchange(&device->busy_clock_ns, clock_ns) != clock_ns)
		word_add(&device->busy_starts, 1);
	word_write(&device->busy_ns, now_ns);
}

/* What the spacing does not make up for, and the device is not to blame for. */
static void see_late(struct wp_device *device, uint64_t clock_ns, uint64_t now_ns)
{
	uint64_t since_ns = max_u64(clock_ns, word_read(&device->busy_ns));
	uint64_t late_ns = sub_u64(now_ns, since_ns + SPACING_LAG_NS);

	if (late_ns)
		word_add(&device->late_ns, late_ns);
}

/*
 * Is a unit due, is there room for it, is it ours to start?
 * Order: who moves the device's clock may start the unit that was due.
 */
static bool take_start(struct wp_device *device, const struct flush_pace *pace)
{
	uint64_t inflight_bytes = device_inflight_bytes(device);
	uint64_t clock_ns = word_read(&device->start_ns);
	uint64_t next_ns;

	if (sync_holds(device, pace->now_ns))
		return false;
	if (pace->forced) {
		word_add(&device->start_ns, pace->interval_ns);
		return true;
	}
	if (!spacing_may_start(clock_ns, pace->interval_ns, pace->now_ns, &next_ns))
		return false;
	if (inflight_bytes)
		see_busy(device, clock_ns, pace->now_ns);
	if (inflight_bytes + pace->unit_bytes > pace->window_bytes ||
	    !word_replace(&device->start_ns, clock_ns, next_ns))
		return false;
	see_late(device, clock_ns, pace->now_ns);
	return true;
}

struct flush_pace flush_pace_of(const struct control *control, uint64_t now_ns)
{
	return (struct flush_pace){
		.unit_bytes = window_unit_bytes(&control->window),
		.window_bytes = window_bytes(&control->window),
		.interval_ns = control_interval_ns(control),
		.slice_bytes = bandwidth_assumed_bps(&control->bandwidth) / 2,
		.now_ns = now_ns,
	};
}

/* Of a unit of which less was dirty only its part of the time is used up. */
static void give_back(struct wp_device *device, uint64_t started_bytes,
		      const struct flush_pace *pace)
{
	if (!pace->forced && started_bytes < pace->unit_bytes)
		word_add(&device->start_ns,
			 -mul_div(pace->interval_ns, pace->unit_bytes - started_bytes,
				  pace->unit_bytes));
}

static bool may_start(const struct flush_file *flush, const struct flush_pace *pace,
		      uint64_t dirty_bytes)
{
	return (pace->forced || turn_take(flush->device, flush->file, dirty_bytes,
					  pace->slice_bytes, pace->now_ns)) &&
	       take_start(flush->device, pace);
}

int64_t flush_start(const struct flush_file *flush, uint64_t dirty_bytes,
		    const struct flush_pace *pace)
{
	uint64_t started_bytes = 0;

	for (int unit = 0; unit < MAX_UNITS && started_bytes < dirty_bytes; unit++) {
		int64_t started;

		if (!may_start(flush, pace, dirty_bytes - started_bytes))
			break;
		started = start_unit(flush, pace->unit_bytes);
		/* No progress possible now: others first (K7.4). */
		if (started <= 0 && !pace->requeue)
			turn_end(flush->device, flush->file);
		if (started < 0)
			return started;
		if (!started)
			break;
		turn_spend(flush->device, flush->file, (uint64_t)started, pace->now_ns);
		word_add(&flush->device->starts, 1);
		give_back(flush->device, (uint64_t)started, pace);
		started_bytes += (uint64_t)started;
	}
	/* Why: it may be gone for as long as it likes; another need not wait for that. */
	if (started_bytes >= dirty_bytes)
		turn_end(flush->device, flush->file);
	return (int64_t)started_bytes;
}
