/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes random words over a segment that others use:
 *
 *	scribble SEGMENT SECONDS SEED
 *
 * All of it, or every so manieth word, or a page, or one word; any value, times of the past and of
 * the future, small and negative numbers: what a wild pointer, a bad disk or an ill will leaves.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <writepace/layout.h>

#include "base/order.h"

#define WORDS (sizeof(struct wp_segment) / sizeof(uint64_t))
#define PAGE_WORDS 512u
#define REST_NS 5000000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static uint64_t some_value(uint64_t *seed)
{
	uint64_t value = next_random(seed);

	switch (next_random(seed) % 8) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return INT64_MAX;
	case 3:
		return now_ns() + value % 100000000000;
	case 4:
		return now_ns() - value % 100000000000;
	case 5:
		return value & 0xffff;
	case 6:
		return -(value & 0xffffff);
	default:
		return value >> (value & 63);
	}
}

/* From @first on, @count words, one in @step of them. */
static void smear(uint64_t *words, size_t first, size_t count, size_t step,
		  uint64_t *seed)
{
	for (size_t i = first; i < first + count && i < WORDS;
	     i += 1 + next_random(seed) % step)
		word_write(&words[i], some_value(seed));
}

static void scribble(uint64_t *words, uint64_t *seed)
{
	size_t at = next_random(seed) % WORDS;

	switch (next_random(seed) % 8) {
	case 0:
		smear(words, 0, WORDS, 1, seed);
		break;
	case 1:
		smear(words, 0, WORDS, 128, seed);
		break;
	case 2:
		smear(words, 0, sizeof(struct wp_header) / sizeof(uint64_t), 4, seed);
		break;
	case 3 ... 5:
		smear(words, at / PAGE_WORDS * PAGE_WORDS, PAGE_WORDS, 8, seed);
		break;
	default:
		smear(words, at, 1, 1, seed);
	}
}

int main(int argc, char **argv)
{
	struct timespec rest = { .tv_nsec = REST_NS };
	uint64_t *words = MAP_FAILED;
	uint64_t until_ns;
	uint64_t seed;
	int fd;

	if (argc != 4) {
		fputs("usage: scribble SEGMENT SECONDS SEED\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		words = mmap(NULL, sizeof(struct wp_segment), PROT_READ | PROT_WRITE,
			     MAP_SHARED, fd, 0);
	if (words == MAP_FAILED) {
		perror(argv[1]);
		return 2;
	}
	seed = strtoull(argv[3], NULL, 10) | 1;
	until_ns = now_ns() + strtoull(argv[2], NULL, 10) * 1000000000;
	while (now_ns() < until_ns) {
		scribble(words, &seed);
		nanosleep(&rest, NULL);
	}
	return 0;
}
