/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pace/pace.h"

#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "host/kernel.h"
#include "pace/slow.h"
#include "shm/device.h"
#include "shm/note.h"
#include "shm/orphan.h"

#define POLL_STRETCH_MAX 32
#define PUSH_MAX_BYTES WP_KIB(256)
#define RELEASE_NS WP_SEC(5) /* nothing completed for so long: callers go on (design 8) */

static enum wp_source source_of(const struct slow *slow)
{
	enum wp_source source = device_source(slow->flush.device, slow->now_ns);

	return source != WP_SOURCE_OBSERVER && slow->looked ? WP_SOURCE_CACHESTAT :
							      source;
}

static void decide(const struct slow *slow, struct verdict *verdict)
{
	struct view view = {
		.now_ns = slow->now_ns,
		.outstanding_bytes = device_outstanding_bytes(slow->flush.device),
		.dirtied_bytes = slow->task->owed_bytes,
		.paused_when_ns = slow->task->paused_when_ns,
		.weight = slow_weight(slow),
		.source = source_of(slow),
	};

	if (slow->slot) {
		struct fprop_fraction share = fprop_share_single(
			&slow->process->segment.map->dirtied, &slow->slot->dirtied_word);

		view.share_numerator = share.numerator;
		view.share_denominator = share.denominator;
	}

	balance(verdict, &view, &slow->control, &slow->bounds);
	if (slow->note)
		note_put(slow->note, verdict);
}

/*
 * Bytes charged only decide when to look (design 5). A task most of whose writes go to pages
 * that are dirty already looks as much less often, but never later than half the room left.
 */
static uint64_t poll_bytes(const struct slow *slow, const struct verdict *verdict)
{
	uint64_t stretch = slow->charged_bytes / max_u64(verdict->view.dirtied_bytes, 1);
	uint64_t room_bytes =
		sub_u64(verdict->limit_bytes, verdict->view.outstanding_bytes) / 2;

	if (stretch < 2)
		return min_u64(verdict->poll_bytes, verdict->limit_bytes);
	return max_u64(verdict->poll_bytes,
		       min_u64(room_bytes,
			       verdict->poll_bytes * min_u64(stretch, POLL_STRETCH_MAX)));
}

static void keep(const struct slow *slow, const struct verdict *verdict)
{
	struct pace_task *task = slow->task;

	task->poll_bytes = poll_bytes(slow, verdict);
	task->piece_bytes = verdict->piece_bytes;
	task->paused_when_ns = verdict->paused_when_ns;
	task->owed_bytes = verdict->owed_bytes;
}

/* Has the device completed nothing since @since_ns for longer than anybody should be held? */
static bool is_dead(const struct slow *slow, uint64_t since_ns)
{
	uint64_t progress_ns = word_read(&slow->flush.device->progress_ns);

	return stamp_age_ns(progress_ns, slow->now_ns) > RELEASE_NS &&
	       slow->now_ns > since_ns + RELEASE_NS;
}

/* One pause, in steps, looking after writeback at each. False when a signal cut it. */
static bool pause_once(struct slow *slow, const struct verdict *verdict,
		       uint64_t visit_until_ns)
{
	uint64_t until_ns = slow->now_ns + verdict->pause_ns;

	if (!verdict->at_wall)
		until_ns = min_u64(until_ns, visit_until_ns);
	slow_count_sleep(slow);
	while (slow->now_ns < until_ns) {
		if (!slow_sleep(slow, until_ns))
			return false;
		slow_tick(slow, verdict->background_bytes);
	}
	return true;
}

/*
 * A task slower than its share never waits, so it comes seldom, and only it can start what it
 * dirtied: left to take its turns it would leave that behind, and fill the limit of those who
 * wait. What it dirtied since it was last here goes out at once.
 */
static void push(struct slow *slow, const struct verdict *verdict)
{
	uint64_t since_ns = sub_u64(slow->now_ns, slow->task->paused_when_ns);

	if (verdict->view.outstanding_bytes > verdict->background_bytes &&
	    rate_of(slow->task->owed_bytes, since_ns) < verdict->base_bps)
		slow_push(slow, min_u64(slow->task->owed_bytes, PUSH_MAX_BYTES));
}

/* The rest stays owed: a limit that fell is no reason to hold anybody for what it did before. */
static bool has_waited(const struct slow *slow, const struct verdict *verdict,
		       uint64_t until_ns)
{
	return !verdict->at_wall && slow->now_ns >= until_ns;
}

/* What the user asked to be told, once. */
static void tell(struct slow *slow, const struct verdict *verdict)
{
	void (*found)(uint64_t device, uint64_t limit_bytes, uint64_t source) =
		slow->process->found;

	slow->process->found = NULL;
	found(device_number(slow->flush.device), verdict->limit_bytes,
	      verdict->view.source);
}

void slow_pay(struct slow *slow)
{
	uint64_t since_ns = slow->now_ns;
	struct verdict verdict;
	uint64_t until_ns;

	decide(slow, &verdict);
	if (wp_unlikely(slow->process->found != NULL))
		tell(slow, &verdict);
	until_ns = since_ns + verdict.visit_ns;
	if (!verdict.pause_ns)
		push(slow, &verdict);
	while (verdict.pause_ns && slow->manner != PACE_NO_SLEEP) {
		keep(slow, &verdict);
		if (!pause_once(slow, &verdict, until_ns) || !verdict.again ||
		    has_waited(slow, &verdict, until_ns) || is_dead(slow, since_ns))
			return;
		decide(slow, &verdict);
	}
	keep(slow, &verdict);
}

static uint64_t background_of(const struct slow *slow)
{
	return control_background_bytes(
		control_limit_bytes(&slow->control, &slow->bounds), &slow->bounds);
}

bool pace_before(struct pace_process *process, struct pace_task *task,
		 struct pace_handle *handle, int fd, enum pace_manner manner)
{
	struct slow slow = SLOW(process, task, handle, fd, manner);
	bool same;

	if (!slow_enter(&slow))
		return true;
	same = slow_locate(&slow);
	if (same && slow.flush.device) {
		uint64_t background_bytes = background_of(&slow);

		slow_take_dirt(&slow);
		slow_tick(&slow, background_bytes);
		slow_pay(&slow);
		slow_wait_ceiling(&slow, background_bytes);
	} else {
		task->charged_bytes = 0;
	}
	slow_leave(&slow);
	return same;
}

uint64_t pace_tend(struct pace_process *process, struct pace_task *task,
		   struct pace_handle *handle, int fd)
{
	struct slow slow = SLOW(process, task, handle, fd, PACE_NO_SLEEP);
	uint64_t next_ns = UINT64_MAX;
	uint64_t background_bytes;

	if (!slow_enter(&slow))
		return next_ns;
	if (slow_locate(&slow) && slow.flush.device) {
		background_bytes = background_of(&slow);
		slow_tick(&slow, background_bytes);
		if (device_outstanding_bytes(slow.flush.device) >=
		    background_bytes + window_unit_bytes(&slow.control.window))
			next_ns = slow_step_ns(&slow);
	}
	slow_leave(&slow);
	return next_ns;
}
