/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asks for memory one huge page at a time, and says how many it got and how long each took:
 * huge MB [SECONDS]. A page that came as small ones, or was not asked for in time, is none.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)2 << 20)

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* The first byte was touched: is the last one there too? */
static bool is_huge(char *page)
{
	unsigned char there = 0;

	return !mincore(page + HUGE_BYTES - 4096, 4096, &there) && (there & 1);
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a;
	int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* Touches the whole page: what is small there needs its memory as well. */
static void fill(char *page)
{
	for (size_t at = 0; at < HUGE_BYTES; at += 4096)
		*(volatile char *)(page + at) = 1;
}

int main(int argc, char **argv)
{
	const size_t nr = argc > 1 ? (size_t)atol(argv[1]) / 2 : 0;
	const int64_t seconds = argc > 2 ? atol(argv[2]) : 60;
	const int64_t until_ns = now_ns() + seconds * 1000000000;
	int64_t *took_ns = calloc(nr + 1, sizeof(*took_ns));
	size_t huge = 0;
	size_t asked = 0;
	char *map;

	if (!nr || seconds < 1 || !took_ns) {
		fprintf(stderr, "usage: huge MB [SECONDS]\n");
		return 2;
	}
	map = mmap(NULL, (nr + 1) * HUGE_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		perror("huge");
		return 1;
	}
	map += HUGE_BYTES - (uintptr_t)map % HUGE_BYTES;
	if (madvise(map, nr * HUGE_BYTES, MADV_HUGEPAGE)) {
		perror("huge");
		return 1;
	}
	for (; asked < nr && now_ns() < until_ns; asked++) {
		char *page = map + asked * HUGE_BYTES;
		int64_t start_ns = now_ns();

		*(volatile char *)page = 1;
		huge += is_huge(page);
		fill(page);
		took_ns[asked] = now_ns() - start_ns;
	}
	qsort(took_ns, asked, sizeof(*took_ns), by_value);
	printf("asked=%zu wanted=%zu huge=%zu p50_us=%lld max_us=%lld\n", asked, nr, huge,
	       (long long)took_ns[asked / 2] / 1000,
	       (long long)took_ns[asked - 1] / 1000);
	free(took_ns);
	return 0;
}
