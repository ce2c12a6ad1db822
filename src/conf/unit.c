/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "conf/unit.h"

#include <string.h>

#include "base/fixed.h"

const struct unit unit_durations[] = {
	{ "ns", 1 },        { "us", WP_US(1) },    { "ms", WP_MS(1) },
	{ "s", WP_SEC(1) }, { "min", WP_SEC(60) }, { "h", WP_SEC(3600) },
	{ NULL, 0 },
};

/* Why this order: unit_put() shows a number with the last unit that divides it. */
const struct unit unit_bytes[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "KB", 1000 },
	{ "MB", 1000000 },
	{ "GB", 1000000000 },
	{ "TB", 1000000000000 },
	{ "KiB", WP_KIB(1) },
	{ "MiB", WP_MIB(1) },
	{ "GiB", WP_GIB(1) },
	{ "TiB", WP_GIB(1024) },
	{ "K", WP_KIB(1) },
	{ "M", WP_MIB(1) },
	{ "G", WP_GIB(1) },
	{ "T", WP_GIB(1024) },
	{ NULL, 0 },
};

const struct unit unit_none[] = {
	{ "", 1 },
	{ NULL, 0 },
};

const struct unit unit_percents[] = {
	{ "%", 10 },
	{ NULL, 0 },
};

/* Why not ctype.h: the program's locale must not change what a setting means. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Is @string this unit, and then nothing or @suffix? */
static bool is_unit(const char *string, const char *unit, const char *suffix,
		    bool any_case)
{
	for (; *unit; string++, unit++)
		if (*string != *unit && !(any_case && lower(*string) == lower(*unit)))
			return false;
	return !*string || !strcmp(string, suffix);
}

/* The whole number at *@string; moves *@string on. */
static uint64_t take_whole(const char **string)
{
	uint64_t number = 0;
	bool fits = true;

	for (; is_digit(**string); ++*string) {
		uint64_t digit = (uint64_t)(**string - '0');

		fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
		       !__builtin_add_overflow(number, digit, &number);
	}
	return fits ? number : UINT64_MAX;
}

/* A number below one as a quotient, with as many digits as 64 bits hold. */
struct fraction {
	uint64_t numerator;
	uint64_t denominator;
};

static struct fraction take_fraction(const char **string)
{
	struct fraction fraction = { 0, 1 };

	for (; is_digit(**string); ++*string) {
		if (fraction.denominator > UINT64_MAX / 100)
			continue;
		fraction.numerator = fraction.numerator * 10 + (uint64_t)(**string - '0');
		fraction.denominator *= 10;
	}
	return fraction;
}

bool unit_parse(const struct unit *units, const char *suffix, const char *string,
		uint64_t *value)
{
	bool any_case = units == unit_bytes; /* not for times: M could mean minutes */
	struct fraction fraction = { 0, 1 };
	uint64_t whole;
	uint64_t part;

	if (!is_digit(*string))
		return false;
	whole = take_whole(&string);
	if (*string == '.') {
		if (units == unit_none || !is_digit(*++string))
			return false;
		fraction = take_fraction(&string);
	}
	while (units->name && !is_unit(string, units->name, suffix, any_case))
		units++;
	if (!units->name)
		return false;
	part = mul_div(fraction.numerator, units->scale, fraction.denominator);
	if (__builtin_add_overflow(mul_div(whole, units->scale, 1), part, value))
		*value = UINT64_MAX;
	return true;
}

void unit_put(struct text *text, const struct unit *units, uint64_t value)
{
	const struct unit *best = units;

	for (const struct unit *unit = units; unit->name; unit++)
		if (value && value % unit->scale == 0)
			best = unit;
	text_add_u64(text, value / best->scale);
	text_add(text, best->name);
}
