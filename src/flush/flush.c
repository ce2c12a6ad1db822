/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flush/flush.h"

#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "core/spacing.h"
#include "host/kernel.h"
#include "shm/device.h"
#include "shm/orphan.h"
#include "shm/sync.h"
#include "shm/turn.h"

#define GATHER_MAX_BYTES WP_MIB(64) /* a look there costs 150 us */
#define MAX_PROBES 64
#define MAX_UNITS 16
#define PAGE_BYTES WP_KIB(4) /* or a part of one */
#define BLIND_WHOLE_NS WP_MS(250)
#define NO_ORDER UINT64_MAX /* a cursor: writes jump about */

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
 * A unit is so much to be written, not so long a piece of the file: pages at random places one at a
 * time would leave any device idle. So @length_bytes doubles while no more than a unit is dirty
 * there. Returns what is.
 */
static uint64_t gather(const struct flush_file *flush, uint64_t unit_bytes,
		       uint64_t offset_bytes, uint64_t dirty_bytes,
		       uint64_t *length_bytes)
{
	while (*length_bytes < GATHER_MAX_BYTES) {
		uint64_t more_bytes = dirty_in(flush, offset_bytes, 2 * *length_bytes);

		if (more_bytes > unit_bytes)
			break;
		dirty_bytes = max_u64(dirty_bytes, more_bytes);
		*length_bytes *= 2;
	}
	return dirty_bytes;
}

/*
 * One unit at the cursor, which turns round at the end; @left_bytes of the file are dirty. Returns
 * what of it was dirty, 0: nothing found.
 */
