/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/window.h"

#include "base/fixed.h"

#define START_UNITS 8 /* fewer in an epoch prove nothing */
#define START_MAX_NS WP_MS(200)

static uint64_t epoch_length_ns(const struct window *window)
{
	switch (window->phase) {
	case WINDOW_START:
		return WP_MS(25);
	case WINDOW_HOLD:
		/* Why two at least: the first one may begin in the midst of a slice */
		return min_u64(window->hold_ns / 2, WP_SEC(1));
	case WINDOW_UP:
		return WP_MS(500);
	default:
		return WP_SEC(1);
	}
}

static void begin(struct window *window, enum window_phase phase, uint64_t bytes,
		  uint64_t depth)
{
	window->phase = phase;
	window->bytes = bytes;
	window->depth = depth;
	window->tries = 0;
}

static void go_back(struct window *window, enum window_phase phase)
{
	begin(window, phase, window->kept_bytes, window->kept_depth);
}

static void keep(struct window *window, uint64_t rate_bps)
{
	window->kept_bytes = window->bytes;
	window->kept_depth = window->depth;
	window->kept_bps = rate_bps;
}

static void start_ended(struct window *window, uint64_t rate_bps)
{
	if (rate_bps > window->kept_bps + window->kept_bps / 4) {
		keep(window, rate_bps);
		begin(window, WINDOW_START, 2 * window->bytes, WINDOW_MAX_DEPTH);
	} else if (++window->tries == 2) {
		window->hold_ns = WINDOW_HOLD_MIN_NS;
		go_back(window, WINDOW_HOLD);
	}
}

static void up_failed(struct window *window)
{
	window->hold_ns = min_u64(2 * window->hold_ns, WINDOW_HOLD_MAX_NS);
	window->longer = !window->longer;
	go_back(window, window->hold_ns > WP_SEC(4) ? WINDOW_HOLD_AGAIN : WINDOW_HOLD);
}

static bool up_ended(struct window *window, uint64_t rate_bps)
{
	if (rate_bps > window->kept_bps + window->kept_bps * 3 / 100) {
		bool lots = rate_bps > window->kept_bps + window->kept_bps / 6;

		keep(window, rate_bps);
		window->hold_ns = WINDOW_HOLD_MIN_NS;
		if (lots)
			begin(window, WINDOW_START, 2 * window->bytes, WINDOW_MAX_DEPTH);
		else
			begin(window, WINDOW_HOLD, window->bytes, window->depth);
		return true;
	}
	up_failed(window);
	return false;
}

static void go_up(struct window *window)
{
	uint64_t bytes = window->kept_bytes;
	uint64_t depth = max_u64(bytes / window_kept_unit_bytes(window), 1);

	if (!window->longer)
		begin(window, WINDOW_UP, 2 * bytes, min_u64(2 * depth, WINDOW_MAX_DEPTH));
	else if (depth > 1)
		begin(window, WINDOW_UP, bytes, depth / 2);
	else
		begin(window, WINDOW_UP, 2 * bytes, depth);
}

static void hold_ended(struct window *window, uint64_t rate_bps)
{
	bool faster = window->tries && rate_bps / 17 > window->kept_bps / 16;

	if (!window->tries)
		window->kept_bps = rate_bps;
	if (!faster && ++window->tries * epoch_length_ns(window) < window->hold_ns)
		return;
	if (faster)
		window->hold_ns = WINDOW_HOLD_MIN_NS;
	window->kept_bps = rate_bps;
	go_up(window);
}

static void down_ended(struct window *window, uint64_t rate_bps)
{
	if (rate_bps < window->kept_bps - window->kept_bps / 100) {
		go_back(window, WINDOW_HOLD);
		return;
	}
	keep(window, window->kept_bps);
	go_back(window,
		window->bytes > WINDOW_MIN_BYTES ? WINDOW_HOLD_AGAIN : WINDOW_HOLD);
}

