/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what is known of a device and what is allowed to how much may be outstanding there. */
#include "base/fixed.h"
#include "core/control.h"

#define HEADROOM_WINDOWS 4

static uint64_t newcomer_bytes(const struct control *control)
{
	return control->newcomer_bytes ? control->newcomer_bytes : LIMITS_NEWCOMER_BYTES;
}

uint64_t control_global_bytes(const struct control *control, const struct bounds *bounds)
{
	uint64_t known_bps = control->bandwidth.avg_bps;
	uint64_t in_use_bps = max_u64(bounds->in_use_bps, known_bps);
	uint64_t drain_ns = bounds->drain_ns;

	/* Why: nothing known and nobody else in use, the newcomer's limit is all there is. */
	if (!in_use_bps)
		in_use_bps = rate_of(newcomer_bytes(control), drain_ns);
	else if (!known_bps)
		in_use_bps += rate_of(newcomer_bytes(control), drain_ns);
	return limits_global_bytes(drain_ns, in_use_bps, bounds->ceiling_bytes,
				   bounds->kernel_bytes, bounds->pressure_q10);
}

/*
 * With headroom a few windows are enough to keep the device at its rate, and there is nothing
 * left to burst when a program ends.
 */
static uint64_t headroom_bytes(const struct control *control)
{
	if (!control->held_bps)
		return 0;
	return max_u64(HEADROOM_WINDOWS * window_kept_bytes(&control->window),
		       LIMITS_ROOM_BYTES);
}

uint64_t control_limit_bytes(const struct control *control, const struct bounds *bounds)
{
	struct limits_view view = {
		.bandwidth_bps = control->bandwidth.avg_bps,
		.newcomer_bytes = newcomer_bytes(control),
		.drain_ns = bounds->drain_ns,
		.global_bytes = control_global_bytes(control, bounds),
		.outstanding_bytes = bounds->outstanding_bytes,
		.share = bounds->share,
		.min_ratio_q10 = bounds->min_ratio_q10,
		.others_min_ratio_q10 = bounds->others_min_ratio_q10,
		.max_ratio_q10 = bounds->max_ratio_q10,
		.max_bytes = bounds->max_bytes,
	};

	if (control->held_bps)
		view.max_bytes = limits_least(view.max_bytes, headroom_bytes(control));
	return limits_device_bytes(&view);
}

/* Under a ceiling of the rate no more is left dirty than the drain target's worth of that. */
uint64_t control_background_bytes(uint64_t limit_bytes, const struct bounds *bounds)
{
	if (bounds->rate_bps)
		limit_bytes = min_u64(limit_bytes,
				      ns_to_bytes(bounds->drain_ns, bounds->rate_bps));
	return mul_div(limit_bytes, bounds->background_pm, 1000);
}

/* The ceilings of the limit are ceilings of limit and credit together. */
static uint64_t burst_most_bytes(const struct control *control,
				 const struct bounds *bounds, uint64_t limit_bytes)
{
	const uint64_t ceilings[] = { bounds->ceiling_bytes, bounds->kernel_bytes,
				      bounds->max_bytes };
	uint64_t bytes = bounds->burst_bytes;

	if (!control->bandwidth.avg_bps || bounds->rate_bps)
		return 0;
	if (bounds->pressure_q10 && bounds->pressure_q10 < WP_Q10)
		bytes = mul_div(bytes, bounds->pressure_q10, WP_Q10);
	for (size_t i = 0; i < sizeof(ceilings) / sizeof(ceilings[0]); i++) {
		if (ceilings[i])
			bytes = min_u64(bytes, sub_u64(ceilings[i], limit_bytes));
	}
	return bytes;
}

struct burst_view control_burst_view(const struct control *control,
				     const struct bounds *bounds,
				     uint64_t outstanding_bytes)
{
	uint64_t limit_bytes = control_limit_bytes(control, bounds);

	return (struct burst_view){
		.most_bytes = burst_most_bytes(control, bounds, limit_bytes),
		.limit_bytes = limit_bytes,
		.background_bytes = control_background_bytes(limit_bytes, bounds),
		.outstanding_bytes = outstanding_bytes,
	};
}

uint64_t control_credit_bytes(const struct control *control, const struct bounds *bounds,
			      uint64_t outstanding_bytes)
{
	struct burst_view view;

	if (!bounds->burst_bytes)
		return 0;
	view = control_burst_view(control, bounds, outstanding_bytes);
	return burst_credit_bytes(&control->burst, &view);
}
