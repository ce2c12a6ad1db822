/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: two models of a device whose smallest sufficient window is known: one that needs
 * depth (rate = window / latency up to its bandwidth) and one that needs none but delivers in
 * slices (all of a 100 ms slice at once, then nothing). The phases as core/window.h tells them.
 */
#include "unit.h"

#include "base/fixed.h"
#include "core/window.h"

#define TICK_NS WP_MS(5)
#define NO_CAP UINT64_MAX

struct model {
	uint64_t bandwidth_bps;
	uint64_t latency_ns; /* 0 = none */
	uint64_t slice_ns;   /* 0 = even */
	uint64_t cap_bytes;
	struct window window;
	uint64_t now_ns;
	uint64_t written_bytes;
	unsigned paid;
};

/* What the device completes in a tick with the window it has now. */
static uint64_t completed(const struct model *model)
{
	uint64_t rate_bps = model->bandwidth_bps;

	if (model->slice_ns && model->now_ns % model->slice_ns)
		return 0;
	if (model->slice_ns)
		return ns_to_bytes(model->slice_ns, rate_bps);
	if (model->latency_ns)
		rate_bps = min_u64(rate_bps,
				   rate_of(model->window.bytes, model->latency_ns));
	return ns_to_bytes(TICK_NS, rate_bps);
}

static void tick(struct model *model, bool busy)
{
	struct window_sample sample;

	model->now_ns += TICK_NS;
	if (busy)
		model->written_bytes += completed(model);
	sample = (struct window_sample){
		.now_ns = model->now_ns,
		.written_bytes = model->written_bytes,
		.cap_bytes = model->cap_bytes,
		.busy = busy,
	};
	if (window_step(&model->window, &sample))
		model->paid++;
}

static void run(struct model *model, uint64_t span_ns)
{
	for (uint64_t i = 0; i < span_ns / TICK_NS; i++)
		tick(model, true);
}

static void run_to_phase(struct model *model, enum window_phase phase)
{
	for (int i = 0; i < 10000 && model->window.phase != phase; i++)
		tick(model, true);
	assert_int_equal(model->window.phase, phase);
}

static struct model latency_bound(uint64_t bandwidth_bps)
{
	return (struct model){
		.bandwidth_bps = bandwidth_bps,
		.latency_ns = WP_MS(1),
		.cap_bytes = NO_CAP,
		.now_ns = WP_SEC(1000),
	};
}

/* A model that holds @bytes and has the rate that goes with them. */
static struct model holding(uint64_t bandwidth_bps, uint64_t bytes)
{
	struct model model = latency_bound(bandwidth_bps);

	model.window = (struct window){
		.phase = WINDOW_HOLD,
		.bytes = bytes,
		.kept_bytes = bytes,
		.kept_bps = min_u64(bandwidth_bps, rate_of(bytes, WP_MS(1))),
		.hold_ns = WINDOW_HOLD_MIN_NS,
		.epoch_ns = model.now_ns,
	};
	return model;
}

TEST(first_step_is_one_unit)
{
	struct model model = latency_bound(1000000);

	tick(&model, true);
	assert_int_equal(model.window.bytes, WP_KIB(64));
	assert_int_equal(model.window.kept_bytes, WP_KIB(64));
	assert_int_equal(model.window.phase, WINDOW_START);
}

TEST(start_finds_the_smallest_window_that_fills_a_device_that_needs_depth)
{
	static const struct {
		uint64_t bandwidth_bps;
		uint64_t bytes;
	} devices[] = {
		{ 10000000, WP_KIB(64) },   { 60000000, WP_KIB(64) },
		{ 120000000, WP_KIB(128) }, { 200000000, WP_KIB(256) },
		{ 500000000, WP_KIB(512) }, { 1000000000, WP_MIB(1) },
		{ 2000000000, WP_MIB(2) },
	};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct model model = latency_bound(devices[i].bandwidth_bps);

		run_to_phase(&model, WINDOW_HOLD);
		assert_int_equal(model.window.bytes, devices[i].bytes);
		assert_int_equal(model.window.kept_bytes, devices[i].bytes);
		/* one epoch of 25 ms for each doubling, two that did not pay, one to begin */
		assert_true(model.now_ns <= WP_SEC(1000) + WP_MS(25) * 9);
	}
}

TEST(start_is_not_fooled_by_slices)
{
	for (uint64_t offset_ns = 0; offset_ns < WP_MS(100); offset_ns += TICK_NS) {
		struct model model = latency_bound(10485760);

		model.slice_ns = WP_MS(100);
		model.now_ns += offset_ns;
		run_to_phase(&model, WINDOW_HOLD);
		assert_int_equal(model.window.kept_bytes, WP_KIB(64));
	}
}

