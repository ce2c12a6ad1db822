/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/balance.h"

#include "base/fixed.h"
#include "core/ceiling.h"
#include "core/pause.h"
#include "core/position.h"

static void see_device(struct verdict *verdict, const struct control *control,
		       const struct bounds *bounds)
{
	verdict->global_bytes = control_global_bytes(control, bounds);
	verdict->limit_bytes = control_limit_bytes(control, bounds);
	verdict->background_bytes =
		control_background_bytes(verdict->limit_bytes, bounds);
	verdict->setpoint_bytes =
		position_setpoint(verdict->limit_bytes, verdict->background_bytes);
	verdict->wall_bytes = control->wall_bytes;
	verdict->credit_bytes =
		control_credit_bytes(control, bounds, verdict->view.outstanding_bytes);
	verdict->bandwidth_bps = bandwidth_assumed_bps(&control->bandwidth);
	verdict->base_bps = control->ratelimit.base_bps ? control->ratelimit.base_bps :
							  BANDWIDTH_INIT_BPS;
}

/* The base rate is that of weight 100; rates in proportion follow from K4.4 by themselves. */
static void see_task(struct verdict *verdict, const struct bounds *bounds)
{
	struct fprop_fraction share = { .numerator = verdict->view.share_numerator,
					.denominator = verdict->view.share_denominator };
	uint64_t weight = verdict->view.weight ? verdict->view.weight : WEIGHT_NORMAL;

	/* Why by weight: who may dirty more is not the heavier for it. */
	if (share.denominator)
		share.denominator =
			max_u64(share.numerator,
				mul_div(share.denominator, weight, WEIGHT_NORMAL));
	verdict->task_limit_bytes =
		limits_task_bytes(verdict->limit_bytes, share, bounds->penalty);
	verdict->base_bps = max_u64(mul_div(verdict->base_bps, weight, WEIGHT_NORMAL), 1);
}

/*
 * What the task may dirty in 100 ms, but no more than a unit of writeback: what is written in
 * one piece becomes one folio, and a folio is in flight as a whole.
 */
static uint64_t piece_bytes(uint64_t task_bps, uint64_t unit_bytes)
{
	uint64_t bytes = min_u64(ns_to_bytes(WP_MS(100), task_bps), unit_bytes);

	return clamp_u64(pow2_floor(bytes), PIECE_MIN_BYTES, PIECE_MAX_BYTES);
}

/*
 * Many writers share a slow device by small thresholds; a piece longer than its threshold would
 * be a lump that no pause can make up for, whatever the rate.
 */
static uint64_t within_poll(uint64_t bytes, uint64_t poll_bytes)
{
	return min_u64(bytes, max_u64(pow2_floor(poll_bytes), PIECE_LEAST_BYTES));
}

/* K5.3 step 2: no debt is carried out of free running. */
static void run_free(struct verdict *verdict)
{
	uint64_t ceiling_bytes =
		max_u64(verdict->limit_bytes, verdict->view.outstanding_bytes) +
		verdict->credit_bytes;

	verdict->free_running = true;
	verdict->pause_ns = 0;
	verdict->paused_when_ns = verdict->view.now_ns;
	verdict->task_bps = verdict->bandwidth_bps;
	verdict->pos_q10 = 2 * WP_Q10;
	verdict->poll_bytes = max_u64(
		pause_free_poll_bytes(ceiling_bytes, verdict->view.outstanding_bytes),
		PIECE_MIN_BYTES);
}

static bool is_free(const struct verdict *verdict)
{
	uint64_t free_bytes =
		position_free(verdict->limit_bytes, verdict->background_bytes);

	return verdict->view.outstanding_bytes <= free_bytes || verdict->credit_bytes;
}

static void run_paced(struct verdict *verdict)
{
	struct pause_view view = {
		.now_ns = verdict->view.now_ns,
		.paused_when_ns = verdict->view.paused_when_ns,
		.dirtied_bytes = verdict->view.dirtied_bytes,
		.outstanding_bytes = verdict->view.outstanding_bytes,
		.bandwidth_bps = verdict->bandwidth_bps,
		.base_bps = verdict->base_bps,
	};
	struct pause_plan plan;

	verdict->pos_q10 = position_strict_q10(
		verdict->task_limit_bytes, verdict->background_bytes,
		sub_u64(verdict->wall_bytes,
			verdict->limit_bytes - verdict->task_limit_bytes),
		verdict->view.outstanding_bytes);
	verdict->task_bps = ratelimit_task_bps(verdict->base_bps, verdict->pos_q10);
	verdict->at_wall = !verdict->task_bps;
	view.task_bps = verdict->task_bps;
	pause_plan(&plan, &view);
	verdict->max_pause_ns = plan.max_pause_ns;
	verdict->min_pause_ns = plan.min_pause_ns;
	verdict->pause_ns = plan.pause_ns;
	verdict->poll_bytes = plan.poll_bytes;
	verdict->paused_when_ns = plan.paused_when_ns;
	verdict->owed_bytes = plan.owed_bytes;
	verdict->visit_ns =
		PAUSE_VISIT_NS + bytes_to_ns(view.dirtied_bytes, verdict->base_bps);
	verdict->again = plan.pause_ns && (verdict->at_wall || plan.owed_bytes);
}

void balance(struct verdict *verdict, const struct view *view,
	     const struct control *control, const struct bounds *bounds)
{
	*verdict = (struct verdict){ .view = *view };
	see_device(verdict, control, bounds);
	see_task(verdict, bounds);
	if (is_free(verdict))
		run_free(verdict);
	else
		run_paced(verdict);
	if (bounds->rate_bps)
		verdict->poll_bytes = min_u64(verdict->poll_bytes,
					      ceiling_poll_bytes(bounds->rate_bps));
	verdict->piece_bytes = within_poll(
		piece_bytes(verdict->task_bps, window_kept_unit_bytes(&control->window)),
		verdict->poll_bytes);
}
