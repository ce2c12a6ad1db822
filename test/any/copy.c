/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies a file in writes of BYTES, or writes COUNT times BYTES and says how long that took. To be
 * linked statically.
 *
 *	copy FROM TO BYTES
 *	copy --time COUNT TO BYTES
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WRAP_BYTES (64 << 20)

static char block[4 << 20];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int copy(int from, int to, size_t bytes)
{
	ssize_t got;

	while ((got = read(from, block, bytes)) > 0) {
		if (write(to, block, (size_t)got) != got)
			return -1;
	}
	return (int)got;
}

/* Over and over the same 64 MiB, more than a cache of the processor holds. */
static int time_writes(long count, int to, size_t bytes)
{
	uint64_t begin_ns = now_ns();
	off_t at = 0;

	for (long i = 0; i < count; i++) {
		if (pwrite(to, block, bytes, at) != (ssize_t)bytes)
			return -1;
		at += (off_t)bytes;
		if (at >= WRAP_BYTES)
			at = 0;
	}
	printf("%.1f\n", (double)(now_ns() - begin_ns) / (double)count);
	return 0;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 3 ? strtoul(argv[argc - 1], NULL, 10) : 0;
	int from = -1;
	int to;
	int result;

	if (argc < 4 || argc > 5 || !bytes || bytes > sizeof(block)) {
		fprintf(stderr,
			"usage: copy FROM TO BYTES | copy --time COUNT TO BYTES\n");
		return 2;
	}
	to = open(argv[argc - 2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (argc == 4)
		from = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (to < 0 || (argc == 4 && from < 0)) {
		perror("copy");
		return 1;
	}
	result = argc == 4 ? copy(from, to, bytes) :
			     time_writes(strtol(argv[2], NULL, 10), to, bytes);
	if (result || close(to)) {
		perror("copy");
		return 1;
	}
	return 0;
}