TEST(slices_do_not_make_it_grow_later)
{
	for (uint64_t offset_ns = 0; offset_ns < WP_MS(100); offset_ns += TICK_NS) {
		struct model model = latency_bound(10485760);

		model.slice_ns = WP_MS(100);
		model.now_ns += offset_ns;
		run(&model, WP_SEC(60));
		assert_int_equal(model.window.kept_bytes, WP_KIB(64));
		assert_int_equal(model.paid, 0);
	}
}

/* One epoch of @span_ns in which @written_bytes complete. */
static bool epoch(struct window *window, uint64_t span_ns, uint64_t written_bytes)
{
	struct window_sample sample = {
		.now_ns = window->epoch_ns + span_ns,
		.written_bytes = window->epoch_written_bytes + written_bytes,
		.cap_bytes = NO_CAP,
		.busy = true,
	};

	return window_step(window, &sample);
}

TEST(start_gives_a_size_a_second_try)
{
	struct window window = {
		.phase = WINDOW_START,
		.bytes = WP_KIB(128),
		.kept_bytes = WP_KIB(64),
		.kept_bps = 40000000,
		.epoch_ns = WP_SEC(1),
	};

	/* a million in 25 ms are 40 MB/s: no more than before; a quarter more does not pay either */
	epoch(&window, WP_MS(25), 1250000);
	assert_int_equal(window.phase, WINDOW_START);
	assert_int_equal(window.bytes, WP_KIB(128));
	epoch(&window, WP_MS(25), 1250001);
	assert_int_equal(window.phase, WINDOW_START);
	assert_int_equal(window.bytes, WP_KIB(256));
	assert_int_equal(window.kept_bytes, WP_KIB(128));
	epoch(&window, WP_MS(25), 1000000);
	assert_int_equal(window.phase, WINDOW_START);
	epoch(&window, WP_MS(25), 1000000);
	assert_int_equal(window.phase, WINDOW_HOLD);
	assert_int_equal(window.bytes, WP_KIB(128));
}

TEST(up_pays_from_15_percent_on)
{
	struct window window = {
		.phase = WINDOW_UP,
		.bytes = WP_KIB(128),
		.kept_bytes = WP_KIB(64),
		.kept_bps = 1000000,
		.hold_ns = WINDOW_HOLD_MIN_NS,
		.epoch_ns = WP_SEC(1),
	};
	struct window other = window;

	assert_false(epoch(&window, WP_MS(300), 345000));
	assert_int_equal(window.kept_bytes, WP_KIB(64));
	assert_true(epoch(&other, WP_MS(300), 345001));
	assert_int_equal(other.kept_bytes, WP_KIB(128));
	assert_int_equal(other.kept_bps, 1150003);
}

TEST(up_that_pays_stays)
{
	/* 65 MB/s at 64 KiB, 80 at 128: too little for START, enough for UP */
	struct model model = latency_bound(80000000);

	run_to_phase(&model, WINDOW_HOLD);
	assert_int_equal(model.window.kept_bytes, WP_KIB(64));
	run_to_phase(&model, WINDOW_UP);
	assert_int_equal(model.window.bytes, WP_KIB(128));
	assert_int_equal(model.window.kept_bytes, WP_KIB(64));
	run_to_phase(&model, WINDOW_HOLD);
	assert_int_equal(model.window.bytes, WP_KIB(128));
	assert_int_equal(model.paid, 1);
	assert_near(model.window.kept_bps, 80000000, 800000);
}

TEST(up_that_does_not_pay_goes_back_and_waits_twice_as_long)
{
	struct model model = holding(10000000, WP_KIB(256));
	uint64_t began_ns;

	run_to_phase(&model, WINDOW_UP);
	assert_int_equal(model.window.bytes, WP_KIB(512));
	run_to_phase(&model, WINDOW_HOLD);
	began_ns = model.now_ns;
	assert_int_equal(model.window.bytes, WP_KIB(256));
	assert_int_equal(model.window.hold_ns, WP_MS(600));
	run_to_phase(&model, WINDOW_UP);
	assert_int_equal(model.now_ns - began_ns, WP_MS(600));
	run(&model, WP_SEC(240));
	assert_int_equal(model.window.hold_ns, WP_SEC(32));
	assert_int_equal(model.paid, 0);
}

TEST(down_comes_only_after_long_holds_and_stays_where_nothing_is_lost)
{
	struct model model = holding(10000000, WP_KIB(256));
	uint64_t began_ns = model.now_ns;

	/* holds of 0.3, 0.6, 1.2 and 2.4 s, an UP of 0.3 after each */
	run_to_phase(&model, WINDOW_HOLD_AGAIN);
	assert_int_equal(model.window.bytes, WP_KIB(256));
	assert_true(model.now_ns - began_ns >= WP_MS(300 + 600 + 1200 + 3 * 300));
	run_to_phase(&model, WINDOW_DOWN);
	assert_int_equal(model.window.bytes, WP_KIB(128));
	run_to_phase(&model, WINDOW_HOLD);
	assert_int_equal(model.window.kept_bytes, WP_KIB(128));
}

