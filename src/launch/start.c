/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/start.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/order.h"
#include "host/kernel.h"
#include "shm/segment.h"
#include "shm/task.h"

#define INIT_PID 1

static bool enter_task(struct wp_segment *map, uint64_t pid)
{
	struct task_identity identity = {
		.id = pid << 32 | pid,
		.start_ns = kernel_boot_ns(),
	};
	struct stat st;

	if (stat("/proc/self/ns/pid", &st))
		return false;
	identity.namespace_id = st.st_ino;
	task_slot(map, -1, &identity, kernel_now_ns());
	return true;
}

/*
 * Why asked by a wake-up: only a helper that runs waits for one. A pid may be reused or of
 * another namespace, and the heartbeat of one that has nothing to do is old.
 */
static bool has_helper(struct wp_header *header)
{
	return word_read(&header->helper_id) && kernel_wake(&header->wake) > 0;
}

/* Why its own input and output first: with no descriptor to spare it gets these all the same. */
static void let_go(void)
{
	kernel_close_from(STDERR_FILENO + 1);
	close(STDIN_FILENO);
	if (open("/dev/null", O_RDWR) == STDIN_FILENO) {
		dup2(STDIN_FILENO, STDOUT_FILENO);
		dup2(STDIN_FILENO, STDERR_FILENO);
	} else {
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
	}
}

/* In a vfork child. */
static _Noreturn void become_helper(const char *path)
{
	char option[] = "--foreground"; /* it is detached already */
	char *arguments[] = { (char *)(uintptr_t)path, option, NULL };

	let_go();
	setsid();
	if (!chdir("/"))
		execv(path, arguments);
	_exit(0);
}

/* One that is found damaged is private from then on. */
static void attach(struct segment *segment, const char *name)
{
	segment_attach(segment, name);
	if (segment->state == SEGMENT_SHARED && segment_ready(segment) &&
	    segment->state != SEGMENT_SHARED)
		segment_renew(segment, name);
}

void start_helper(const char *path, const char *segment_name, uint64_t pid)
{
	static struct segment segment;

	/* Why: who is the first of its namespace gets every orphan for a child, a helper too. */
	if (pid <= INIT_PID)
		return;
	attach(&segment, segment_name);
	/*
	 * Order: the task first, then the look for a helper. One that leaves does the opposite, so
	 * either it finds our task and stays, or we find it gone (helper/main.c).
	 */
	if (!segment_ready(&segment) || segment.state != SEGMENT_SHARED ||
	    !enter_task(segment.map, pid) || has_helper(&segment.map->header))
		return;
	/* Why without what the caller preloads: it is no part of the command. */
	unsetenv("LD_PRELOAD");
	/* We end at once, and leave it to nobody that the command could wait for. */
	if (!vfork())
		become_helper(path);
}
