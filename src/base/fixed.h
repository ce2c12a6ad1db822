/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Products that may exceed 64 bits, and the logarithms of the kernel's formulas.
 */
#ifndef WP_BASE_FIXED_H
#define WP_BASE_FIXED_H

#include "base/types.h"

#ifdef __SIZEOF_INT128__
/* a * b / c for a product that needs more than 64 bits; c is not 0. */
static inline uint64_t mul_div_wide(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 quotient = (unsigned __int128)a * b / c;

	return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
}
#else
/* Machines of 32 bits: the product in two words, divided bit by bit as on paper. */
static inline uint64_t mul_div_wide(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t cross = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
	uint64_t high = (a >> 32) * (b >> 32) + (middle >> 32) + (cross >> 32);
	uint64_t quotient = 0;

	low = cross << 32 | (low & UINT32_MAX);
	if (high >= c)
		return UINT64_MAX;
	for (int i = 0; i < 64; i++) {
		bool carry = high >> 63;

		high = high << 1 | low >> 63;
		low <<= 1;
		quotient <<= 1;
		if (carry || high >= c) {
			high -= c;
			quotient |= 1;
		}
	}
	return quotient;
}
#endif

/* a * b / c, truncated, UINT64_MAX where the result does not fit; c = 0 counts as 1. */
static inline uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t product;

	c = c ? c : 1;
	if (!__builtin_mul_overflow(a, b, &product))
		return product / c;
	return mul_div_wide(a, b, c);
}

/* Time that @bytes take at @rate_bps; a rate of 0 counts as 1. */
static inline uint64_t bytes_to_ns(uint64_t bytes, uint64_t rate_bps)
{
	return mul_div(bytes, WP_SEC(1), rate_bps);
}

/* Bytes that pass at @rate_bps in @span_ns. */
static inline uint64_t ns_to_bytes(uint64_t span_ns, uint64_t rate_bps)
{
	return mul_div(span_ns, rate_bps, WP_SEC(1));
}

/* bytes per second; no time at all counts as 1 ns. */
static inline uint64_t rate_of(uint64_t bytes, uint64_t elapsed_ns)
{
	return mul_div(bytes, WP_SEC(1), elapsed_ns);
}

/* floor(log2(n)); 0 for 0 and 1. */
static inline unsigned ilog2(uint64_t n)
{
	return n ? 63u - (unsigned)__builtin_clzll(n) : 0;
}

/* The largest power of two that is no larger than n; 1 for 0. */
static inline uint64_t pow2_floor(uint64_t n)
{
	return (uint64_t)1 << ilog2(n);
}

#endif
