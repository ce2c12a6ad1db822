/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams. libc's own write never passes a symbol, so the names that programs call are charged
 * by what they were given; nothing is formatted or buffered again here. What really became
 * dirty the kernel tells at the next slow path.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "export.h"
#include "gate.h"
#include "real.h"

#ifdef __GLIBC__
#define STREAM_FD(stream) ((stream)->_fileno)
#define STREAM_PENDING_BYTES(stream) \
	((uint64_t)((stream)->_IO_write_ptr - (stream)->_IO_write_base) + 1)
#else
#define STREAM_FD(stream) fileno(stream)
#define STREAM_PENDING_BYTES(stream) BUFSIZ
#endif

/* Why a negative number is enough: memory and cookie streams have none, closed ones -1. */
static inline bool stream_open(FILE *stream)
{
	return STREAM_FD(stream) >= 0 && gate_open(STREAM_FD(stream), PACE_SLEEP);
}

#define PUT(name, result, parameters, arguments, stream, bytes)    \
	WP_EXPORT result name parameters                           \
	{                                                          \
		result r;                                          \
                                                                   \
		if (!stream_open(stream))                          \
			return real_call(name) arguments;          \
		r = real_call(name) arguments;                     \
		gate_charge(STREAM_FD(stream), (uint64_t)(bytes)); \
		return r;                                          \
	}
#define FORMAT(name, result, parameters, last, by_list, arguments, stream) \
	WP_EXPORT result name parameters                                   \
	{                                                                  \
		bool paced = stream_open(stream);                          \
		va_list list;                                              \
		result r;                                                  \
                                                                           \
		va_start(list, last);                                      \
		r = real_call(by_list) arguments;                          \
		va_end(list);                                              \
		if (paced && r > 0)                                        \
			gate_charge(STREAM_FD(stream), (uint64_t)r);       \
		return r;                                                  \
	}
#define WRITE(...)
#define OFFLOAD(...)
#define OTHER(...)
#include "calls.def"

WP_EXPORT int fflush(FILE *stream)
{
	if (stream)
		(void)stream_open(stream);
	return real_call(fflush)(stream);
}

WP_EXPORT int fflush_unlocked(FILE *stream)
{
	if (stream)
		(void)stream_open(stream);
	return real_call(fflush_unlocked)(stream);
}

/*
 * Why the books are closed with stderr: the exit handlers of many programs close it before our
 * destructor runs, and the summary line would have nowhere to go.
 */
WP_EXPORT int fclose(FILE *stream)
{
	if (STREAM_FD(stream) >= 0)
		gate_close(STREAM_FD(stream));
	if (stream == stderr)
		gate_finish();
	return real_call(fclose)(stream);
}
