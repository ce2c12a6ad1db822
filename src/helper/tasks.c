/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/tasks.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/stamp.h"
#include "helper/read.h"
#include "host/kernel.h"
#include "host/sys.h"
#include "shm/task.h"

#define SILENT_NS WP_SEC(35) /* of a task in another pid namespace: as in shm/task.c */

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* one number on every architecture */
#endif

static bool has_ended(int pidfd)
{
	struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) != 0;
}

/*
 * Watch the process of @id, if it lives.
 * Order: the descriptor first, then the look at who it is: it can not change any more.
 */
static bool watch(struct tasks *tasks, const struct helper *helper, uint64_t id,
		  uint64_t start_ns)
{
	int pidfd = (int)sys_call(SYS_pidfd_open, id >> 32, 0);
	bool lives = read_process_lives(helper->root, id >> 32, start_ns);

	if (pidfd >= 0 && (!lives || has_ended(pidfd))) {
		close(pidfd);
		return false;
	}
	tasks->pidfd = pidfd;
	/* A kernel without such descriptors, or none left. */
	tasks->unknown = lives && pidfd < 0;
	return lives;
}

/* Does the task in this slot live? One that is known to be dead frees its slot. */
static bool look_at(struct tasks *tasks, const struct helper *helper,
		    struct wp_task *task, uint64_t now_ns)
{
	uint64_t id = word_read(&task->id);

	if (!id)
		return false;
	if (word_read(&task->namespace_id) == helper->namespace_id) {
		if (watch(tasks, helper, id, word_read(&task->start_ns)))
			return true;
		word_replace(&task->id, id, 0);
	} else if (stamp_age_ns(word_read(&task->heartbeat_ns), now_ns) < SILENT_NS) {
		tasks->unknown = true;
	}
	return false;
}

/* Why one thread and not its process: those of a pool come and go while that lives. */
static bool is_gone(uint64_t id)
{
	return sys_call(SYS_tgkill, id >> 32, id & UINT32_MAX, 0) == -ESRCH;
}

void tasks_sweep(const struct helper *helper)
{
	for (size_t slot = 0; slot < WP_TASKS; slot++) {
		struct wp_task *task = &helper->map->tasks[slot];
		uint64_t id = word_read_relaxed(&task->id);

		if (id && word_read(&task->namespace_id) == helper->namespace_id &&
		    is_gone(id))
			word_replace(&task->id, id, 0);
	}
}

void tasks_forget(struct tasks *tasks)
{
	if (tasks->pidfd >= 0)
		close(tasks->pidfd);
	tasks->pidfd = -1;
}

bool tasks_live(struct tasks *tasks, const struct helper *helper, uint64_t now_ns)
{
	if (tasks->pidfd >= 0) {
		if (!has_ended(tasks->pidfd))
			return true;
		tasks_forget(tasks);
	}
	tasks->unknown = false;
	for (size_t slot = 0; slot < WP_TASKS; slot++) {
		if (look_at(tasks, helper, &helper->map->tasks[slot], now_ns))
			return true;
	}
	return tasks->unknown;
}
