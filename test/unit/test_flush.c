/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that can not be asked, and dirt that is scattered. Oracle: flush.h, on a real file: where
 * its dirt is guessed to be and what of it is started, by the words. What that does on a device:
 * test/observer/more.sh, test/lab/scattered.sh.
 */
#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "flush/flush.h"
#include "shm/device.h"
#include "shm/orphan.h"

#define NOW WP_SEC(1000)
#define UNIT WP_KIB(64)

static struct wp_file file;
static struct wp_device device;
static struct flush_file flush;
static const char block[UNIT];

static int open_file(void **state)
{
	char path[] = "/tmp/writepace-test-XXXXXX";

	(void)state;
	file = (struct wp_file){ .key = 1 };
	device = (struct wp_device){ .key = 1 };
	flush = (struct flush_file){
		.fd = mkstemp(path),
		.file = &file,
		.device = &device,
	};
	return flush.fd < 0 ? -1 : unlink(path);
}

static int close_file(void **state)
{
	(void)state;
	return close(flush.fd);
}

static void grow(uint64_t bytes)
{
	device_dirtied(&device, bytes);
	device_orphaned(&device, bytes, NOW);
	flush.size_bytes += bytes;
}

/* Write one unit after the other, and look. Returns what is not started. */
static uint64_t append(unsigned units)
{
	for (unsigned i = 0; i < units; i++)
		assert_int_equal(write(flush.fd, block, UNIT), UNIT);
	grow(units * UNIT);
	return flush_guess(&flush, units * UNIT, NOW);
}

static uint64_t start(uint64_t bytes)
{
	struct flush_pace pace = {
		.unit_bytes = UNIT,
		.forced = true,
		.now_ns = NOW,
	};

	return (uint64_t)flush_start(&flush, bytes, &pace);
}

TEST(what_is_written_in_order_is_started_in_units)
{
	assert_int_equal(append(3), 3 * UNIT);
	assert_true(flush.blind);
	assert_int_equal(flush.end_bytes, 3 * UNIT);
	assert_int_equal(start(UNIT), UNIT);
	assert_int_equal(file.cursor_bytes, UNIT);
	assert_int_equal(device.orphan_started_bytes, UNIT);
	assert_int_equal(append(1), 3 * UNIT);
	assert_int_equal(start(3 * UNIT), 3 * UNIT);
	assert_int_equal(device.orphan_started_bytes, 4 * UNIT);
	assert_int_equal(start(UNIT), 0);
}

TEST(in_the_middle_of_a_file_the_position_tells)
{
	assert_int_equal(ftruncate(flush.fd, 100 * UNIT), 0);
	flush.size_bytes = 100 * UNIT;
	assert_int_equal(lseek(flush.fd, 50 * UNIT, SEEK_SET), 50 * UNIT);
	append(2);
	assert_int_equal(flush.end_bytes, 52 * UNIT);
}

TEST(of_what_jumps_about_all_is_started)
{
	assert_int_equal(ftruncate(flush.fd, 100 * UNIT), 0);
	flush.size_bytes = 100 * UNIT;
	/* the first time it looks like an end that was written */
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pwrite(flush.fd, block, UNIT, (50 - 7 * i) * UNIT),
				 UNIT);
		device_dirtied(&device, UNIT);
		device_orphaned(&device, UNIT, NOW);
		flush_guess(&flush, UNIT, NOW);
	}
	assert_int_equal(flush.end_bytes, 0);
	assert_int_equal(start(2 * UNIT), 2 * UNIT);
	assert_int_equal(file.blind_bytes, 0);
}

TEST(what_the_kernel_wrote_is_not_started_again)
{
	append(1);
	file.cursor_bytes = UINT64_MAX; /* it jumped about before */
	append(3);
	assert_int_equal(file.blind_bytes, 3 * UNIT);
	device_drop_orphans(&device, 3 * UNIT);
	assert_int_equal(flush_guess(&flush, 0, NOW), UNIT);
	device_drop_orphans(&device, UNIT);
	assert_int_equal(flush_guess(&flush, 0, NOW), 0);
}

TEST(a_wrong_guess_is_made_up_for)
{
	append(2);
	start(2 * UNIT);
	assert_int_equal(flush_guess(&flush, 0, NOW + WP_SEC(1)), 0);
	/* they were not what was dirty: the kernel sees nothing in flight */
	device.orphan_started_bytes = 0;
	assert_int_equal(flush_guess(&flush, 0, NOW + WP_SEC(2)), 2 * UNIT);
	assert_int_equal(flush.end_bytes, 0);
	assert_int_equal(start(2 * UNIT), 2 * UNIT);
	device.orphan_started_bytes = 0;
	assert_int_equal(flush_guess(&flush, 0, NOW + WP_SEC(2) + 1), 0);
}

