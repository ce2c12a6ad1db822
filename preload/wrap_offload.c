/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies inside the kernel. Programs ask for 8 EiB in one call and the kernel throttles inside
 * it; we can not, so the length is clamped: a short result is legal.
 */
#include <fcntl.h>

#include "export.h"
#include "gate.h"
#include "host/sys.h"
#include "parts.h"
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

void offload_before(struct offload *offload, int fd, size_t *n)
{
	offload->fd = fd;
	offload->paced = gate_open(fd, PACE_SLEEP);
	if (!offload->paced)
		return;
	*n = clamped(fd, *n);
	if (gate_entry(fd)->handle.backing.reflinks)
		offload->before_bytes = kernel_thread_dirtied_bytes();
}

void offload_after(const struct offload *offload, ssize_t result)
{
	if (result <= 0 || !offload->paced) {
		gate_aside(offload->fd, result);
		return;
	}
	gate_charge(offload->fd, (uint64_t)result);
	if (gate_entry(offload->fd)->handle.backing.reflinks)
		sharing = kernel_thread_dirtied_bytes() - offload->before_bytes <
			  (uint64_t)result / 8;
}

#define UNWRAP(...) __VA_ARGS__
#define OFFLOAD(name, result, parameters, arguments, output, length, number) \
	result early_##name parameters                                       \
	{                                                                    \
		return with_errno(sys_call(number, UNWRAP arguments));       \
	}                                                                    \
	WP_EXPORT result name parameters                                     \
	{                                                                    \
		struct offload offload;                                      \
		ssize_t r;                                                   \
                                                                             \
		offload_before(&offload, output, &length);                   \
		r = real.name arguments;                                     \
		offload_after(&offload, r);                                  \
		return r;                                                    \
	}
#define WRITE(...)
#define PUT(...)
#define FORMAT(...)
#define OTHER(...)
#define RAW(...)
#include "calls.def"
