/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors that are closed or replaced.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#include "export.h"
#include "gate.h"
#include "host/sys.h"
#include "real.h"

/* Why apart from the exported names: a program may have a close() of its own that calls __close(). */
static int close_fd(int fd)
{
	gate_close(fd);
	if (wp_unlikely(!real.close))
		return (int)with_errno(sys_call(SYS_close, fd));
	return real.close(fd);
}

WP_EXPORT int close(int fd)
{
	return close_fd(fd);
}

static int dup_to(int from, int to)
{
	if (from != to)
		gate_close(to);
	if (wp_likely(real.dup2 != NULL))
		return real.dup2(from, to);
	if (from == to)
		return (int)with_errno(sys_call(SYS_fcntl, from, F_GETFD)) < 0 ? -1 : to;
	return (int)with_errno(sys_call(SYS_dup3, from, to, 0));
}

WP_EXPORT int __close(int fd)
{
	return close_fd(fd);
}

WP_EXPORT int dup2(int from, int to)
{
	return dup_to(from, to);
}

WP_EXPORT int __dup2(int from, int to)
{
	return dup_to(from, to);
}

WP_EXPORT int dup3(int from, int to, int flags)
{
	if (from != to)
		gate_close(to);
	if (wp_unlikely(!real.dup3))
		return (int)with_errno(sys_call(SYS_dup3, from, to, flags));
	return real.dup3(from, to, flags);
}

WP_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	if (!((unsigned int)flags & CLOSE_RANGE_CLOEXEC))
		gate_close_range(first, last);
	if (wp_unlikely(!real.close_range))
		return (int)with_errno(sys_call(SYS_close_range, first, last, flags));
	return real.close_range(first, last, flags);
}

WP_EXPORT void closefrom(int first)
{
	gate_close_range(first < 0 ? 0 : (uint32_t)first, UINT32_MAX);
	real_call(closefrom)(first);
}