static int64_t start_unit(const struct flush_file *flush, uint64_t unit_bytes,
			  uint64_t left_bytes)
{
	uint64_t cursor_bytes = word_read(&flush->file->cursor_bytes);
	uint64_t offset_bytes = cursor_bytes;
	uint64_t length_bytes = unit_bytes;
	uint64_t dirty_bytes;
	int error;

	dirty_bytes = next_dirty(flush, unit_bytes, &offset_bytes);
	if (!dirty_bytes) {
		offset_bytes = word_read(&flush->file->low_bytes);
		dirty_bytes = next_dirty(flush, unit_bytes, &offset_bytes);
		if (!dirty_bytes) {
			/* Why: what is known is not so, the program has synced it. */
			word_write(&flush->file->look_every_ns, 0);
			return 0;
		}
	}
	if (dirty_bytes < min_u64(unit_bytes / 2, left_bytes))
		dirty_bytes = gather(flush, unit_bytes, offset_bytes, dirty_bytes,
				     &length_bytes);
	/* Order: who moves the cursor starts that unit; another takes the next one. */
	if (!word_replace(&flush->file->cursor_bytes, cursor_bytes,
			  offset_bytes + length_bytes))
		return 0;
	if (offset_bytes < cursor_bytes || !word_level(&flush->file->inflight_bytes))
		word_write(&flush->file->flight_bytes, offset_bytes);
	error = kernel_start_writeback(flush->fd, offset_bytes, length_bytes);
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

/* Where the next write() goes; pwrite() leaves that at 0, and is most likely at the end. */
static uint64_t end_of(const struct flush_file *flush)
{
	uint64_t position_bytes = kernel_position(flush->fd);

	return position_bytes ? position_bytes : flush->size_bytes;
}

/* Is what became dirty before the end of what was written, and behind the end before? */
static bool is_in_order(struct wp_file *file, uint64_t end_bytes, uint64_t dirtied_bytes)
{
	uint64_t before_bytes = word_exchange(&file->blind_end_bytes, end_bytes);

	if (!before_bytes) /* the first look: what was dirtied is at the end */
		word_write(&file->cursor_bytes,
			   sub_u64(end_bytes, dirtied_bytes + PAGE_BYTES) / PAGE_BYTES *
				   PAGE_BYTES);
	return word_read(&file->cursor_bytes) != NO_ORDER && end_bytes >= before_bytes &&
	       (end_bytes > before_bytes || dirtied_bytes < PAGE_BYTES);
}

/* Orphans, of this file or another, that nobody has started yet. */
static uint64_t unstarted_bytes(const struct wp_device *device)
{
	return sub_u64(word_level(&device->orphan_bytes),
		       word_level(&device->orphan_started_bytes));
}

/* A guess may be wrong: once in a while, when there is nothing more to be started. */
static bool is_whole_due(const struct flush_file *flush, uint64_t now_ns)
{
	uint64_t whole_ns = word_read(&flush->file->whole_ns);

	return unstarted_bytes(flush->device) > PAGE_BYTES &&
	       stamp_age_ns(whole_ns, now_ns) > BLIND_WHOLE_NS &&
	       word_replace(&flush->file->whole_ns, whole_ns, now_ns);
}

uint64_t flush_guess(struct flush_file *flush, uint64_t dirtied_bytes, uint64_t now_ns)
{
	struct wp_file *file = flush->file;
	uint64_t end_bytes = end_of(flush);
	uint64_t left_bytes;

	word_write(&file->seen_ns, now_ns);
	flush->blind = true;
	flush->end_bytes = 0;
	if (!is_in_order(file, end_bytes, dirtied_bytes)) {
		word_write(&file->cursor_bytes, NO_ORDER);
		word_add(&file->blind_bytes, dirtied_bytes);
		/* What the kernel wrote by itself is no orphan any more. */
		return min_u64(word_level(&file->blind_bytes),
			       word_level(&flush->device->orphan_bytes));
	}
	left_bytes = sub_u64(end_bytes - end_bytes % PAGE_BYTES,
			     word_read(&file->cursor_bytes));
	if (!left_bytes && is_whole_due(flush, now_ns)) {
		word_write(&file->blind_bytes, unstarted_bytes(flush->device));
		return word_level(&file->blind_bytes);
	}
	flush->end_bytes = end_bytes - end_bytes % PAGE_BYTES;
	return left_bytes;
}

/* Order: who moves the word starts that part; another takes the next one. */
static int64_t start_blind(const struct flush_file *flush, uint64_t unit_bytes)
{
	uint64_t *word =
		flush->end_bytes ? &flush->file->cursor_bytes : &flush->file->blind_bytes;
	uint64_t seen = word_read(word);
	uint64_t bytes = flush->end_bytes ?
				 min_u64(sub_u64(flush->end_bytes, seen), unit_bytes) :
				 word_level(word);
	int error;

	if (!bytes || !word_replace(word, seen, flush->end_bytes ? seen + bytes : 0))
		return 0;
	error = flush->end_bytes ? kernel_start_writeback(flush->fd, seen, bytes) :
				   kernel_start_writeback(flush->fd, 0, 0);
	if (error)
		return error;
	device_orphans_started(flush->device, bytes);
	return (int64_t)bytes;
}

/*
 * Is a unit due, is there room for it, is it ours to start?
 * Order: who moves the device's clock may start the unit that was due.
 */
static bool take_start(struct wp_device *device, const struct flush_pace *pace,
		       uint64_t dirty_bytes, bool first)
{
	uint64_t inflight_bytes = device_inflight_bytes(device) +
				  device_orphans_inflight_bytes(device, pace->now_ns);
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
	/* Why the first: what this visit has started itself tells nothing. */
	if (inflight_bytes && first)
		see_busy(device, clock_ns, pace->now_ns);
	if (inflight_bytes + min_u64(pace->unit_bytes, dirty_bytes) >
		    pace->window_bytes ||
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
		      uint64_t dirty_bytes, bool first)
{
	return (pace->forced || turn_take(flush->device, flush->file, dirty_bytes,
					  pace->slice_bytes, pace->now_ns)) &&
	       take_start(flush->device, pace, dirty_bytes, first);
}

int64_t flush_start(const struct flush_file *flush, uint64_t dirty_bytes,
		    const struct flush_pace *pace)
{
	uint64_t started_bytes = 0;

	for (int unit = 0; unit < MAX_UNITS && started_bytes < dirty_bytes; unit++) {
		int64_t started;

		if (!may_start(flush, pace, dirty_bytes - started_bytes, !unit))
			break;
		started = flush->blind ? start_blind(flush, pace->unit_bytes) :
					 start_unit(flush, pace->unit_bytes,
						    dirty_bytes - started_bytes);
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
