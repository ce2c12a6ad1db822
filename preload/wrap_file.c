/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls on whole files.
 */
#include <fcntl.h>

#include "export.h"
#include "gate.h"
#include "real.h"

/*
 * Where a file system can not reserve blocks, libc writes a byte into each of them: charged is
 * what that dirtied.
 */
#define POSIX_FALLOCATE(name, type)                                            \
	WP_EXPORT int name(int fd, type at, type n)                            \
	{                                                                      \
		uint64_t before_bytes;                                         \
		int r;                                                         \
                                                                               \
		if (!gate_open(fd, PACE_SLEEP))                                \
			return real_call(name)(fd, at, n);                     \
		before_bytes = kernel_thread_dirtied_bytes();                  \
		r = real_call(name)(fd, at, n);                                \
		gate_charge(fd, kernel_thread_dirtied_bytes() - before_bytes); \
		return r;                                                      \
	}

POSIX_FALLOCATE(posix_fallocate, off_t)
POSIX_FALLOCATE(posix_fallocate64, off64_t)
