/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel says of memory: its own limits of dirty pages, and how short memory is.
 *
 * Dirty pages at the end of the LRU are what reclaim waits for, so under pressure the global
 * limit falls step by step (design 7).
 */
#ifndef WP_HELPER_MEMORY_H
#define WP_HELPER_MEMORY_H

#include "helper/helper.h"

#define MEMORY_FACTOR_MIN_Q10 128

enum strain {
	STRAIN_NONE, /* the factor rises by a quarter a second, to 1 */
	STRAIN_SOME, /* it stays */
	STRAIN_HIGH, /* it falls by a quarter a second, to 1/8 */
};

/* The factor one second later. Pure; what is out of range counts as 1. */
uint64_t memory_step_q10(uint64_t factor_q10, enum strain strain);

/*
 * /proc/pressure/memory: somebody waited for memory 10 % of the last 10 s or more: high, less than
 * 2 %: none. Where there is no such file: MemAvailable below 10 % of MemTotal, above
 * 15 %.
 */
enum strain memory_strain(const char *root);

/* The kernel's thresholds of dirty bytes; false = unknown. */
struct memory_thresholds {
	uint64_t thresh_bytes;
	uint64_t background_bytes;
};

bool memory_thresholds(const char *root, struct memory_thresholds *thresholds);

/* Half of the kernel's freerun line (core/limits.h), 0 = unknown. */
/* What the kernel counts as dirty or in flight on the whole machine; false when it does not say. */
bool memory_outstanding(const char *root, uint64_t *bytes);

uint64_t memory_kernel_limit_bytes(const char *root);

/* Once a second while somebody writes: publish both. */
void memory_look(const struct helper *helper);

#endif
