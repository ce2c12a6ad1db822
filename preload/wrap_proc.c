/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ends of a process that run no destructor, and filters after which our own system calls may
 * kill the program.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "export.h"
#include "gate.h"
#include "host/sys.h"
#include "real.h"

/* Why raw: libc's own does no more, and must not come back. */
static __attribute__((noreturn)) void end_process(int status)
{
	gate_finish();
	for (;;)
		sys_call(SYS_exit_group, status);
}

WP_EXPORT void _exit(int status)
{
	end_process(status);
}

WP_EXPORT void _Exit(int status)
{
	end_process(status);
}

WP_EXPORT void quick_exit(int status)
{
	gate_finish();
	real_call(quick_exit)(status);
	end_process(status);
}

WP_EXPORT int prctl(int option, ...)
{
	unsigned long values[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		values[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_SECCOMP)
		gate_retire();
	if (wp_unlikely(!real.prctl))
		return (int)with_errno(sys_call(SYS_prctl, option, values[0], values[1],
						values[2], values[3]));
	return real.prctl(option, values[0], values[1], values[2], values[3]);
}
