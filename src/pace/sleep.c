/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One step of a pause: how long until the next look, and what cuts it. */
#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "host/kernel.h"
#include "pace/slow.h"
#include "shm/device.h"
#include "shm/turn.h"

#define STEP_MIN_NS WP_US(200) /* between two looks at what is in flight */
#define STEP_MAX_NS WP_MS(5)
#define STEP_LONG_NS WP_MS(20)  /* where somebody else looks */
#define WATCH_SLACK_NS WP_MS(2) /* who is woken late keeps the watch */
#define SILENT_STEPS 16 /* the longer nothing completes, the longer until the next look */
#define BREATH_NS WP_MS(5)
#define JUMP_NS WP_MS(5) /* for so long after a jump out of a pause nobody pauses */

/*
 * A signal that is blocked waits: we are in its handler, most likely. A timer's would come again
 * at once, and the program itself never run: it does so before the next pause.
 */
static bool let_breathe(struct slow *slow)
{
	slow->task->breath_ns =
		slow->manner == PACE_BLOCKED ? 0 : slow->now_ns + BREATH_NS;
	return true;
}

uint64_t slow_step_ns(const struct slow *slow)
{
	uint64_t unit_bytes = window_unit_bytes(&slow->control.window);
	uint64_t progress_ns = word_read(&slow->flush.device->progress_ns);
	/* Nobody asks a device that completes nothing again and again. */
	uint64_t silent_ns = min_u64(stamp_age_ns(progress_ns, slow->now_ns),
				     slow->now_ns - slow->since_ns);

	return max_u64(clamp_u64(slow_service_ns(slow, unit_bytes) / 4, STEP_MIN_NS,
				 STEP_MAX_NS),
		       silent_ns / SILENT_STEPS);
}

/* What is in flight must not count for longer than it is, and a turn is lost by who is away. */
static bool is_looked_for(const struct slow *slow)
{
	return slow->other.file ||
	       (slow->flush.file && (word_read(&slow->flush.file->inflight_bytes) ||
				     (slow->dirty_bytes &&
				      turn_holds(slow->flush.device, slow->flush.file))));
}

/*
 * How long until the next look. Whose bytes are in flight, or whose turn it is, looks often; and
 * one of the others, so that the next unit starts in time. A hundred who all do are 60,000
 * wake-ups a second.
 */
static uint64_t step_ns(struct slow *slow, uint64_t left_ns)
{
	uint64_t short_ns = slow_step_ns(slow);

	if (is_looked_for(slow))
		return short_ns;
	if (slow->dirty_bytes)
		slow->watch_ns = device_watch(slow->flush.device, slow->watch_ns,
					      slow->now_ns + short_ns + WATCH_SLACK_NS,
					      slow->now_ns);
	/* the longer the pauses, the more there are who sleep */
	return slow->watch_ns ? short_ns :
				max_u64(short_ns, min_u64(left_ns / 4, STEP_LONG_NS));
}

/*
 * Signal: one that is handled between two steps would be lost, and the pause go on for as long as
 * there is no room. So from the first step on they are blocked outside of the steps, up to the
 * visit's end; a handler that jumps out of a step finds the program's own mask.
 */
static bool sleep_step(struct slow *slow, uint64_t span_ns)
{
	if (slow->manner == PACE_BLOCKED)
		return kernel_sleep_ns(span_ns);
	if (!slow->blocked)
		slow->blocked = kernel_block_signals(&slow->signal_mask);
	return slow->blocked ? kernel_sleep_open_ns(span_ns, slow->signal_mask) :
			       kernel_sleep_ns(span_ns);
}

bool slow_sleep(struct slow *slow, uint64_t until_ns)
{
	uint64_t before_ns = slow->now_ns;
	uint64_t left_ns = sub_u64(until_ns, before_ns);
	uint64_t span_ns = min_u64(left_ns, step_ns(slow, left_ns));
	uint64_t pending;
	bool interrupted;

	if (before_ns < slow->task->breath_ns)
		return false;
	pending = slow->manner == PACE_BLOCKED ? 0 : kernel_signals_pending();
	/*
	 * Signal: nothing is held here. A handler that writes now is charged and goes on, its
	 * pause would be ours; it may jump out and never come back, so this ends by itself.
	 */
	slow->task->inside_ns = sub_u64(before_ns + span_ns + JUMP_NS, SLOW_STALE_NS);
	interrupted = !sleep_step(slow, span_ns);
	slow->now_ns = kernel_now_ns();
	slow->task->inside_ns = slow->now_ns;
	word_add(&slow->process->totals.slept_ns, slow->now_ns - before_ns);
	if (slow->note)
		word_add(&slow->note->slept_ns, slow->now_ns - before_ns);
	if (word_read(&slow->process->retired) ||
	    word_read(&slow->flush.device->key) != slow->device_key)
		return false;
	if (kernel_signals_pending() & ~pending)
		interrupted = let_breathe(slow);
	if (interrupted)
		slow->task->cut_ns = slow->now_ns;
	return !interrupted;
}

void slow_wait_ceiling(struct slow *slow, uint64_t background_bytes)
{
	if (slow->manner == PACE_NO_SLEEP || slow->ceiling_ns <= slow->now_ns)
		return;
	slow_count_sleep(slow);
	while (slow->now_ns < slow->ceiling_ns && slow_sleep(slow, slow->ceiling_ns))
		slow_tick(slow, background_bytes);
}
