/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the strings as a reader would write them; guard bytes behind every buffer.
 */
#include "unit.h"

#include <string.h>

#include "base/foreign.h"
#include "base/text.h"

TEST(strings_and_numbers_follow_one_another)
{
	char line[80];
	struct text text = text_on(line, sizeof(line));

	assert_string_equal(line, "");
	text_add(&text, "a=");
	text_add_u64(&text, 0);
	text_add_char(&text, ' ');
	text_add_u64(&text, 1000);
	text_add(&text, "");
	text_add_char(&text, ',');
	text_add_u64(&text, UINT64_MAX);
	assert_string_equal(line, "a=0 1000,18446744073709551615");
	assert_true(text_fits(&text));
	assert_int_equal(text_bytes(&text), strlen(line));
}

TEST(what_just_fits_fits)
{
	char line[5] = "####";
	struct text text = text_on(line, 4);

	text_add(&text, "abc");
	assert_true(text_fits(&text));
	assert_int_equal(text_bytes(&text), 3);
	assert_string_equal(line, "abc");
}

TEST(what_does_not_fit_is_cut_and_said)
{
	char line[8] = "#######";
	struct text text = text_on(line, 4);

	text_add(&text, "ab");
	text_add_u64(&text, 1234567);
	text_add_char(&text, 'x');
	assert_false(text_fits(&text));
	assert_int_equal(text_bytes(&text), 3);
	assert_memory_equal(line, "ab1\0###", 8);
}

TEST(buffer_of_one_byte_holds_the_end_only)
{
	char line[3] = "##";
	volatile size_t one =
		1; /* else gcc 12 warns of what it thinks of the inlined sum */
	struct text text = text_on(line, one);

	text_add(&text, "x");
	assert_false(text_fits(&text));
	assert_int_equal(text_bytes(&text), 0);
	assert_memory_equal(line, "\0#", 3);
}

TEST(foreign_control_characters_become_question_marks)
{
	char line[80];
	struct text text = text_on(line, sizeof(line));

	text_add_foreign(&text, "a\n\033[1m\177\303\251~", 20);
	assert_string_equal(line, "a??[1m?\303\251~");
}

TEST(foreign_text_is_cut_with_dots)
{
	char line[80];
	struct text text = text_on(line, sizeof(line));

	text_add_foreign(&text, "abcd", 4);
	text_add_char(&text, ' ');
	text_add_foreign(&text, "abcde", 4);
	assert_string_equal(line, "abcd abcd...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_and_numbers_follow_one_another),
		cmocka_unit_test(what_just_fits_fits),
		cmocka_unit_test(what_does_not_fit_is_cut_and_said),
		cmocka_unit_test(buffer_of_one_byte_holds_the_end_only),
		cmocka_unit_test(foreign_control_characters_become_question_marks),
		cmocka_unit_test(foreign_text_is_cut_with_dots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
