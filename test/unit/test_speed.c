/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Oracle: arithmetic on the rate that the samples were made with. */
#include "unit.h"

#include "base/fixed.h"
#include "core/speed.h"

#define TICK_NS WP_MS(10)

struct device {
	struct speed speed;
	uint64_t now_ns;
	uint64_t written_bytes;
};

static struct device fresh(void)
{
	return (struct device){ .now_ns = WP_SEC(1000) };
}

static void tick(struct device *device, uint64_t rate_bps, bool saturated, bool edge)
{
	struct speed_sample sample;

	device->now_ns += TICK_NS;
	device->written_bytes += ns_to_bytes(TICK_NS, rate_bps);
	sample = (struct speed_sample){ .now_ns = device->now_ns,
					.written_bytes = device->written_bytes,
					.saturated = saturated,
					.moving = rate_bps > 0,
					.edge = edge };
	speed_step(&device->speed, &sample);
}

static void run(struct device *device, uint64_t span_ns, uint64_t rate_bps)
{
	for (uint64_t i = 0; i < span_ns / TICK_NS; i++)
		tick(device, rate_bps, true, false);
}

TEST(first_second_does_not_count)
{
	struct device device = fresh();

	/* the burst credit of a device: a fifth more */
	run(&device, WP_MS(1150), 12000000);
	run(&device, WP_MS(2150), 10000000);
	assert_int_equal(device.speed.bps, 0);
	run(&device, WP_MS(10), 10000000);
	assert_int_equal(device.speed.bps, 10000000);
}

TEST(edges_make_it_sooner)
{
	struct device device = fresh();

	for (int i = 0; i < 302; i++)
		tick(&device, 10000000, true, i % 10 == 0);
	assert_int_equal(device.speed.bps, 10000000);
}

TEST(what_is_not_saturated_begins_anew)
{
	struct device device = fresh();

	for (int i = 0; i < 100; i++) {
		run(&device, WP_SEC(3), 10000000);
		tick(&device, 1000, false, false);
	}
	assert_int_equal(device.speed.bps, 0);
}

TEST(later_epochs_are_averaged)
{
	struct device device = fresh();

	run(&device, WP_MS(3310), 10000000);
	assert_int_equal(device.speed.bps, 10000000);
	run(&device, WP_MS(2150), 10400000);
	assert_int_equal(device.speed.bps, 10100000);
}

TEST(pause_does_not_end_an_epoch)
{
	struct device device = fresh();

	run(&device, WP_MS(3300), 10000000);
	run(&device, WP_MS(500), 0);
	assert_int_equal(device.speed.bps, 0);
	tick(&device, 10000000, true, true);
	assert_near(device.speed.bps, 8130000, 50000);
}

TEST(another_speed_stands_at_once)
{
	struct device device = fresh();

	run(&device, WP_MS(3310), 10000000);
	run(&device, WP_MS(2150), 8000000);
	assert_int_equal(device.speed.bps, 8000000);
	run(&device, WP_MS(2150), 16000000);
	assert_int_equal(device.speed.bps, 16000000);
}

TEST(it_can_be_told)
{
	struct device device = fresh();

	run(&device, WP_MS(2000), 10000000);
	speed_set(&device.speed, 5000000);
	assert_int_equal(device.speed.bps, 5000000);
	/* and what was being measured is dropped */
	run(&device, WP_MS(2000), 10000000);
	assert_int_equal(device.speed.bps, 5000000);
	speed_set(&device.speed, 0);
	assert_int_equal(device.speed.bps, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_second_does_not_count),
		cmocka_unit_test(edges_make_it_sooner),
		cmocka_unit_test(what_is_not_saturated_begins_anew),
		cmocka_unit_test(later_epochs_are_averaged),
		cmocka_unit_test(pause_does_not_end_an_epoch),
		cmocka_unit_test(another_speed_stands_at_once),
		cmocka_unit_test(it_can_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
