/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/filter.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/kernel.h"
#include "launch/status.h"

/* What the library does on its slow path, with nothing to do it on. */
static void make_calls(void)
{
	struct kernel_pages pages;
	struct backing backing;
	bool still;

	kernel_backing(STDERR_FILENO, &backing);
	still = kernel_still(STDERR_FILENO, &backing);
	if (!kernel_still_raw(STDERR_FILENO, &backing) || !still)
		kernel_open_flags(STDERR_FILENO);
	kernel_thread_dirtied_bytes();
	/* They fail; what counts is that they return. */
	if (!kernel_cachestat(-1, 0, 0, &pages) || !kernel_start_writeback(-1, 0, 0))
		return;
	kernel_sleep_ns(1);
	kernel_sleep_open_ns(1, 0);
	kernel_signals_pending();
	kernel_task_id();
}

static bool filter_kills(void)
{
	int status = 0;
	pid_t pid;

	if (prctl(PR_GET_SECCOMP) <= 0)
		return false;
	pid = fork();
	if (!pid) {
		make_calls();
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

int check_filter(void)
{
	if (!filter_kills())
		return 0;
	dprintf(STDERR_FILENO,
		"writepace: a filter on system calls ends programs for calls that pacing "
		"needs; let it answer with an error (SystemCallErrorNumber=EPERM)\n");
	return WP_STATUS_REFUSED;
}
