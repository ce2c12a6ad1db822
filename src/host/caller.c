/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The task that calls the engine: this thread. A file of its own, because who acts for other
 * programs' tasks (src/any) has its own answers.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "host/kernel.h"
#include "host/sys.h"

bool kernel_sleep_ns(uint64_t span_ns)
{
	struct timespec span = {
		.tv_sec = (time_t)(span_ns / WP_SEC(1)),
		.tv_nsec = (long)(span_ns % WP_SEC(1)),
	};

	return !sys_call(SYS_nanosleep, &span, NULL);
}

bool kernel_block_signals(uint64_t *mask)
{
	uint64_t all = UINT64_MAX;

	return !sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, mask, sizeof(all));
}

void kernel_unblock_signals(uint64_t mask)
{
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

bool kernel_sleep_open_ns(uint64_t span_ns, uint64_t mask)
{
	struct timespec span = {
		.tv_sec = (time_t)(span_ns / WP_SEC(1)),
		.tv_nsec = (long)(span_ns % WP_SEC(1)),
	};
	long result = sys_call(SYS_ppoll, NULL, 0, &span, &mask, sizeof(mask));

	/* What a filter refuses is slept for as before. */
	return !result || (result != -EINTR && kernel_sleep_ns(span_ns));
}

uint64_t kernel_signals_pending(void)
{
	uint64_t pending = 0;

	return sys_call(SYS_rt_sigpending, &pending, sizeof(pending)) ? 0 : pending;
}

static struct kernel_io count_io(int who)
{
	struct rusage usage;

	if (sys_call(SYS_getrusage, who, &usage) < 0)
		return (struct kernel_io){ 0 };
	return (struct kernel_io){
		.dirtied_bytes = (uint64_t)usage.ru_oublock * 512,
		.read_bytes = (uint64_t)usage.ru_inblock * 512,
	};
}

struct kernel_io kernel_thread_io(void)
{
	return count_io(RUSAGE_THREAD);
}

uint64_t kernel_thread_dirtied_bytes(void)
{
	return kernel_thread_io().dirtied_bytes;
}

uint64_t kernel_process_dirtied_bytes(void)
{
	return count_io(RUSAGE_SELF).dirtied_bytes;
}

uint64_t kernel_process_id(void)
{
	return (uint64_t)sys_call(SYS_getpid);
}

uint64_t kernel_task_id(void)
{
	return (uint64_t)sys_call(SYS_getpid) << 32 | (uint64_t)sys_call(SYS_gettid);
}
