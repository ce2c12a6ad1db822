/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies a file in writes of BYTES, or writes COUNT times BYTES and says how long each took. To be
 * linked statically.
 *
 *	copy FROM TO BYTES
 *	copy --time COUNT TO BYTES	over and over the same 64 MiB, more than a cache of
 *					the processor holds
 *	copy --extend COUNT TO BYTES	one after the other
 *	copy --durable COUNT TO BYTES	the same, with a sync of it at the end
 *	copy --often COUNT TO BYTES	as --time, but 10,000 a second
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WRAP_BYTES (64 << 20)
#define OFTEN_NS 100000
#define SECOND_NS 1000000000

static char block[4 << 20];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t wake_ns)
{
	struct timespec wake = {
		.tv_sec = (time_t)(wake_ns / SECOND_NS),
		.tv_nsec = (long)(wake_ns % SECOND_NS),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR)
		;
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

static int time_writes(const char *how, long count, int to, size_t bytes)
{
	bool durable = !strcmp(how, "--durable");
	bool extend = durable || !strcmp(how, "--extend");
	bool often = !strcmp(how, "--often");
	uint64_t begin_ns;
	off_t at = 0;

	/* Why: else all of it is one page of zeros, which no cache is too small for. */
	memset(block, 'w', bytes);
	begin_ns = now_ns();
	for (long i = 0; i < count; i++) {
		if (often)
			sleep_until(begin_ns + (uint64_t)i * OFTEN_NS);
		if (pwrite(to, block, bytes, at) != (ssize_t)bytes)
			return -1;
		at += (off_t)bytes;
		if (at >= WRAP_BYTES && !extend)
			at = 0;
	}
	if (durable && fsync(to))
		return -1;
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
			"usage: copy FROM TO BYTES | "
			"copy --time|--extend|--durable|--often COUNT TO BYTES\n");
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
			     time_writes(argv[1], strtol(argv[2], NULL, 10), to, bytes);
	if (result || close(to)) {
		perror("copy");
		return 1;
	}
	return 0;
}
