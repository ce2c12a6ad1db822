/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams. libc's own write never passes a symbol, so the names that programs call are charged
 * by what they were given; nothing is formatted or buffered again here. What really became
 * dirty the kernel tells at the next slow path.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "export.h"
#include "gate.h"
#include "real.h"

#ifdef __GLIBC__
#define STREAM_FD(stream) ((stream)->_fileno)
#define STREAM_PENDING_BYTES(stream) \
	((uint64_t)((stream)->_IO_write_ptr - (stream)->_IO_write_base))
#else
#define STREAM_FD(stream) stream_fd(stream)
#define STREAM_PENDING_BYTES(stream) BUFSIZ

static int stream_fd(const FILE *stream)
{
	int saved_errno = errno;
	int fd = fileno((FILE *)(uintptr_t)stream);

	errno = saved_errno;
	return fd;
}
#endif

/*
 * Why a negative number is enough: memory and cookie streams have none, closed ones -1.
 * Why not inline: fifty copies are pages of every paced program.
 */
static __attribute__((noinline)) bool put_open(int fd)
{
	return fd >= 0 && gate_open(fd, PACE_SLEEP);
}

static __attribute__((noinline)) void put_charge(int fd, uint64_t bytes)
{
	gate_charge(fd, bytes);
}

/* In UTF-8; where another encoding is in use the kernel's count corrects it. */
static inline uint64_t wide_bytes(wint_t c)
{
	return c == WEOF ? 0 : (uint64_t)(1 + (c > 0x7f) + (c > 0x7ff) + (c > 0xffff));
}

static uint64_t wide_text_bytes(const wchar_t *text)
{
	uint64_t bytes = 0;

	while (*text)
		bytes += wide_bytes((wint_t)*text++);
	return bytes;
}

#define PUT(name, result, parameters, arguments, descriptor, bytes) \
	WP_EXPORT result name parameters                            \
	{                                                           \
		bool paced = put_open(descriptor);                  \
		result r = real_call(name) arguments;               \
                                                                    \
		if (paced)                                          \
			put_charge(descriptor, (uint64_t)(bytes));  \
		return r;                                           \
	}
#define FORMAT(name, result, parameters, last, by_list, arguments, descriptor) \
	WP_EXPORT result name parameters                                       \
	{                                                                      \
		bool paced = put_open(descriptor);                             \
		va_list list;                                                  \
		result r;                                                      \
                                                                               \
		va_start(list, last);                                          \
		r = real_call(by_list) arguments;                              \
		va_end(list);                                                  \
		if (paced && r > 0)                                            \
			put_charge(descriptor, (uint64_t)r);                   \
		return r;                                                      \
	}
#define WRITE(...)
#define OFFLOAD(...)
#define OTHER(...)
#define RAW(...)
#include "calls.def"

/*
 * The exit of the putc macros that a compiler put into the program: what they stored since the
 * last one passes here.
 */
WP_EXPORT int __overflow(FILE *stream, int c)
{
	if (put_open(STREAM_FD(stream)))
		put_charge(STREAM_FD(stream), STREAM_PENDING_BYTES(stream) + 1);
	return real_call(__overflow)(stream, c);
}

WP_EXPORT int fflush(FILE *stream)
{
	if (stream)
		(void)put_open(STREAM_FD(stream));
	return real_call(fflush)(stream);
}

WP_EXPORT int fflush_unlocked(FILE *stream)
{
	if (stream)
		(void)put_open(STREAM_FD(stream));
	return real_call(fflush_unlocked)(stream);
}

static void close_stream(const FILE *stream)
{
	if (STREAM_FD(stream) >= 0)
		gate_close(STREAM_FD(stream));
}

/*
 * Why the books are closed with stderr: the exit handlers of many programs close it before our
 * destructor runs, and the summary line would have nowhere to go.
 */
WP_EXPORT int fclose(FILE *stream)
{
	close_stream(stream);
	if (stream == stderr)
		gate_finish();
	return real_call(fclose)(stream);
}

/* A pipe; what gets its number next may be a file. */
WP_EXPORT int pclose(FILE *stream)
{
	close_stream(stream);
	return real_call(pclose)(stream);
}

WP_EXPORT FILE *freopen(const char *path, const char *mode, FILE *stream)
{
	close_stream(stream);
	return real_call(freopen)(path, mode, stream);
}

WP_EXPORT FILE *freopen64(const char *path, const char *mode, FILE *stream)
{
	close_stream(stream);
	return real_call(freopen64)(path, mode, stream);
}
