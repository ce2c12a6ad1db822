/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One kind of call COUNT times on FILE, for counting instructions (with two counts, the
 * difference is free of what happens only once), and the nanoseconds of one: the least of the
 * means of twenty parts, which is the one that nobody disturbed.
 *
 *	peers write-1|write-4096|open-close|dup-close COUNT FILE
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PARTS 20
#define FILE_BYTES (1 << 20) /* over and over: hardly anything gets dirty */

static char block[4096];
static const char *path;
static int file;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int write_bytes(long i, size_t bytes)
{
	if ((size_t)i % (FILE_BYTES / bytes) == 0 && lseek(file, 0, SEEK_SET))
		return -1;
	return write(file, block, bytes) == (ssize_t)bytes ? 0 : -1;
}

static int write_one(long i)
{
	return write_bytes(i, 1);
}

static int write_page(long i)
{
	return write_bytes(i, sizeof(block));
}

static int open_close(long i)
{
	int fd = open(path, O_RDWR);

	(void)i;
	return fd < 0 ? -1 : close(fd);
}

static int dup_close(long i)
{
	int fd = dup(file);

	(void)i;
	return fd < 0 ? -1 : close(fd);
}

static const struct {
	const char *name;
	int (*call)(long);
} calls[] = {
	{ "write-1", write_one },
	{ "write-4096", write_page },
	{ "open-close", open_close },
	{ "dup-close", dup_close },
};

/* Nanoseconds of one call, -1 where one failed. */
static double measure(int (*call)(long), long count)
{
	double least_ns = 1e9;

	for (int part = 0; part < PARTS; part++) {
		int64_t start_ns = now_ns();
		double ns;

		for (long i = 0; i < count / PARTS; i++) {
			if (call(i))
				return -1;
		}
		ns = (double)(now_ns() - start_ns) / (double)(count / PARTS);
		least_ns = ns < least_ns ? ns : least_ns;
	}
	return least_ns;
}

int main(int argc, char **argv)
{
	long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;

	if (count < PARTS)
		return 2;
	path = argv[3];
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		double ns;

		if (strcmp(argv[1], calls[i].name))
			continue;
		ns = measure(calls[i].call, count);
		printf("%.0f\n", ns);
		return ns < 0;
	}
	return 2;
}
