/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: what stat(2) and the kernel's list of block devices say of the same thing.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "host/locate.h"

static void finds(const char *what, uint64_t expected)
{
	uint64_t number = UINT64_MAX;

	assert_int_equal(locate_device(what, &number), 0);
	assert_int_equal(number, expected);
}

static void finds_nothing(const char *what)
{
	uint64_t number;

	assert_int_equal(locate_device(what, &number), -ENOENT);
}

TEST(numbers_are_taken_as_they_are)
{
	finds("8:1", makedev(8, 1));
	finds("0:45", makedev(0, 45));
	finds("259:1048575", makedev(259, 1048575));
}

TEST(what_is_not_quite_a_number_is_a_path)
{
	finds_nothing("8:");
	finds_nothing(":1");
	finds_nothing("8:1:1");
	finds_nothing("8:99999999999");
	finds_nothing("");
}

TEST(path_stands_for_the_device_below_it)
{
	struct stat st;

	assert_int_equal(stat("/proc/self", &st), 0);
	finds("/proc/self/status", st.st_dev);
	finds("/dev/null", (stat("/dev", &st), st.st_dev));
	finds_nothing("/no/such/place");
}

/* The first node of a block device that is there: its numbers stand in sysfs, too. */
TEST(node_of_a_block_device_stands_for_that)
{
	unsigned major;
	unsigned minor;
	char name[64];
	char path[80];
	struct stat st;
	FILE *list = fopen("/proc/partitions", "re");

	if (!list)
		skip();
	while (fscanf(list, "%u %u %*u %63s", &major, &minor, name) == 3 ||
	       fgets(path, sizeof(path), list)) {
		snprintf(path, sizeof(path), "/dev/%s", name);
		if (*name && !stat(path, &st) && S_ISBLK(st.st_mode)) {
			fclose(list);
			finds(path, makedev(major, minor));
			return;
		}
		*name = '\0';
	}
	fclose(list);
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_taken_as_they_are),
		cmocka_unit_test(what_is_not_quite_a_number_is_a_path),
		cmocka_unit_test(path_stands_for_the_device_below_it),
		cmocka_unit_test(node_of_a_block_device_stands_for_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
