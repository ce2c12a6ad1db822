/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/control.h"

#include "base/fixed.h"
#include "core/position.h"

#define HEADROOM_MAX_PM 500
#define HELD_LEAST 16 /* of the speed, whatever others would take */

static void restamp_bandwidth(struct control *control,
			      const struct control_sample *sample)
{
	control->bandwidth_stamp_ns = sample->now_ns;
	control->bandwidth_written_bytes = sample->written_bytes;
}

static void restamp_base(struct control *control, const struct control_sample *sample)
{
	control->base_stamp_ns = sample->now_ns;
	control->base_dirtied_bytes = sample->dirtied_bytes;
}

static void set_base(struct control *control, uint64_t base_bps)
{
	control->ratelimit.base_bps = base_bps;
	control->ratelimit.balanced_bps = base_bps;
}

static void begin(struct control *control, const struct control_sample *sample)
{
	restamp_bandwidth(control, sample);
	restamp_base(control, sample);
	control->newcomer_stamp_ns = control->begin_ns = sample->now_ns;
	control->newcomer_written_bytes = control->begin_written_bytes =
		sample->written_bytes;
	control->newcomer_bytes = LIMITS_NEWCOMER_BYTES;
	set_base(control, BANDWIDTH_INIT_BPS);
}

/* What the user says of a device that nobody has measured yet. */
static void take_given(struct control *control, const struct bounds *bounds)
{
	if (control->bandwidth.avg_bps || !bounds->bandwidth_bps)
		return;
	bandwidth_raise(&control->bandwidth, bounds->bandwidth_bps);
	control->bandwidth_given = 1;
	set_base(control, bounds->bandwidth_bps);
}

static void newcomer_step(struct control *control, const struct control_sample *sample)
{
	uint64_t written_bytes =
		sub_u64(sample->written_bytes, control->newcomer_written_bytes);
	uint64_t old_bytes = control->newcomer_bytes;

	control->newcomer_bytes = limits_newcomer_bytes(old_bytes, written_bytes);
	if (control->newcomer_bytes == old_bytes &&
	    sample->now_ns - control->newcomer_stamp_ns < LIMITS_NEWCOMER_NS)
		return;
	control->newcomer_stamp_ns = sample->now_ns;
	control->newcomer_written_bytes = sample->written_bytes;
}

/*
 * Why not the first busy time alone: whoever writes more slowly than the device finds it busy for
 * so long when it stands still, for a moment, and has shown before that it can do more.
 */
static void take_first(struct control *control, const struct control_sample *sample)
{
	uint64_t elapsed_ns = sub_u64(sample->now_ns, control->begin_ns);
	uint64_t written_bytes =
		sub_u64(sample->written_bytes, control->begin_written_bytes);

	/* Why so long: less may be what a cache took at once. */
	if (elapsed_ns >= BANDWIDTH_SHOWN_NS)
		bandwidth_raise(&control->bandwidth, rate_of(written_bytes, elapsed_ns));
	/* it takes the base rate along */
	set_base(control, control->bandwidth.avg_bps);
}

/* Only what completed while the device was busy for us tells what it can do. */
static void bandwidth_update(struct control *control, const struct control_sample *sample)
{
	uint64_t elapsed_ns = sub_u64(sample->now_ns, control->bandwidth_stamp_ns);
	uint64_t written_bytes =
		sub_u64(sample->written_bytes, control->bandwidth_written_bytes);
	bool known = control->bandwidth.avg_bps && !control->bandwidth_given;

	if (sample->idle_ns > control->bandwidth_stamp_ns || control->held_bps) {
		restamp_bandwidth(control, sample);
		return;
	}
	/* Why: a device that completes nothing at all is stalled, not slow. */
	if (!written_bytes) {
		control->stalled = elapsed_ns > BANDWIDTH_STALL_NS;
		return;
	}
	if (control->stalled) {
		control->stalled = 0;
		restamp_bandwidth(control, sample);
		return;
	}
	if (elapsed_ns < (known ? BANDWIDTH_INTERVAL_NS : BANDWIDTH_FIRST_NS)) {
		if (!control->bandwidth.avg_bps)
			bandwidth_hint(&control->bandwidth, written_bytes, elapsed_ns);
		return;
	}
	if (!known)
		control->bandwidth = (struct bandwidth){ 0 };
	control->bandwidth_given = 0;
	bandwidth_step(&control->bandwidth, written_bytes, elapsed_ns);
	if (!known)
		take_first(control, sample);
	restamp_bandwidth(control, sample);
}

/* Where the bandwidth jumps, the base rate goes with it: it is a part of it. */
static void scale_base(struct control *control, uint64_t from_bps, uint64_t to_bps)
{
	struct ratelimit *ratelimit = &control->ratelimit;

	ratelimit->base_bps = mul_div(ratelimit->base_bps, to_bps, max_u64(from_bps, 1));
	ratelimit->balanced_bps =
		mul_div(ratelimit->balanced_bps, to_bps, max_u64(from_bps, 1));
}