static bool epoch_ended(struct window *window, uint64_t rate_bps)
{
	switch (window->phase) {
	case WINDOW_START:
		start_ended(window, rate_bps);
		return false;
	case WINDOW_HOLD:
		hold_ended(window, rate_bps);
		return false;
	case WINDOW_UP:
		return up_ended(window, rate_bps);
	case WINDOW_HOLD_AGAIN:
		window->kept_bps = rate_bps;
		begin(window, WINDOW_DOWN, window->kept_bytes / 2,
		      window->kept_depth / 2);
		return false;
	default:
		down_ended(window, rate_bps);
		return false;
	}
}

static bool epoch_is_over(const struct window *window, uint64_t elapsed_ns,
			  uint64_t written_bytes, bool edge)
{
	uint64_t length_ns = epoch_length_ns(window);

	if (window->phase == WINDOW_DOWN && elapsed_ns >= WINDOW_GIVE_UP_NS &&
	    rate_of(written_bytes, elapsed_ns) < window->kept_bps - window->kept_bps / 10)
		return true;
	if (window->phase == WINDOW_START &&
	    written_bytes < START_UNITS * window_unit_bytes(window) &&
	    elapsed_ns < START_MAX_NS)
		return false;
	if (!edge)
		length_ns += min_u64(length_ns, EDGE_PATIENCE_NS);
	return elapsed_ns >= length_ns;
}

bool window_step(struct window *window, const struct window_sample *sample)
{
	uint64_t cap_bytes =
		clamp_u64(sample->cap_bytes, WINDOW_MIN_BYTES, WINDOW_MAX_BYTES);
	uint64_t elapsed_ns = sub_u64(sample->now_ns, window->epoch_ns);
	uint64_t written_bytes =
		sub_u64(sample->written_bytes, window->epoch_written_bytes);
	bool anew = !window->epoch_ns;
	bool paid = false;

	if (!window->bytes) {
		window->kept_bytes = WINDOW_MIN_BYTES;
		window->kept_depth = WINDOW_MAX_DEPTH;
		begin(window, WINDOW_START, WINDOW_MIN_BYTES, WINDOW_MAX_DEPTH);
	}
	if (anew || !sample->busy ||
	    epoch_is_over(window, elapsed_ns, written_bytes, sample->edge)) {
		if (!anew && sample->busy)
			paid = epoch_ended(window, rate_of(written_bytes, elapsed_ns));
		window->epoch_ns = sample->now_ns;
		window->epoch_written_bytes = sample->written_bytes;
	}
	window->bytes = clamp_u64(window->bytes, WINDOW_MIN_BYTES, cap_bytes);
	window->kept_bytes = clamp_u64(window->kept_bytes, WINDOW_MIN_BYTES, cap_bytes);
	window->depth = clamp_u64(window->depth, 1, WINDOW_MAX_DEPTH);
	window->kept_depth = clamp_u64(window->kept_depth, 1, WINDOW_MAX_DEPTH);
	return paid;
}

void window_hold_anew(struct window *window)
{
	if (window->phase == WINDOW_START)
		return;
	window->hold_ns = WINDOW_HOLD_MIN_NS;
	window->epoch_ns = 0; /* the next sample begins it */
	go_back(window, WINDOW_HOLD);
}

static uint64_t unit_bytes(uint64_t bytes, uint64_t depth)
{
	bytes = min_u64(bytes, WINDOW_MAX_BYTES);
	return max_u64(bytes / clamp_u64(depth, 1, WINDOW_MAX_DEPTH), WINDOW_MIN_BYTES);
}

uint64_t window_bytes(const struct window *window)
{
	return clamp_u64(window->bytes, WINDOW_MIN_BYTES, WINDOW_MAX_BYTES);
}

uint64_t window_unit_bytes(const struct window *window)
{
	return unit_bytes(window->bytes, window->depth);
}

uint64_t window_kept_bytes(const struct window *window)
{
	return clamp_u64(window->kept_bytes, WINDOW_MIN_BYTES, WINDOW_MAX_BYTES);
}

uint64_t window_kept_unit_bytes(const struct window *window)
{
	return unit_bytes(window->kept_bytes, window->kept_depth);
}
