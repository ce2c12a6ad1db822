/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/window.h"

#include "base/fixed.h"

static uint64_t epoch_length_ns(const struct window *window)
{
	switch (window->phase) {
	case WINDOW_START:
		return WP_MS(25);
	case WINDOW_HOLD:
		return window->hold_ns;
	case WINDOW_UP:
		return WP_MS(300);
	default:
		return WP_SEC(1);
	}
}

static void begin(struct window *window, enum window_phase phase, uint64_t bytes)
{
	window->phase = phase;
	window->bytes = bytes;
}

static void start_ended(struct window *window, uint64_t rate_bps)
{
	if (rate_bps > window->kept_bps + window->kept_bps / 4) {
		window->kept_bps = rate_bps;
		window->kept_bytes = window->bytes;
		window->tries = 0;
		begin(window, WINDOW_START, 2 * window->bytes);
	} else if (++window->tries == 2) {
		window->hold_ns = WINDOW_HOLD_MIN_NS;
		begin(window, WINDOW_HOLD, window->kept_bytes);
	}
}

static void up_failed(struct window *window)
{
	window->hold_ns = min_u64(2 * window->hold_ns, WINDOW_HOLD_MAX_NS);
	begin(window, window->hold_ns > WP_SEC(2) ? WINDOW_HOLD_AGAIN : WINDOW_HOLD,
	      window->kept_bytes);
}

static bool up_ended(struct window *window, uint64_t rate_bps)
{
	if (rate_bps > window->kept_bps + window->kept_bps * 15 / 100) {
		window->kept_bytes = window->bytes;
		window->kept_bps = rate_bps;
		window->hold_ns = WINDOW_HOLD_MIN_NS;
		begin(window, WINDOW_HOLD, window->kept_bytes);
		return true;
	}
	up_failed(window);
	return false;
}

static void hold_ended(struct window *window, uint64_t rate_bps)
{
	window->kept_bps = rate_bps;
	begin(window, WINDOW_UP, 2 * window->kept_bytes);
}

static void down_ended(struct window *window, uint64_t rate_bps)
{
	if (rate_bps >= window->kept_bps - window->kept_bps / 100)
		window->kept_bytes = window->bytes;
	begin(window, WINDOW_HOLD, window->kept_bytes);
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
		begin(window, WINDOW_DOWN, window->kept_bytes / 2);
		return false;
	default:
		down_ended(window, rate_bps);
		return false;
	}
}

static bool epoch_is_over(const struct window *window, uint64_t elapsed_ns,
			  uint64_t written_bytes)
{
	if (window->phase == WINDOW_DOWN && elapsed_ns >= WINDOW_GIVE_UP_NS &&
	    rate_of(written_bytes, elapsed_ns) < window->kept_bps - window->kept_bps / 10)
		return true;
	return elapsed_ns >= epoch_length_ns(window);
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
		begin(window, WINDOW_START, WINDOW_MIN_BYTES);
	}
	if (anew || !sample->busy || epoch_is_over(window, elapsed_ns, written_bytes)) {
		if (!anew && sample->busy)
			paid = epoch_ended(window, rate_of(written_bytes, elapsed_ns));
		window->epoch_ns = sample->now_ns;
		window->epoch_written_bytes = sample->written_bytes;
	}
	window->bytes = clamp_u64(window->bytes, WINDOW_MIN_BYTES, cap_bytes);
	window->kept_bytes = clamp_u64(window->kept_bytes, WINDOW_MIN_BYTES, cap_bytes);
	return paid;
}

void window_hold_anew(struct window *window)
{
	if (window->phase == WINDOW_START)
		return;
	window->hold_ns = WINDOW_HOLD_MIN_NS;
	window->epoch_ns = 0; /* the next sample begins it */
	begin(window, WINDOW_HOLD, window->kept_bytes);
}

uint64_t window_unit_bytes(uint64_t window_bytes)
{
	return max_u64(window_bytes / 4, WINDOW_MIN_BYTES);
}
