/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: a device that writes in requests of a given size at a given speed, and what it will
 * take then.
 */
#include "unit.h"

#include "base/fixed.h"
#include "ctl/progress.h"

#define STEP_NS WP_MS(200)
#define SPEED_BPS WP_MIB(10)

struct device {
	uint64_t total_bytes;
	uint64_t request_bytes;
	uint64_t exact_bytes; /* what a device without requests had written */
	uint64_t now_ns;
};

static uint64_t written(const struct device *device)
{
	return device->exact_bytes / device->request_bytes * device->request_bytes;
}

static void step(struct device *device, struct progress *progress, uint64_t speed_bps)
{
	device->now_ns += STEP_NS;
	device->exact_bytes =
		min_u64(device->total_bytes, device->exact_bytes + speed_bps / 5);
	progress_look(progress, device->total_bytes - written(device), written(device),
		      device->now_ns);
}

/* The time foretold is off by at most a tenth and @slack_ns. */
static void assert_foretold(const struct device *device, const struct progress *progress,
			    uint64_t speed_bps, uint64_t slack_ns)
{
	uint64_t true_ns =
		bytes_to_ns(device->total_bytes - device->exact_bytes, speed_bps);
	uint64_t said_ns = progress_wait_ns(progress);

	assert_in_range(said_ns, sub_u64(true_ns - true_ns / 10, slack_ns),
			true_ns + true_ns / 10 + slack_ns);
}

static void foretells_whatever_the_size_of_requests(void **state)
{
	static const uint64_t sizes[] = { WP_KIB(64), WP_MIB(1), WP_MIB(8) };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct device device = { .total_bytes = WP_MIB(400),
					 .request_bytes = sizes[i] };
		struct progress progress = { 0 };

		progress_look(&progress, device.total_bytes, 0, 0);
		for (int steps = 0; steps < 190; steps++) {
			step(&device, &progress, SPEED_BPS);
			if (steps > 20)
				assert_foretold(&device, &progress, SPEED_BPS,
						2 * STEP_NS);
		}
	}
}

static void follows_a_device_that_becomes_slow(void **state)
{
	struct device device = { .total_bytes = WP_MIB(400),
				 .request_bytes = WP_KIB(64) };
	struct progress progress = { 0 };

	(void)state;
	progress_look(&progress, device.total_bytes, 0, 0);
	for (int steps = 0; steps < 100; steps++)
		step(&device, &progress, SPEED_BPS);
	for (int steps = 0; steps < 30; steps++)
		step(&device, &progress, SPEED_BPS / 5);
	assert_foretold(&device, &progress, SPEED_BPS / 5, 2 * STEP_NS);
}

static void says_no_rate_before_there_is_one(void **state)
{
	struct progress progress = { 0 };

	(void)state;
	progress_look(&progress, WP_MIB(50), 0, 0);
	progress_look(&progress, WP_MIB(50), 4096, WP_MS(800)); /* a journal's block */
	assert_int_equal(progress.rate_bps, 0);
	progress_look(&progress, WP_MIB(42), WP_MIB(8), WP_MS(900));
	assert_true(progress.rate_bps > 0);
}

static void never_goes_back(void **state)
{
	struct progress progress = { 0 };

	(void)state;
	progress_look(&progress, 1000, 0, 0);
	progress_look(&progress, 500, 500, 1);
	assert_int_equal(progress.done_pm, 500);
	progress_look(&progress, 4000, 600, 2); /* somebody else's */
	assert_int_equal(progress.done_pm, 500);
	progress_look(&progress, 0, 4600, 3);
	assert_int_equal(progress.done_pm, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foretells_whatever_the_size_of_requests),
		cmocka_unit_test(follows_a_device_that_becomes_slow),
		cmocka_unit_test(says_no_rate_before_there_is_one),
		cmocka_unit_test(never_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
