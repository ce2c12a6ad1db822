/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracle: arithmetic on the rate that a device of our own takes of what it is given. */
#include "unit.h"

#include "base/fixed.h"
#include "core/probe.h"

#define TICK_NS WP_MS(10)
#define SPEED_BPS 10000000u

struct device {
	struct probe probe;
	uint64_t now_ns;
	uint64_t written_bytes;
	uint64_t held_bps;
	uint64_t most_bps;    /* what it can take */
	uint64_t store_bytes; /* beyond that, once */
	uint64_t given_more_ns;
};

static struct device fresh(uint64_t most_bps)
{
	return (struct device){ .now_ns = WP_SEC(1000),
				.held_bps = SPEED_BPS,
				.most_bps = most_bps };
}

static uint64_t tick(struct device *device)
{
	uint64_t given_bps = probe_given_bps(&device->probe, device->held_bps);
	uint64_t given_bytes = ns_to_bytes(TICK_NS, given_bps);
	uint64_t taken_bytes =
		min_u64(given_bytes, ns_to_bytes(TICK_NS, device->most_bps));
	uint64_t stored_bytes = min_u64(given_bytes - taken_bytes, device->store_bytes);
	struct probe_sample sample;

	if (given_bps > device->held_bps)
		device->given_more_ns += TICK_NS;
	device->store_bytes -= stored_bytes;
	device->now_ns += TICK_NS;
	device->written_bytes += taken_bytes + stored_bytes;
	sample = (struct probe_sample){ .now_ns = device->now_ns,
					.written_bytes = device->written_bytes,
					.held_bps = device->held_bps,
					.unit_bytes = WP_KIB(64) };
	return probe_step(&device->probe, &sample);
}

/* The last rate shown within @span_ns, held to from then on. */
static uint64_t run(struct device *device, uint64_t span_ns)
{
	uint64_t shown_bps = 0;

	for (uint64_t i = 0; i < span_ns / TICK_NS; i++) {
		uint64_t rate_bps = tick(device);

		if (rate_bps)
			device->held_bps = shown_bps = rate_bps;
	}
	return shown_bps;
}

TEST(nothing_is_probed_for_two_minutes)
{
	struct device device = fresh(10 * SPEED_BPS);

	assert_int_equal(run(&device, PROBE_WAIT_NS), 0);
	assert_int_equal(device.given_more_ns, 0);
}

TEST(a_device_as_it_was_shows_nothing)
{
	struct device device = fresh(SPEED_BPS);

	assert_int_equal(run(&device, WP_SEC(600)), 0);
	/* half a probe in two minutes */
	assert_in_range(device.given_more_ns, 4 * PROBE_HALF_NS, 6 * PROBE_HALF_NS);
}

TEST(what_it_has_in_store_is_not_its_speed)
{
	struct device device = fresh(SPEED_BPS);

	/* as long as the first half takes it: 0.4 s of a quarter */
	device.store_bytes = SPEED_BPS / 10;
	assert_int_equal(run(&device, PROBE_WAIT_NS + WP_SEC(2)), 0);
	assert_int_equal(device.store_bytes, 0);
}

TEST(ten_times_faster_is_ten_probes)
{
	struct device device = fresh(10 * SPEED_BPS);

	run(&device, PROBE_WAIT_NS + WP_SEC(9));
	assert_in_range(device.held_bps, 9 * SPEED_BPS, 10 * SPEED_BPS);
}

TEST(a_slow_one_is_given_enough_units_to_tell)
{
	struct device device = fresh(262144);

	device.held_bps = 262144;
	run(&device, PROBE_WAIT_NS + WP_SEC(9));
	/* 32 units of 64 KiB are 8 s */
	assert_in_range(device.given_more_ns, WP_MS(7990), WP_MS(8020));
}

TEST(it_ends_where_the_room_ends)
{
	struct device device = fresh(10 * SPEED_BPS);

	run(&device, PROBE_WAIT_NS + WP_MS(100));
	assert_true(device.given_more_ns);
	device.held_bps = 0;
	tick(&device);
	assert_int_equal(device.probe.begin_ns, 0);
	assert_int_equal(probe_given_bps(&device.probe, SPEED_BPS), SPEED_BPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_probed_for_two_minutes),
		cmocka_unit_test(a_device_as_it_was_shows_nothing),
		cmocka_unit_test(what_it_has_in_store_is_not_its_speed),
		cmocka_unit_test(ten_times_faster_is_ten_probes),
		cmocka_unit_test(a_slow_one_is_given_enough_units_to_tell),
		cmocka_unit_test(it_ends_where_the_room_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
