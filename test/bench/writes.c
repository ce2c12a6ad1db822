/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes 4 KiB COUNT times to FILE, over and over its first MiB, for counting
 * instructions: with two counts, the difference is free of what happens only once. Hardly
 * anything gets dirty, so what is counted is next to all fast path.
 *
 *	writes COUNT FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRAP_WRITES 256

static char block[4096];

static int write_all(int fd, long count)
{
	for (long i = 0; i < count; i++) {
		if (i % WRAP_WRITES == 0 && lseek(fd, 0, SEEK_SET))
			return -1;
		if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	int fd;

	if (count < 1) {
		fprintf(stderr, "usage: writes COUNT FILE\n");
		return 2;
	}
	fd = open(argv[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write_all(fd, count) || close(fd)) {
		fprintf(stderr, "writes: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	return 0;
}