static void lift(struct control *control, uint64_t rate_bps)
{
	uint64_t known_bps = control->bandwidth.avg_bps;

	if (!known_bps || rate_bps <= known_bps)
		return;
	bandwidth_raise(&control->bandwidth, rate_bps);
	scale_base(control, known_bps, rate_bps);
}

static void set_bandwidth(struct control *control, uint64_t rate_bps)
{
	scale_base(control, control->bandwidth.avg_bps, rate_bps);
	bandwidth_fall(&control->bandwidth, rate_bps);
}

/* Bandwidth, base rate and window of a device that has become slow go with it at once. */
static void fall(struct control *control, uint64_t rate_bps)
{
	set_bandwidth(control, rate_bps);
	if (control->speed.bps)
		speed_set(&control->speed, rate_bps);
	control->window.kept_bps = rate_bps;
	window_hold_anew(&control->window);
}

static void fall_update(struct control *control, const struct window_sample *sample)
{
	struct fall_sample fall_sample = {
		.now_ns = sample->now_ns,
		.written_bytes = sample->written_bytes,
		.known_bps = sample->busy && !control->held_bps ?
				     control->bandwidth.avg_bps :
				     0,
		.edge = sample->edge,
	};
	uint64_t rate_bps = fall_step(&control->fall, &fall_sample);

	if (rate_bps)
		fall(control, rate_bps);
}

static void base_update(struct control *control, const struct control_sample *sample,
			const struct bounds *bounds)
{
	uint64_t elapsed_ns = sub_u64(sample->now_ns, control->base_stamp_ns);
	uint64_t limit_bytes = control_limit_bytes(control, bounds);
	uint64_t background_bytes = control_background_bytes(limit_bytes, bounds);
	struct ratelimit_sample rate = {
		.bandwidth_bps = bandwidth_assumed_bps(&control->bandwidth),
		.pos_q10 = position_strict_q10(limit_bytes, background_bytes,
					       control->wall_bytes,
					       sample->outstanding_bytes),
		.outstanding_bytes = sample->outstanding_bytes,
		.setpoint_bytes = position_setpoint(limit_bytes, background_bytes),
	};

	if (elapsed_ns < BANDWIDTH_INTERVAL_NS)
		return;
	control->wall_bytes = limits_wall_bytes(control->wall_bytes, limit_bytes,
						sample->outstanding_bytes);
	rate.dirty_bps = rate_of(
		sub_u64(sample->dirtied_bytes, control->base_dirtied_bytes), elapsed_ns);
	/* Why the period: after a long silence the dirty rate is an average over nothing. */
	if (elapsed_ns < BANDWIDTH_PERIOD_NS && control->bandwidth.avg_bps)
		ratelimit_step(&control->ratelimit, &rate);
	control->ratelimit.base_bps =
		max_u64(control->ratelimit.base_bps, RATELIMIT_MIN_BPS);
	restamp_base(control, sample);
}

uint64_t control_interval_ns(const struct control *control)
{
	/*
	 * Why not at the start: what the device does with a larger window must show. Nor by a first
	 * impression: who is given one unit in a while shows no more than that.
	 */
	if (control->window.phase == WINDOW_START || !control->bandwidth.avg_bps)
		return 0;
	if (control->held_bps)
		return bytes_to_ns(window_unit_bytes(&control->window),
				   probe_given_bps(&control->probe, control->held_bps));
	return spacing_interval_ns(&control->spacing, control->bandwidth.avg_bps,
				   window_unit_bytes(&control->window),
				   control->window.phase == WINDOW_UP);
}

/* A device that did all it was given faster than it was known to be is looked at afresh. */
static void spread(struct control *control, const struct control_sample *sample)
{
	struct spacing_sample spacing = {
		.now_ns = sample->now_ns,
		.starts = sample->starts,
		.busy_starts = sample->busy_starts,
		.written_bytes = sample->written_bytes,
		.held = control->held_bps,
	};
	uint64_t shown_bps = spacing_step(&control->spacing, &spacing);
	uint64_t known_bps = control->bandwidth.avg_bps;

	lift(control, shown_bps);
	if (known_bps && shown_bps > known_bps + known_bps / 4)
		window_hold_anew(&control->window);
}

/*
 * The end of a burst is a limit that fell from where it was allowed to go: the wall stands there
 * and comes down gently, and what is above the limit drains without stopping anybody.
 */
static void burst_update(struct control *control, const struct control_sample *sample,
			 const struct bounds *bounds)
{
	struct burst_view view =
		control_burst_view(control, bounds, sample->outstanding_bytes);

	uint64_t ceiling_bytes = burst_ceiling_bytes(&control->burst, &view);

	if (ceiling_bytes && sample->outstanding_bytes > view.limit_bytes) {
		control->wall_bytes = max_u64(control->wall_bytes, ceiling_bytes);
		/* Why: what nobody was paced for says nothing of the base rate. */
		restamp_base(control, sample);
	}
	burst_step(&control->burst, &view);
}

