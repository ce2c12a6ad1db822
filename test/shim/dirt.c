/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes MB megabytes in a way that dirties less than it writes, or more than it passes to any
 * call. Prints the milliseconds that took.
 *
 * Usage: dirt WAY DIRECTORY MB
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MEGABYTE ((size_t)1 << 20)

static char data[4 * MEGABYTE];

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "dirt: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int create(const char *name, int flags)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | flags, 0644);

	check(fd >= 0, name);
	return fd;
}

static void put(int fd, size_t bytes, off_t at)
{
	for (size_t done = 0; done < bytes; done += 65536)
		check(pwrite(fd, data, 65536, at + (off_t)done) == 65536, "pwrite");
}

/* One file of 4 MB again and again. */
static void rewrite(size_t mb)
{
	int fd = create("file", 0);

	for (size_t done = 0; done < mb; done += 4)
		put(fd, 4 * MEGABYTE, 0);
	close(fd);
}

/* Files of 1 MB that lose their name while they are open. */
static void nameless(size_t mb)
{
	for (size_t done = 0; done < mb; done++) {
		int fd = create("file", 0);

		check(!unlink("file"), "unlink");
		put(fd, MEGABYTE, 0);
		close(fd);
	}
}

/* Files of 1 MB that are unlinked after they were closed. */
static void temporary(size_t mb)
{
	for (size_t done = 0; done < mb; done++) {
		int fd = create("file", 0);

		put(fd, MEGABYTE, 0);
		close(fd);
		check(!unlink("file"), "unlink");
	}
}

/* One file that is cut to nothing after each MB. */
static void cut(size_t mb)
{
	int fd = create("file", 0);

	for (size_t done = 0; done < mb; done++) {
		put(fd, MEGABYTE, 0);
		check(!ftruncate(fd, 0), "ftruncate");
	}
	close(fd);
}

static void with_flag(size_t mb, int flag)
{
	int fd = create("file", flag);
	void *aligned = aligned_alloc(4096, MEGABYTE);

	check(aligned != NULL, "memory");
	memset(aligned, 1, MEGABYTE);
	for (size_t done = 0; done < mb; done++)
		check(pwrite(fd, aligned, MEGABYTE, (off_t)(done * MEGABYTE)) ==
			      (ssize_t)MEGABYTE,
		      "pwrite");
	close(fd);
}

static void preallocate(size_t mb)
{
	int fd = create("file", 0);

	for (size_t done = 0; done < mb; done++)
		check(!posix_fallocate(fd, (off_t)(done * MEGABYTE), MEGABYTE),
		      "posix_fallocate");
	close(fd);
}

/* Stores to a mapping, 1 MB at a time, and 64 KB by a call to another file in between. */
static void mapped(size_t mb)
{
	int fd = create("file", 0);
	int other = create("other", 0);
	char *map;

	check(!ftruncate(fd, (off_t)(mb * MEGABYTE)), "ftruncate");
	map = mmap(NULL, mb * MEGABYTE, PROT_WRITE, MAP_SHARED, fd, 0);
	check(map != MAP_FAILED, "mmap");
	for (size_t done = 0; done < mb; done++) {
		memset(map + done * MEGABYTE, 1, MEGABYTE);
		put(other, 65536, (off_t)(done * 65536));
	}
	munmap(map, mb * MEGABYTE);
	close(other);
	close(fd);
}

/* A stream with a buffer of 1 MB. */
static void buffered(size_t mb)
{
	FILE *stream = fopen("file", "w");

	check(stream && !setvbuf(stream, NULL, _IOFBF, MEGABYTE), "fopen");
	for (size_t done = 0; done < mb * 16; done++)
		check(fwrite(data, 65536 / 8, 8, stream) == 8, "fwrite");
	fclose(stream);
}

int main(int argc, char **argv)
{
	struct timespec begin;
	struct timespec end;
	const char *way = argv[1];
	size_t mb;

	if (argc != 4 || chdir(argv[2]))
		return 2;
	mb = strtoul(argv[3], NULL, 10);
	memset(data, 1, sizeof(data));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (!strcmp(way, "rewrite"))
		rewrite(mb);
	else if (!strcmp(way, "nameless"))
		nameless(mb);
	else if (!strcmp(way, "temporary"))
		temporary(mb);
	else if (!strcmp(way, "cut"))
		cut(mb);
	else if (!strcmp(way, "direct"))
		with_flag(mb, O_DIRECT);
	else if (!strcmp(way, "sync"))
		with_flag(mb, O_SYNC);
	else if (!strcmp(way, "preallocate"))
		preallocate(mb);
	else if (!strcmp(way, "mapped"))
		mapped(mb);
	else if (!strcmp(way, "buffered"))
		buffered(mb);
	else
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("ms=%ld\n", (end.tv_sec - begin.tv_sec) * 1000 +
				   (end.tv_nsec - begin.tv_nsec) / 1000000);
	return 0;
}
