/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/pause.h"

#include "base/fixed.h"

#define TICK_NS WP_MS(1) /* the kernel's "+ 1 jiffy" */

uint64_t pause_max_ns(uint64_t outstanding_bytes, uint64_t bandwidth_bps)
{
	return min_u64(bytes_to_ns(outstanding_bytes, bandwidth_bps) / 8 + TICK_NS,
		       PAUSE_MAX_NS);
}

uint64_t pause_free_poll_bytes(uint64_t limit_bytes, uint64_t outstanding_bytes)
{
	uint64_t margin_pages = sub_u64(limit_bytes, outstanding_bytes) / WP_PAGE_BYTES;

	return ((uint64_t)1 << (ilog2(margin_pages) / 2)) * WP_PAGE_BYTES;
}

/* K5.4. Sleeps of 10 ms, and 10 ms more for each doubling of the number of writers. */
static void plan_poll(struct pause_plan *plan, const struct pause_view *view)
{
	unsigned high = ilog2(view->bandwidth_bps);
	unsigned low = ilog2(view->base_bps);
	uint64_t t_ns = PAUSE_GOAL_NS;
	uint64_t bytes;

	if (high > low)
		t_ns += (high - low) * PAUSE_GOAL_NS;
	t_ns = min_u64(t_ns, TICK_NS + plan->max_pause_ns / 2);
	bytes = ns_to_bytes(t_ns, view->base_bps);
	if (bytes < PAUSE_POLL_BYTES) {
		t_ns = plan->max_pause_ns;
		bytes = ns_to_bytes(t_ns, view->base_bps);
		if (bytes > PAUSE_POLL_BYTES) {
			bytes = PAUSE_POLL_BYTES;
			t_ns = bytes_to_ns(bytes, view->base_bps);
		}
	}
	if (bytes_to_ns(bytes, view->task_bps + 1) > plan->max_pause_ns) {
		t_ns = plan->max_pause_ns;
		bytes = ns_to_bytes(t_ns, view->task_bps);
	}
	plan->poll_bytes = max_u64(bytes, WP_PAGE_BYTES);
	plan->min_pause_ns = bytes >= PAUSE_POLL_BYTES ? TICK_NS + t_ns / 2 : t_ns;
}

/* K5.3 step 11, first half: the task is on time or late, it does not sleep. */
static void plan_no_sleep(struct pause_plan *plan, const struct pause_view *view,
			  uint64_t when_ns, uint64_t period_ns, int64_t pause_ns)
{
	plan->pause_ns = 0;
	plan->paused_when_ns = when_ns;
	if (pause_ns < -(int64_t)PAUSE_FORGET_NS)
		plan->paused_when_ns = view->now_ns;
	else if (period_ns)
		plan->paused_when_ns = when_ns + period_ns;
	else
		plan->owed_bytes = view->dirtied_bytes;
}

void pause_plan(struct pause_plan *plan, const struct pause_view *view)
{
	uint64_t when_ns = view->paused_when_ns ? view->paused_when_ns : view->now_ns;
	uint64_t now_ns = view->now_ns;
	uint64_t period_ns;
	int64_t pause_ns;

	plan->max_pause_ns = pause_max_ns(view->outstanding_bytes, view->bandwidth_bps);
	plan->owed_bytes = 0;
	plan_poll(plan, view);
	if (!view->task_bps) {
		plan->pause_ns = plan->max_pause_ns;
		plan->paused_when_ns = now_ns + plan->pause_ns;
		return;
	}
	/* Why an hour: with one period's signed arithmetic safe, nothing else can overflow. */
	period_ns =
		min_u64(bytes_to_ns(view->dirtied_bytes, view->task_bps), WP_SEC(3600));
	pause_ns = (int64_t)period_ns - (int64_t)(now_ns - when_ns);
	if (pause_ns < (int64_t)plan->min_pause_ns) {
		plan_no_sleep(plan, view, when_ns, period_ns, pause_ns);
		return;
	}
	if ((uint64_t)pause_ns > plan->max_pause_ns) {
		plan->owed_bytes =
			min_u64(ns_to_bytes((uint64_t)pause_ns - plan->max_pause_ns,
					    view->task_bps),
				view->dirtied_bytes);
		pause_ns = (int64_t)plan->max_pause_ns;
	}
	plan->pause_ns = (uint64_t)pause_ns;
	plan->paused_when_ns = now_ns + plan->pause_ns;
}
