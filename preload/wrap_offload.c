/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies inside the kernel. Programs ask for 8 EiB in one call and the kernel throttles inside
 * it; we can not, so the length is clamped: a short result is legal.
 */
#include <fcntl.h>

#include "export.h"
#include "gate.h"
#include "host/sys.h"
#include "real.h"

#define SHARE_BYTES WP_GIB(1) /* asked for at once while a copy shares extents */

/* Did the last piece of this thread dirty next to nothing? Then the next may be long. */
static __thread bool sharing __attribute__((tls_model("initial-exec")));

static size_t clamped(int fd, size_t n)
{
	if (sharing && gate_entry(fd)->handle.backing.reflinks)
		return (size_t)min_u64(n, SHARE_BYTES);
	/* Why at least: a clone in small parts would fragment; 1 MiB first shows what it is. */
	if (gate_entry(fd)->handle.backing.reflinks)
		return (size_t)min_u64(n, max_u64(gate_task.piece_bytes, WP_MIB(1)));
	return (size_t)min_u64(n, gate_task.piece_bytes);
}

static uint64_t dirtied_before(int fd)
{
	return gate_entry(fd)->handle.backing.reflinks ? kernel_thread_dirtied_bytes() :
							 0;
}

static void learn_sharing(int fd, uint64_t before_bytes, uint64_t copied_bytes)
{
	if (gate_entry(fd)->handle.backing.reflinks)
		sharing = kernel_thread_dirtied_bytes() - before_bytes < copied_bytes / 8;
}

#define UNWRAP(...) __VA_ARGS__
#define OFFLOAD(name, result, parameters, arguments, output, length, number) \
	result early_##name parameters                                       \
	{                                                                    \
		return with_errno(sys_call(number, UNWRAP arguments));       \
	}                                                                    \
	WP_EXPORT result name parameters                                     \
	{                                                                    \
		uint64_t before_bytes;                                       \
		ssize_t r;                                                   \
                                                                             \
		if (!gate_open(output, PACE_SLEEP))                          \
			return real.name arguments;                          \
		length = clamped(output, length);                            \
		before_bytes = dirtied_before(output);                       \
		r = real.name arguments;                                     \
		if (r > 0) {                                                 \
			gate_charge(output, (uint64_t)r);                    \
			learn_sharing(output, before_bytes, (uint64_t)r);    \
		}                                                            \
		return r;                                                    \
	}
#define WRITE(...)
#define PUT(...)
#define FORMAT(...)
#define OTHER(...)
#include "calls.def"
