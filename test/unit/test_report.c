/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the summary line of design section 11, written out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/report.h"

static void a_line_has_all_fields_in_order(void **state)
{
	struct totals totals = { 0 };
	char line[WP_REPORT_LINE_BYTES];
	size_t length;

	(void)state;
	totals.charged_bytes = 1048576;
	totals.dirtied_bytes = 1052672;
	totals.uncovered_bytes = 4096;
	totals.sleeps = 12;
	totals.slept_ns = 1234567890;
	totals.devices[0] = makedev(7, 0);
	totals.devices[2] = makedev(8, 16);
	length = report_line(line, sizeof(line), "cp", 1234, &totals);
	assert_string_equal(line, "writepace: cp[1234] charged=1048576 dirtied=1052672 "
				  "uncovered=4096 sleeps=12 slept=1.234s "
				  "devices=7:0,8:16\n");
	assert_int_equal(length, strlen(line));
}

static void nothing_done_is_all_zeros(void **state)
{
	struct totals totals = { 0 };
	char line[WP_REPORT_LINE_BYTES];

	(void)state;
	report_line(line, sizeof(line), "true", 1, &totals);
	assert_string_equal(line, "writepace: true[1] charged=0 dirtied=0 uncovered=0 "
				  "sleeps=0 slept=0.000s devices=-\n");
}

static void fractions_of_a_second_keep_their_zeros(void **state)
{
	struct totals totals = { .slept_ns = 61009999999 };
	char line[WP_REPORT_LINE_BYTES];

	(void)state;
	report_line(line, sizeof(line), "x", 1, &totals);
	assert_non_null(strstr(line, " slept=61.009s "));
	totals.slept_ns = 50000000;
	report_line(line, sizeof(line), "x", 1, &totals);
	assert_non_null(strstr(line, " slept=0.050s "));
}

static void the_longest_line_fits(void **state)
{
	struct totals totals;
	char line[WP_REPORT_LINE_BYTES];
	char name[100];
	size_t length;

	(void)state;
	memset(&totals, 0xff, sizeof(totals));
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	length = report_line(line, sizeof(line), name, 2147483647, &totals);
	assert_in_range(length, 1, sizeof(line) - 1);
	assert_int_equal(line[length - 1], '\n');
	assert_non_null(strstr(line, "nnn...[2147483647] charged=18446744073709551615 "));
}

static void a_wild_name_stays_one_line(void **state)
{
	struct totals totals = { 0 };
	char line[WP_REPORT_LINE_BYTES];
	size_t length;

	(void)state;
	length = report_line(line, sizeof(line), "a\nb\033", 7, &totals);
	assert_non_null(strstr(line, "writepace: a?b?[7] "));
	assert_ptr_equal(strchr(line, '\n'), line + length - 1);
}

static void a_short_buffer_is_never_left(void **state)
{
	struct totals totals = { 0 };
	char line[16];

	(void)state;
	memset(line, 'z', sizeof(line));
	assert_int_equal(report_line(line, 10, "cp", 1, &totals), 9);
	assert_string_equal(line, "writepace");
	assert_int_equal(line[10], 'z');
}

static void what_was_found_is_one_line(void **state)
{
	char line[WP_REPORT_LINE_BYTES];
	size_t length;

	(void)state;
	length = report_found_line(line, sizeof(line), "a\nb", 7, makedev(8, 17), 4096,
				   "cachestat");
	assert_string_equal(
		line, "writepace: a?b[7] device=8:17 limit=4096 source=cachestat\n");
	assert_int_equal(length, strlen(line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_all_fields_in_order),
		cmocka_unit_test(what_was_found_is_one_line),
		cmocka_unit_test(nothing_done_is_all_zeros),
		cmocka_unit_test(fractions_of_a_second_keep_their_zeros),
		cmocka_unit_test(the_longest_line_fits),
		cmocka_unit_test(a_wild_name_stays_one_line),
		cmocka_unit_test(a_short_buffer_is_never_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
