/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What host/caller.c is for a thread of our own. A fiber that wakes finds its caller again.
 */
#include "any/caller.h"

#include "any/fiber.h"
#include "any/look.h"
#include "host/kernel.h"

static struct caller now;

struct caller caller_set(struct caller caller)
{
	struct caller before = now;

	now = caller;
	return before;
}

struct caller caller_set_task(struct watched_task *task)
{
	struct caller caller = now;

	caller.task = task;
	return caller_set(caller);
}

void caller_restore(struct caller before)
{
	now = before;
}

const struct watched_process *caller_process(void)
{
	return now.task->process;
}

void caller_sleep_until(uint64_t wake_ns)
{
	struct caller own = now;

	fiber_sleep_until(wake_ns);
	now = own;
}

bool kernel_sleep_ns(uint64_t span_ns)
{
	if (!fiber_inside() || !now.waits)
		return false;
	caller_sleep_until(kernel_now_ns() + span_ns);
	return now.waits(now.what);
}

/* The supervisor has none that concern its callers. */
bool kernel_block_signals(uint64_t *mask)
{
	(void)mask;
	return false;
}

void kernel_unblock_signals(uint64_t mask)
{
	(void)mask;
}

bool kernel_sleep_open_ns(uint64_t span_ns, uint64_t mask)
{
	(void)mask;
	return kernel_sleep_ns(span_ns);
}

/* A pause is cut by those that are there when it wakes: kernel_sleep_ns() says so. */
uint64_t kernel_signals_pending(void)
{
	return 0;
}

uint64_t kernel_thread_dirtied_bytes(void)
{
	watched_new_dirt(now.task);
	return now.task->io.dirtied_bytes;
}

struct kernel_io kernel_thread_io(void)
{
	struct watched_task *task = now.task;
	struct kernel_io io;

	watched_new_dirt(task);
	io = task->io;
	io.cancelled_bytes = sub_u64(io.cancelled_bytes, task->cancelled_bytes);
	task->cancelled_bytes = task->io.cancelled_bytes;
	task->cancelled_ns = 0;
	return io;
}

uint64_t kernel_process_dirtied_bytes(void)
{
	uint64_t bytes = 0;

	/* Before there is anybody: of the supervisor, which writes nothing. */
	if (!now.task)
		return 0;
	for (struct watched_task *task = now.task->process->tasks; task;
	     task = task->sibling)
		bytes += task->io.dirtied_bytes;
	return bytes + now.task->process->gone_bytes + now.task->process->others_bytes;
}

uint64_t kernel_process_id(void)
{
	return (uint64_t)now.task->process->process;
}

uint64_t kernel_task_id(void)
{
	return kernel_process_id() << 32 | (uint64_t)now.task->thread;
}