TEST(down_that_loses_goes_back)
{
	struct model model = holding(200000000, WP_KIB(256));

	run_to_phase(&model, WINDOW_DOWN);
	run_to_phase(&model, WINDOW_HOLD);
	assert_int_equal(model.window.bytes, WP_KIB(256));
	assert_int_equal(model.window.kept_bytes, WP_KIB(256));
}

TEST(a_percent_is_what_down_may_lose)
{
	struct window window = {
		.phase = WINDOW_DOWN,
		.bytes = WP_KIB(128),
		.kept_bytes = WP_KIB(256),
		.kept_bps = 1000000,
		.epoch_ns = WP_SEC(1),
	};
	struct window other = window;

	epoch(&window, WP_SEC(1), 989999);
	assert_int_equal(window.kept_bytes, WP_KIB(256));
	epoch(&other, WP_SEC(1), 990000);
	assert_int_equal(other.kept_bytes, WP_KIB(128));
}

TEST(it_shrinks_to_what_a_slower_device_needs)
{
	struct model model = holding(10000000, WP_MIB(4));

	run(&model, WP_SEC(120));
	assert_int_equal(model.window.kept_bytes, WP_KIB(64));
}

TEST(cap_holds_at_once_and_in_every_phase)
{
	struct model model = latency_bound(2000000000);

	model.cap_bytes = WP_KIB(320);
	for (int i = 0; i < 4000; i++) {
		tick(&model, true);
		assert_true(model.window.bytes <= WP_KIB(320));
		assert_true(model.window.bytes >= WP_KIB(64));
	}
	assert_int_equal(model.window.kept_bytes, WP_KIB(320));
	model.cap_bytes = WP_KIB(100);
	tick(&model, true);
	assert_int_equal(model.window.kept_bytes, WP_KIB(100));
	model.cap_bytes = 0;
	tick(&model, true);
	assert_int_equal(model.window.bytes, WP_KIB(64));
	assert_int_equal(model.window.kept_bytes, WP_KIB(64));
}

TEST(no_window_is_above_64_mib)
{
	struct model model = latency_bound(UINT64_C(1) << 40);

	run(&model, WP_SEC(20));
	assert_int_equal(model.window.kept_bytes, WP_MIB(64));
}

TEST(epochs_that_were_not_busy_do_not_count)
{
	struct model model = latency_bound(200000000);

	/* a pause in every epoch: nothing is ever decided */
	for (int i = 0; i < 400; i++)
		tick(&model, i % 4 != 3);
	assert_int_equal(model.window.phase, WINDOW_START);
	assert_int_equal(model.window.bytes, WP_KIB(64));
	assert_int_equal(model.window.kept_bps, 0);
}

TEST(epoch_begins_anew_after_one_that_was_not_busy)
{
	struct model model = holding(200000000, WP_KIB(256));

	run(&model, WP_MS(290));
	tick(&model, false);
	run(&model, WP_MS(295));
	assert_int_equal(model.window.phase, WINDOW_HOLD);
	run(&model, WP_MS(5));
	assert_int_equal(model.window.phase, WINDOW_UP);
	/* the rate is that of the new epoch alone */
	assert_near(model.window.kept_bps, 200000000, 200000);
}

TEST(unit_is_a_quarter_of_the_window)
{
	assert_int_equal(window_unit_bytes(WP_MIB(1)), WP_KIB(256));
	assert_int_equal(window_unit_bytes(WP_KIB(256)), WP_KIB(64));
	assert_int_equal(window_unit_bytes(WP_KIB(64)), WP_KIB(64));
	assert_int_equal(window_unit_bytes(0), WP_KIB(64));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_step_is_one_unit),
		cmocka_unit_test(
			start_finds_the_smallest_window_that_fills_a_device_that_needs_depth),
		cmocka_unit_test(start_is_not_fooled_by_slices),
		cmocka_unit_test(slices_do_not_make_it_grow_later),
		cmocka_unit_test(start_gives_a_size_a_second_try),
		cmocka_unit_test(up_pays_from_15_percent_on),
		cmocka_unit_test(up_that_pays_stays),
		cmocka_unit_test(up_that_does_not_pay_goes_back_and_waits_twice_as_long),
		cmocka_unit_test(
			down_comes_only_after_long_holds_and_stays_where_nothing_is_lost),
		cmocka_unit_test(down_that_loses_goes_back),
		cmocka_unit_test(a_percent_is_what_down_may_lose),
		cmocka_unit_test(it_shrinks_to_what_a_slower_device_needs),
		cmocka_unit_test(cap_holds_at_once_and_in_every_phase),
		cmocka_unit_test(no_window_is_above_64_mib),
		cmocka_unit_test(epochs_that_were_not_busy_do_not_count),
		cmocka_unit_test(epoch_begins_anew_after_one_that_was_not_busy),
		cmocka_unit_test(unit_is_a_quarter_of_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
