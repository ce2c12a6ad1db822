/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the rule of the factor by hand (a quarter a second, 1/8 to 1), and texts as the kernel
 * writes them.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/bdi.h"
#include "helper/memory.h"
#include "helper/read.h"

static char root[64];

static void path_to(char *path, const char *name)
{
	snprintf(path, READ_PATH_BYTES, "%s/%s", root, name);
}

static void put(const char *name, const char *text)
{
	char path[READ_PATH_BYTES];
	FILE *file;

	path_to(path, name);
	file = fopen(path, "w");
	if (!file)
		fail_msg("%s can not be written", path);
	fputs(text, file);
	fclose(file);
}

static const char *const folders[] = { "proc", "proc/pressure", "proc/7", "bdi" };
static const char *const names[] = { "proc/pressure/memory", "proc/meminfo",
				     "proc/vmstat",          "proc/7/stat",
				     "bdi/strict_limit",     "bdi/max_ratio",
				     "bdi/max_bytes" };

static int make_root(void **state)
{
	char path[READ_PATH_BYTES];

	(void)state;
	strcpy(root, "/tmp/writepace-test-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		path_to(path, folders[i]);
		mkdir(path, 0700);
	}
	return 0;
}

static int remove_root(void **state)
{
	char path[READ_PATH_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_to(path, names[i]);
		unlink(path);
	}
	for (size_t i = sizeof(folders) / sizeof(folders[0]); i-- > 0;) {
		path_to(path, folders[i]);
		rmdir(path);
	}
	return rmdir(root);
}

TEST(factor_falls_to_an_eighth_and_no_further)
{
	static const uint64_t expected_q10[] = { 768, 576, 432, 324, 243,
						 183, 138, 128, 128 };
	uint64_t q10 = WP_Q10;

	for (size_t i = 0; i < 9; i++) {
		q10 = memory_step_q10(q10, STRAIN_HIGH);
		assert_int_equal(q10, expected_q10[i]);
	}
}

TEST(factor_rises_to_one_within_ten_seconds)
{
	uint64_t q10 = MEMORY_FACTOR_MIN_Q10;

	assert_int_equal(memory_step_q10(q10, STRAIN_NONE), 160);
	for (int second = 0; second < 10; second++)
		q10 = memory_step_q10(q10, STRAIN_NONE);
	assert_int_equal(q10, WP_Q10);
}

TEST(factor_stays_in_between)
{
	assert_int_equal(memory_step_q10(500, STRAIN_SOME), 500);
}

TEST(damaged_factor_counts_as_one)
{
	assert_int_equal(memory_step_q10(0, STRAIN_SOME), WP_Q10);
	assert_int_equal(memory_step_q10(UINT64_MAX, STRAIN_HIGH), 768);
	assert_int_equal(memory_step_q10(1, STRAIN_SOME), MEMORY_FACTOR_MIN_Q10);
}

TEST(pressure_is_read_before_free_memory)
{
	put("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 1 kB\n");
	put("proc/pressure/memory", "some avg10=1.99 avg60=50.00 avg300=50.00 total=1\n"
				    "full avg10=50.00 avg60=0.00 avg300=0.00 total=0\n");
	assert_int_equal(memory_strain(root), STRAIN_NONE);
	put("proc/pressure/memory", "some avg10=2.00 avg60=0.00 avg300=0.00 total=1\n");
	assert_int_equal(memory_strain(root), STRAIN_SOME);
	put("proc/pressure/memory", "some avg10=10.21 avg60=0.00 avg300=0.00 total=1\n");
	assert_int_equal(memory_strain(root), STRAIN_HIGH);
}

TEST(free_memory_where_there_is_no_pressure)
{
	put("proc/pressure/memory", "");
	put("proc/meminfo", "MemTotal:       24684084 kB\nMemFree:  10 kB\n"
			    "MemAvailable:    2468000 kB\n");
	assert_int_equal(memory_strain(root), STRAIN_HIGH);
	put("proc/meminfo", "MemTotal:       24684084 kB\nMemAvailable:    3000000 kB\n");
	assert_int_equal(memory_strain(root), STRAIN_SOME);
	put("proc/meminfo", "MemTotal:       24684084 kB\nMemAvailable:    4000000 kB\n");
	assert_int_equal(memory_strain(root), STRAIN_NONE);
	put("proc/meminfo", "MemTotal:       24684084 kB\n");
	assert_int_equal(memory_strain(root), STRAIN_NONE);
}

TEST(kernel_limit_is_a_quarter_of_both_thresholds)
{
	put("proc/vmstat", "nr_free_pages 5\nnr_dirty 1\nnr_dirty_threshold 800000\n"
			   "nr_dirty_background_threshold 400000\npgpgin 1\n");
	assert_int_equal(memory_kernel_limit_bytes(root),
			 UINT64_C(300000) * (uint64_t)getpagesize());
	put("proc/vmstat", "nr_free_pages 5\n");
	assert_int_equal(memory_kernel_limit_bytes(root), 0);
}

/* A name with a bracket and blanks; the start is field 22: 1000 ticks. */
#define STAT(state) \
	"7 (a) b (c) " state " 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 1000 9 9\n"

TEST(process_lives_when_it_began_before_it_attached)
{
	uint64_t start_ns = 1000 * (WP_SEC(1) / (uint64_t)sysconf(_SC_CLK_TCK));

	put("proc/7/stat", STAT("S"));
	assert_true(read_process_lives(root, 7, start_ns));
	assert_true(read_process_lives(root, 7, start_ns + WP_SEC(99)));
	/* It attached before this one began: that was another, with the same pid. */
	assert_false(read_process_lives(root, 7, start_ns - 1));
	put("proc/7/stat", STAT("Z"));
	assert_false(read_process_lives(root, 7, start_ns));
	put("proc/7/stat", "7 (a");
	assert_false(read_process_lives(root, 7, UINT64_MAX));
	assert_false(read_process_lives(root, 8, UINT64_MAX));
}

static void strict_limit_of_a_device(void **state)
{
	char folder[READ_PATH_BYTES];

	(void)state;
	path_to(folder, "bdi");
	put("proc/vmstat", "nr_free_pages 5\nnr_dirty 1\nnr_dirty_threshold 800000\n"
			   "nr_dirty_background_threshold 400000\n");
	put("bdi/max_ratio", "25\n");
	put("bdi/strict_limit", "0\n");
	assert_int_equal(bdi_limit_bytes(root, folder), 0);
	put("bdi/strict_limit", "1\n");
	/* 200000 pages and half of that in the background */
	assert_int_equal(bdi_limit_bytes(root, folder),
			 UINT64_C(75000) * (uint64_t)getpagesize());
	put("bdi/max_bytes", "4096000\n");
	assert_int_equal(bdi_limit_bytes(root, folder), 4096000 * 3 / 8);
	put("proc/vmstat", "nr_free_pages 5\n");
	assert_int_equal(bdi_limit_bytes(root, folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(factor_falls_to_an_eighth_and_no_further),
		cmocka_unit_test(factor_rises_to_one_within_ten_seconds),
		cmocka_unit_test(factor_stays_in_between),
		cmocka_unit_test(damaged_factor_counts_as_one),
		cmocka_unit_test(pressure_is_read_before_free_memory),
		cmocka_unit_test(free_memory_where_there_is_no_pressure),
		cmocka_unit_test(kernel_limit_is_a_quarter_of_both_thresholds),
		cmocka_unit_test(strict_limit_of_a_device),
		cmocka_unit_test(process_lives_when_it_began_before_it_attached),
	};

	return cmocka_run_group_tests_name("helper: memory", tests, make_root,
					   remove_root);
}
