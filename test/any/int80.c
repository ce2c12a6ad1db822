/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies a file in writes of 64 KiB by the 32-bit entry of the kernel, out of a program of 64 bits; x86-64
 * only, to be linked statically and below 4 GiB.
 *
 *	int80 FROM TO
 */
#include <fcntl.h>
#include <unistd.h>

#define WRITE_32 4

static char block[65536];

static int write_32(int fd, const char *bytes, int count)
{
	int result = WRITE_32;

	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"(fd), "c"(bytes), "d"(count)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

int main(int argc, char **argv)
{
	int from = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int to = argc == 3 ?
			 open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) :
			 -1;
	int got = -1;

	if (from < 0 || to < 0)
		return 2;
	while ((got = (int)read(from, block, sizeof(block))) > 0) {
		if (write_32(to, block, got) != got)
			return 1;
	}
	return got != 0;
}