/* Pages a MiB apart: one at a time would leave any device idle. */
TEST(scattered_pages_are_gathered_into_a_unit)
{
	struct file_look look = { .dirtied_bytes = 40 * 4096, .now_ns = NOW };

	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(pwrite(flush.fd, block, 4096, i * WP_MIB(1)), 4096);
	flush.size_bytes = WP_MIB(40);
	if (flush_look(&flush, &look) != 40 * 4096)
		skip(); /* this kernel, or file system, does not tell */
	assert_int_equal(start(40 * 4096), 40 * 4096);
	/* sixteen pages in 16 MiB, twice, and what was left */
	assert_int_equal(device.starts, 3);
	assert_int_equal(file.inflight_bytes, 40 * 4096);
}

/* Look after the pages written to @page, at @now_ns. Returns what is dirty there. */
static int64_t look_at(unsigned page, uint64_t now_ns, bool may_rest,
		       uint64_t *completed_bytes)
{
	struct file_look look = {
		.dirtied_bytes = 4096,
		.now_ns = now_ns,
		.may_rest = may_rest,
	};
	int64_t dirty_bytes;

	assert_int_equal(pwrite(flush.fd, block, 4096, page * 4096), 4096);
	dirty_bytes = flush_look(&flush, &look);
	if (dirty_bytes < 0)
		skip(); /* this kernel, or file system, does not tell */
	*completed_bytes = look.completed_bytes;
	return dirty_bytes;
}

TEST(who_goes_back_to_the_clean_head_is_seen)
{
	uint64_t completed_bytes;

	assert_int_equal(ftruncate(flush.fd, WP_MIB(16)), 0);
	flush.size_bytes = WP_MIB(16);
	assert_int_equal(look_at(4095, NOW, true, &completed_bytes), 4096);
	file.low_bytes = WP_MIB(8);
	file.whole_ns = NOW;
	/* more of it seems to be gone than was in flight, but a look takes its time */
	assert_int_equal(look_at(0, NOW + WP_US(400), false, &completed_bytes), 4096);
	assert_int_equal(completed_bytes, 4096);
	assert_int_equal(look_at(1, NOW + WP_US(500), false, &completed_bytes), 3 * 4096);
	assert_int_equal(completed_bytes, 0);
	assert_int_equal(file.low_bytes, 0);
	assert_int_equal(file.accounted_bytes, 2 * 4096);
}

TEST(a_look_rests_but_what_lands_is_seen)
{
	uint64_t completed_bytes;

	/* Why by the page: a large folio counts whole. */
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(write(flush.fd, block, 4096), 4096);
	assert_int_equal(fsync(flush.fd), 0);
	flush.size_bytes = WP_MIB(1);
	assert_int_equal(look_at(0, NOW, true, &completed_bytes), 4096);
	assert_int_equal(pwrite(flush.fd, block, 4096, WP_KIB(512)),
			 4096); /* nobody tells */
	assert_int_equal(look_at(1, NOW + 1, true, &completed_bytes), 2 * 4096);
	assert_int_equal(start(2 * 4096), 2 * 4096);
	assert_int_equal(fsync(flush.fd), 0);
	assert_int_equal(look_at(100, NOW + 2, true, &completed_bytes), 4096);
	assert_int_equal(completed_bytes, 2 * 4096);
	assert_int_equal(file.inflight_bytes, 0);
	/* dirty again where it was started, or never started: it is not taken for landed */
	file.flight_bytes = 0;
	file.inflight_bytes = 2 * 4096;
	file.accounted_bytes += 2 * 4096;
	assert_int_equal(look_at(10, NOW + 3, true, &completed_bytes), 3 * 4096);
	assert_int_equal(completed_bytes, 4096);
	/* what was synced meanwhile is not found: the next look does not rest */
	assert_int_equal(fsync(flush.fd), 0);
	assert_int_equal(start(3 * 4096), 0);
	assert_int_equal(look_at(11, NOW + 4, true, &completed_bytes), 4096);
	assert_int_equal(completed_bytes, 3 * 4096);
	/* its pages take a rest of 51 us */
	assert_int_equal(pwrite(flush.fd, block, 4096, WP_KIB(512)), 4096);
	assert_int_equal(look_at(3, NOW + WP_US(60), true, &completed_bytes), 3 * 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_goes_back_to_the_clean_head_is_seen,
						open_file, close_file),
		cmocka_unit_test_setup_teardown(a_look_rests_but_what_lands_is_seen,
						open_file, close_file),
		cmocka_unit_test_setup_teardown(a_wrong_guess_is_made_up_for, open_file,
						close_file),
		cmocka_unit_test_setup_teardown(
			what_is_written_in_order_is_started_in_units, open_file,
			close_file),
		cmocka_unit_test_setup_teardown(
			in_the_middle_of_a_file_the_position_tells, open_file,
			close_file),
		cmocka_unit_test_setup_teardown(of_what_jumps_about_all_is_started,
						open_file, close_file),
		cmocka_unit_test_setup_teardown(
			what_the_kernel_wrote_is_not_started_again, open_file,
			close_file),
		cmocka_unit_test_setup_teardown(scattered_pages_are_gathered_into_a_unit,
						open_file, close_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