/*
 * Where completions begin again after a pause, everything up to then belongs to the step before:
 * that is the moment at which the window's epochs end.
 */
static struct window_sample window_sample(const struct control *control,
					  const struct control_sample *sample,
					  const struct bounds *bounds)
{
	struct window_sample window = {
		.now_ns = sample->now_ns,
		.written_bytes = sample->written_bytes,
		.busy = sample->idle_ns <= control->stamp_ns,
		.edge = !control->moving &&
			sample->written_bytes != control->seen_written_bytes,
		.cap_bytes = ns_to_bytes(
			bounds->latency_ns,
			max_u64(control->bandwidth.avg_bps, control->window.kept_bps)),
	};

	if (window.edge && control->stamp_ns) {
		window.now_ns = control->stamp_ns;
		window.written_bytes = control->seen_written_bytes;
	}
	if (!control->bandwidth.avg_bps)
		window.cap_bytes = max_u64(window.cap_bytes, 2 * control->window.bytes);
	return window;
}

/*
 * What is left to others, once it is known of what. The speed is the device's, whoever writes;
 * what others write is theirs, and the room is free for all.
 */
static uint64_t held_bps(const struct control *control, uint64_t others_bps,
			 const struct bounds *bounds)
{
	uint64_t used_pm = 1000 - min_u64(bounds->headroom_pm, HEADROOM_MAX_PM);
	uint64_t speed_bps = control->speed.bps;

	if (!speed_bps || used_pm == 1000)
		return 0;
	return max_u64(sub_u64(mul_div(speed_bps, used_pm, 1000), others_bps),
		       speed_bps / HELD_LEAST);
}

static void speed_update(struct control *control, const struct window_sample *window,
			 const struct control_sample *sample, const struct bounds *bounds)
{
	uint64_t others_bps = sample->others_bps;
	struct speed_sample speed = {
		.now_ns = window->now_ns,
		.written_bytes = window->written_bytes,
		.others_bps = others_bps,
		.held_bps = control->held_bps,
		.late_ns = sample->late_ns,
		.saturated =
			window->busy && control->bandwidth.avg_bps && !control->stalled,
		.moving = control->moving,
		.edge = window->edge,
	};
	bool held = control->held_bps;

	/* Why: the filters' bandwidth still holds the burst credit of the first second. */
	if (speed_step(&control->speed, &speed))
		set_bandwidth(control, sub_u64(control->speed.bps, others_bps));
	control->held_bps = held_bps(control, others_bps, bounds);
	/* a probe that was under way would go on for good */
	if (control->held_bps && !held)
		window_hold_anew(&control->window);
}

/* Only what it shows when it is given more tells that a device has become faster. */
static void probe_update(struct control *control, const struct control_sample *sample,
			 const struct bounds *bounds)
{
	struct probe_sample probe = {
		.now_ns = sample->now_ns,
		.written_bytes = sample->written_bytes,
		.held_bps = control->held_bps,
		.unit_bytes = window_unit_bytes(&control->window),
	};
	uint64_t rate_bps = probe_step(&control->probe, &probe);

	if (!rate_bps)
		return;
	speed_set(&control->speed, rate_bps + sample->others_bps);
	lift(control, rate_bps);
	control->window.kept_bps = rate_bps;
	control->held_bps = held_bps(control, sample->others_bps, bounds);
}

void control_step(struct control *control, const struct control_sample *sample,
		  const struct bounds *own)
{
	/* Why without the ceiling of the rate: what is stepped is shared with those who have none. */
	struct bounds all = *own;
	const struct bounds *bounds = &all;
	struct window_sample window = window_sample(control, sample, bounds);

	all.rate_bps = 0;
	if (!control->stamp_ns)
		begin(control, sample);
	control->stamp_ns = sample->now_ns;
	control->moving = sample->written_bytes != control->seen_written_bytes;
	control->seen_written_bytes = sample->written_bytes;
	take_given(control, bounds);
	if (!control->bandwidth.avg_bps)
		newcomer_step(control, sample);
	bandwidth_update(control, sample);
	fall_update(control, &window);
	speed_update(control, &window, sample, bounds);
	probe_update(control, sample, bounds);
	burst_update(control, sample, bounds);
	base_update(control, sample, bounds);
	control->wall_bytes =
		max_u64(control->wall_bytes, control_limit_bytes(control, bounds));
	/* Why: what a larger window would bring does not show below the device's speed. */
	window.busy = window.busy && !control->held_bps;
	if (window_step(&control->window, &window))
		lift(control, control->window.kept_bps);
	spread(control, sample);
}
