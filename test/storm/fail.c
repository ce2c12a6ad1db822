/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second preloaded library, under which a program's own calls fail now and then, the same ones
 * in every run: FAIL=SEED. Behind ours it is what ours calls; alone it is the oracle.
 *
 * Why by the count of each call and its descriptor's kind: what fails must not depend on who else
 * calls, so standard output and error always work.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static uint64_t seed;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAIL");

	seed = text ? strtoull(text, NULL, 10) : 0;
}

/* Of the calls of this kind one in @of, by its number. */
static int is_to_fail(uint64_t *count, uint64_t of)
{
	uint64_t number = (++*count + seed * 1000003) * UINT64_C(0x9e3779b97f4a7c15);

	return seed && (number >> 40) % of == 0;
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* An error, or only part of what was asked for. */
#define FAILING(type, name, parameters, arguments, fd, short_arguments)             \
	EXPORT type name parameters;                                                \
	EXPORT type name parameters                                                 \
	{                                                                           \
		static const int errors[] = { EINTR, EIO, ENOSPC, EDQUOT, EAGAIN }; \
		static type(*real) parameters;                                      \
		static uint64_t count;                                              \
                                                                                    \
		if (!real)                                                          \
			*(void **)&real = next(#name);                              \
		if ((fd) > 2 && is_to_fail(&count, 7)) {                            \
			if (count % 2)                                              \
				return real short_arguments;                        \
			errno = errors[count % 5];                                  \
			return -1;                                                  \
		}                                                                   \
		return real arguments;                                              \
	}

FAILING(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n), fd,
	(fd, data, n / 2))
FAILING(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at),
	(fd, data, n, at), fd, (fd, data, n / 2, at))
FAILING(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at),
	(fd, data, n, at), fd, (fd, data, n / 2, at))
FAILING(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), fd,
	(fd, v, n > 1 ? n - 1 : n))
FAILING(int, fsync, (int fd), (fd), fd, (fd))
FAILING(int, fdatasync, (int fd), (fd), fd, (fd))
FAILING(int, ftruncate, (int fd, off_t n), (fd, n), fd, (fd, n))
FAILING(int, ftruncate64, (int fd, off64_t n), (fd, n), fd, (fd, n))

/* It closes, and says that it could not: as NFS does when the disk was full. */
EXPORT int close(int fd);
EXPORT int close(int fd)
{
	static int (*real)(int fd);
	static uint64_t count;
	int result;

	if (!real)
		*(void **)&real = next("close");
	result = real(fd);
	if (result || fd <= 2 || !is_to_fail(&count, 7))
		return result;
	errno = count % 2 ? EIO : EDQUOT;
	return -1;
}
