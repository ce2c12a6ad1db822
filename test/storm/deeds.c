/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same series of calls on files in every run, and what each returned, with its errno and the
 * file's offset: under whatever fails, plain and paced must print the same.
 *
 *	deeds COUNT BLOCK_BYTES DIRECTORY
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 4

static uint64_t seed = UINT64_C(88172645463325252);
static unsigned char *block;
static size_t block_bytes;
static int fds[FILES] = { -1, -1, -1, -1 };

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void tell(const char *what, unsigned file, intmax_t result)
{
	int error = errno;

	printf("%s %u: %jd errno %d at %jd\n", what, file, result, result < 0 ? error : 0,
	       (intmax_t)lseek(fds[file], 0, SEEK_CUR));
	errno = 0;
}

/* FNV-1a of all that is in it. */
static uint64_t sum_of(int fd)
{
	uint64_t sum = UINT64_C(14695981039346656037);
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, block, block_bytes, at)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			sum = (sum ^ block[i]) * UINT64_C(1099511628211);
		at += got;
	}
	return sum;
}

static void fill(void)
{
	for (size_t i = 0; i < block_bytes; i += 8) {
		uint64_t value = next_random();

		memcpy(block + i, &value, 8);
	}
}

static void open_one(unsigned file)
{
	char path[16];

	snprintf(path, sizeof(path), "deed%u", file);
	fds[file] =
		open(path, O_RDWR | O_CREAT | (next_random() % 2 ? O_APPEND : 0), 0600);
	tell("open", file, fds[file] < 0 ? -1 : 0);
}

static void end_one(unsigned file)
{
	printf("sum %u: %" PRIx64 "\n", file, sum_of(fds[file]));
	errno = 0;
	tell("close", file, close(fds[file]));
	fds[file] = -1;
}

static void put(unsigned file)
{
	size_t bytes = (size_t)(next_random() % block_bytes);
	off_t at = (off_t)(next_random() % (4 * block_bytes));
	struct iovec parts[3] = { { block, bytes / 3 },
				  { block + bytes / 3, bytes / 3 },
				  { block, bytes / 5 } };

	switch (next_random() % 4) {
	case 0:
		tell("pwrite", file, pwrite(fds[file], block, bytes, at));
		break;
	case 1:
		tell("writev", file, writev(fds[file], parts, 3));
		break;
	default:
		tell("write", file, write(fds[file], block, bytes));
	}
}

static void deed(void)
{
	unsigned file = (unsigned)(next_random() % FILES);
	uint64_t choice = next_random() % 24;

	if (fds[file] < 0)
		open_one(file);
	if (fds[file] < 0)
		return;
	if (choice == 0)
		end_one(file);
	else if (choice == 1)
		tell("fsync", file, fsync(fds[file]));
	else if (choice == 2)
		tell("fdatasync", file, fdatasync(fds[file]));
	else if (choice == 3)
		tell("ftruncate", file,
		     ftruncate(fds[file], (off_t)(next_random() % (8 * block_bytes))));
	else if (choice == 4)
		fill();
	else if (choice == 5)
		tell("lseek", file, lseek(fds[file], 0, SEEK_SET));
	else
		put(file);
}

int main(int argc, char **argv)
{
	if (argc != 4 || chdir(argv[3])) {
		fputs("usage: deeds COUNT BLOCK_BYTES DIRECTORY\n", stderr);
		return 2;
	}
	block_bytes = strtoul(argv[2], NULL, 10) / 8 * 8;
	block = calloc(1, block_bytes);
	if (!block_bytes || !block)
		return 2;
	fill();
	for (uint64_t left = strtoull(argv[1], NULL, 10); left; left--)
		deed();
	for (unsigned file = 0; file < FILES; file++)
		if (fds[file] >= 0)
			end_one(file);
	return 0;
}
