/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every unit test includes: cmocka with what it wants before it, and three words of our
 * own. A test is a function of the behaviour's name.
 */
#ifndef WP_TEST_UNIT_H
#define WP_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/types.h"

#define TEST(name) static void name(void **state __attribute__((unused)))

/* Within @tolerance of @expected; says the values when not. */
static inline void assert_near(uint64_t value, uint64_t expected, uint64_t tolerance)
{
	if (value > expected + tolerance || value + tolerance < expected)
		fail_msg("%llu is not within %llu of %llu", (unsigned long long)value,
			 (unsigned long long)tolerance, (unsigned long long)expected);
}

/* Random numbers that are the same in every run (xorshift). */
static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#endif
