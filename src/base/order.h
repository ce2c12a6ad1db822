/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only place that names a memory order.
 *
 * Shared words are naturally aligned fixed-width integers. They are used in three ways:
 *   - counted: word_add(), word_read()                       exact in total, any order
 *   - replaced: word_read(), word_replace() by compare-and-swap; a loser recomputes or gives up
 *   - claimed: the compare-and-swap on a key or a time stamp decides who may go on
 * Everything is sequentially consistent except word_read_relaxed() and word_bump_local(): the
 * slow path costs microseconds, so cheaper orders would buy nothing and cost proofs.
 *
 * Progress: every operation is wait-free. No reader waits for a writer.
 */
#ifndef WP_BASE_ORDER_H
#define WP_BASE_ORDER_H

#include "base/types.h"

/*
 * Behind each write to a shared word a test may stop, hold up or end the process: between two of
 * them nobody else sees anything change. Nothing of it is in what is shipped.
 */
#ifdef WP_POINTS
void order_point(void);
#else
static inline void order_point(void)
{
}
#endif

static inline uint64_t word_read(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* Why: a hint, or a word that only its own thread writes. */
static inline uint64_t word_read_relaxed(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void word_write(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	order_point();
}

/* Returns the sum. A negative amount is added as its two's complement. */
static inline uint64_t word_add(uint64_t *word, uint64_t amount)
{
	uint64_t sum = __atomic_add_fetch(word, amount, __ATOMIC_SEQ_CST);

	order_point();
	return sum;
}

/* Returns the value that was there. */
static inline uint64_t word_exchange(uint64_t *word, uint64_t value)
{
	uint64_t old = __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);

	order_point();
	return old;
}

/* A 32-bit word that others wait on by futex: changed so that it differs from what they saw. */
static inline void word32_bump(uint32_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
}

static inline uint32_t word32_read(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* False: somebody else changed it from @old; nothing happened. */
static inline bool word_replace(uint64_t *word, uint64_t old, uint64_t value)
{
	bool done = __atomic_compare_exchange_n(word, &old, value, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);

	order_point();
	return done;
}

/*
 * Why: the fast path of a call. A load and a store instead of a locked add: two threads that
 * write through one descriptor may lose a count here, never a byte of what is true (the
 * kernel's own numbers are asked on the slow path).
 */
#ifdef __x86_64__ /* one instruction, of which the compiler makes three */
static inline void word_bump_local(uint64_t *word, uint64_t amount)
{
	__asm__("addq %1, %0" : "+m"(*word) : "er"(amount) : "cc");
}
#else
static inline void word_bump_local(uint64_t *word, uint64_t amount)
{
	uint64_t value = __atomic_load_n(word, __ATOMIC_RELAXED);

	__atomic_store_n(word, value + amount, __ATOMIC_RELAXED);
}
#endif

/* A signed quantity kept in a word: what is read below zero is shown as zero. */
static inline uint64_t word_level(const uint64_t *word)
{
	uint64_t value = word_read(word);

	return value > INT64_MAX ? 0 : value;
}

#endif
