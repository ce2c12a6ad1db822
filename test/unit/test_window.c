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
		.edge = busy && model->slice_ns && !(model->now_ns % model->slice_ns),
	};
	if (sample.edge) {
		sample.now_ns -= TICK_NS;
		sample.written_bytes -= completed(model);
	}
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
		.depth = 4,
		.kept_bytes = bytes,
		.kept_depth = 4,
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
		/* 50 ms and no edge for each doubling, two that did not pay, one to begin */
		assert_true(model.now_ns <= WP_SEC(1000) + WP_MS(50) * 9);
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

/* @span_ns into the epoch, in which @written_bytes have completed. */
static bool step(struct window *window, uint64_t span_ns, uint64_t written_bytes,
		 bool edge)
{
	struct window_sample sample = {
		.now_ns = window->epoch_ns + span_ns,
		.written_bytes = window->epoch_written_bytes + written_bytes,
		.cap_bytes = NO_CAP,
		.busy = true,
		.edge = edge,
	};

	return window_step(window, &sample);
}

/* One epoch. */
static bool epoch(struct window *window, uint64_t span_ns, uint64_t written_bytes)
{
	return step(window, span_ns, written_bytes, true);
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

	/* 40 MB/s are no more than before; a quarter more does not pay either */
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

TEST(start_waits_for_eight_units_but_not_for_ever)
{
	struct window window = {
		.phase = WINDOW_START,
		.bytes = WP_KIB(64),
		.kept_bytes = WP_KIB(64),
		.epoch_ns = WP_SEC(1),
	};
	struct window other = window;

	step(&window, WP_MS(60), WP_KIB(64) * 7, true);
	assert_int_equal(window.bytes, WP_KIB(64));
	step(&window, WP_MS(60), WP_KIB(64) * 8, true);
	assert_int_equal(window.bytes, WP_KIB(128));
	step(&other, WP_MS(199), WP_KIB(64), true);
	assert_int_equal(other.bytes, WP_KIB(64));
	step(&other, WP_MS(200), WP_KIB(64), true);
	assert_int_equal(other.bytes, WP_KIB(128));
}

TEST(epoch_ends_at_an_edge_or_a_while_later)
{
	struct window window = holding(10000000, WP_KIB(256)).window;
	struct window other;

	window.epoch_ns = WP_SEC(1);
	window.tries = 1;
	other = window;
	step(&window, WP_MS(500), 5000000, false);
	assert_int_equal(window.phase, WINDOW_HOLD);
	step(&window, WP_MS(649), 6490000, false);
	assert_int_equal(window.phase, WINDOW_HOLD);
	step(&window, WP_MS(650), 6500000, false);
	assert_int_equal(window.phase, WINDOW_UP);
	step(&other, WP_MS(500), 5000000, true);
	assert_int_equal(other.phase, WINDOW_UP);
}

TEST(up_pays_from_3_percent_on)
{
	struct window window = {
		.phase = WINDOW_UP,
		.bytes = WP_KIB(128),
		.depth = 2,
		.kept_bytes = WP_KIB(64),
		.kept_depth = 1,
		.kept_bps = 1000000,
		.hold_ns = WINDOW_HOLD_MIN_NS,
		.epoch_ns = WP_SEC(1),
	};
	struct window other = window;

	assert_false(epoch(&window, WP_MS(500), 515000));
	assert_int_equal(window.kept_bytes, WP_KIB(64));
	assert_int_equal(window.kept_depth, 1);
	assert_true(epoch(&other, WP_MS(500), 515001));
	assert_int_equal(other.kept_bytes, WP_KIB(128));
	assert_int_equal(other.kept_depth, 2);
	assert_int_equal(other.kept_bps, 1030002);
}

/* What UP tries from there. */
static struct window up_from(uint64_t bytes, uint64_t depth, bool longer)
{
	struct window window = {
		.phase = WINDOW_HOLD,
		.bytes = bytes,
		.depth = depth,
		.kept_bytes = bytes,
		.kept_depth = depth,
		.longer = longer,
		.tries = 1,
		.hold_ns = WINDOW_HOLD_MIN_NS,
		.epoch_ns = WP_SEC(1),
	};

	epoch(&window, WP_MS(500), 500000);
	assert_int_equal(window.phase, WINDOW_UP);
	return window;
}

TEST(up_tries_deeper_and_longer_in_turns)
{
	static const struct {
		uint64_t bytes;
		uint64_t depth;
		bool longer;
		uint64_t up_bytes;
		uint64_t up_unit_bytes;
	} cases[] = {
		/* one unit: two of them, or one of twice the length */
		{ WP_KIB(128), 1, false, WP_KIB(256), WP_KIB(128) },
		{ WP_KIB(128), 1, true, WP_KIB(256), WP_KIB(256) },
		/* two: four of them, or one of the same bytes */
		{ WP_KIB(256), 2, false, WP_KIB(512), WP_KIB(128) },
		{ WP_KIB(256), 2, true, WP_KIB(256), WP_KIB(256) },
		/* four: there is no deeper */
		{ WP_MIB(1), 4, false, WP_MIB(2), WP_KIB(512) },
		/* four that would be shorter than the shortest unit are one */
		{ WP_KIB(64), 4, false, WP_KIB(128), WP_KIB(64) },
		{ WP_KIB(64), 4, true, WP_KIB(128), WP_KIB(128) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct window window =
			up_from(cases[i].bytes, cases[i].depth, cases[i].longer);
		bool longer = window.longer;

		assert_int_equal(window_bytes(&window), cases[i].up_bytes);
		assert_int_equal(window_unit_bytes(&window), cases[i].up_unit_bytes);
		epoch(&window, WP_MS(500), 500000);
		assert_int_equal(window.longer, !longer);
	}
}

TEST(hold_that_sees_a_16th_more_ends)
{
	struct window window = holding(1000000, WP_KIB(64)).window;
	struct window other;

	window.hold_ns = WINDOW_HOLD_MAX_NS;
	epoch(&window, WP_SEC(1), 1000000);
	other = window;
	epoch(&window, WP_SEC(1), 1060000);
	assert_int_equal(window.phase, WINDOW_HOLD);
	epoch(&other, WP_SEC(1), 1063000);
	assert_int_equal(other.phase, WINDOW_UP);
	assert_int_equal(other.hold_ns, WINDOW_HOLD_MIN_NS);
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

/* Units a quarter quicker bring no more than that: how much there is only START can tell. */
TEST(up_that_brings_a_sixth_starts_anew)
{
	struct window window = {
		.phase = WINDOW_UP,
		.bytes = WP_KIB(128),
		.depth = 2,
		.kept_bytes = WP_KIB(64),
		.kept_bps = 6000000,
		.epoch_ns = WP_SEC(1),
	};
	struct window other = window;

	epoch(&window, WP_SEC(1), 7000000);
	assert_int_equal(window.phase, WINDOW_HOLD);
	epoch(&other, WP_SEC(1), 7000001);
	assert_int_equal(other.phase, WINDOW_START);
	assert_int_equal(other.bytes, WP_KIB(256));
	assert_int_equal(other.kept_bytes, WP_KIB(128));
	assert_int_equal(other.kept_bps, 7000001);
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
	assert_int_equal(model.window.hold_ns, WP_SEC(2));
	run_to_phase(&model, WINDOW_UP);
	/* two epochs of a second, none at an edge */
	assert_int_equal(model.now_ns - began_ns, WP_MS(2300));
	run(&model, WP_SEC(240));
	assert_int_equal(model.window.hold_ns, WP_SEC(32));
	assert_int_equal(model.paid, 0);
}

TEST(down_comes_only_after_long_holds_and_stays_where_nothing_is_lost)
{
	struct model model = holding(10000000, WP_KIB(256));
	uint64_t began_ns = model.now_ns;

	/* holds of 1, 2 and 4 s, an UP of half a second after each */
	run_to_phase(&model, WINDOW_HOLD_AGAIN);
	assert_int_equal(model.window.bytes, WP_KIB(256));
	assert_true(model.now_ns - began_ns >= WP_MS(1000 + 2000 + 4000 + 3 * 500));
	run_to_phase(&model, WINDOW_DOWN);
	assert_int_equal(model.window.bytes, WP_KIB(128));
	run_to_phase(&model, WINDOW_HOLD);
	/* half, and half of that, which is all that this device needs */
	assert_int_equal(model.window.kept_bytes, WP_KIB(64));
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

	run(&model, WP_MS(640));
	tick(&model, false);
	run(&model, WP_MS(1295));
	assert_int_equal(model.window.phase, WINDOW_HOLD);
	run(&model, WP_MS(5));
	assert_int_equal(model.window.phase, WINDOW_UP);
	/* the rate is that of the new epoch alone */
	assert_near(model.window.kept_bps, 200000000, 200000);
}

TEST(unit_is_the_window_by_its_depth_within_bounds)
{
	static const struct {
		uint64_t bytes;
		uint64_t depth;
		uint64_t unit_bytes;
	} cases[] = {
		{ WP_MIB(1), 4, WP_KIB(256) },  { WP_MIB(1), 1, WP_MIB(1) },
		{ WP_KIB(128), 4, WP_KIB(64) }, { 0, 0, WP_KIB(64) },
		{ WP_MIB(1), 0, WP_MIB(1) },    { WP_MIB(1), UINT64_MAX, WP_KIB(256) },
		{ UINT64_MAX, 1, WP_MIB(64) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct window window = {
			.bytes = cases[i].bytes,
			.depth = cases[i].depth,
			.kept_bytes = cases[i].bytes,
			.kept_depth = cases[i].depth,
		};

		assert_int_equal(window_unit_bytes(&window), cases[i].unit_bytes);
		assert_int_equal(window_kept_unit_bytes(&window), cases[i].unit_bytes);
	}
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
		cmocka_unit_test(start_waits_for_eight_units_but_not_for_ever),
		cmocka_unit_test(epoch_ends_at_an_edge_or_a_while_later),
		cmocka_unit_test(up_pays_from_3_percent_on),
		cmocka_unit_test(up_tries_deeper_and_longer_in_turns),
		cmocka_unit_test(hold_that_sees_a_16th_more_ends),
		cmocka_unit_test(up_that_pays_stays),
		cmocka_unit_test(up_that_brings_a_sixth_starts_anew),
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
		cmocka_unit_test(unit_is_the_window_by_its_depth_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
