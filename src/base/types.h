/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Units and small helpers that every layer uses. Bytes, nanoseconds, bytes per second, and
 * ratios in 1/1024 (q10); the unit stands in the name of whatever holds it.
 */
#ifndef WP_BASE_TYPES_H
#define WP_BASE_TYPES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WP_KIB(n) ((uint64_t)(n) << 10)
#define WP_MIB(n) ((uint64_t)(n) << 20)
#define WP_GIB(n) ((uint64_t)(n) << 30)
#define WP_US(n) (1000 * (uint64_t)(n))
#define WP_MS(n) (1000000 * (uint64_t)(n))
#define WP_SEC(n) (1000000000 * (uint64_t)(n))

#define WP_PAGE_BYTES 4096u /* Unit: the kernel's formulas count pages of this size */
#define WP_Q10 1024u        /* 1.0 as a q10 ratio (K3: RATELIMIT_CALC_SHIFT) */

#define wp_likely(x) __builtin_expect(!!(x), 1)
#define wp_unlikely(x) __builtin_expect(!!(x), 0)
#define WP_MUST_CHECK __attribute__((warn_unused_result))

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* @low wins when the bounds contradict each other. */
static inline uint64_t clamp_u64(uint64_t value, uint64_t low, uint64_t high)
{
	return max_u64(min_u64(value, high), low);
}

/* a - b, or 0 where that would be negative. */
static inline uint64_t sub_u64(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif
