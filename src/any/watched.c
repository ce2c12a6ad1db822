/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/watched.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "any/caller.h"
#include "base/order.h"
#include "base/report.h"
#include "host/sys.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* one number on every architecture */
#endif

#define ROWS 1024u
#define SWEEP_LEAST 64
#define CANCELLED_NS WP_SEC(1)      /* a task that truncated is waited for as long */
#define REPORT_FROM_BYTES WP_MIB(1) /* who dirtied less says nothing */

struct watched_process *watched_processes;

static const struct pace_process *like;
static int poll_fd;
static struct watched_task *rows[ROWS];
static unsigned task_count;
static unsigned sweep_at = SWEEP_LEAST;

void watched_begin(const struct pace_process *a_like, int a_poll_fd)
{
	like = a_like;
	poll_fd = a_poll_fd;
}

/* ----------------------------------------------------------------------- tasks -- */

static void close_task(struct watched_task *task)
{
	if (task->descriptors >= 0)
		close(task->descriptors);
	if (task->counts >= 0)
		close(task->counts);
}

static void free_task(struct watched_task *task)
{
	struct watched_task **at = &rows[(unsigned)task->thread % ROWS];

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	for (at = &task->process->tasks; *at != task;)
		at = &(*at)->sibling;
	*at = task->sibling;
	task->process->gone_bytes += task->io.dirtied_bytes;
	close_task(task);
	task_count--;
	free(task);
}

/* Threads end without a word; who is gone has no counts. */
static bool is_over(const struct watched_task *task)
{
	struct kernel_io io;

	return look_io(task->counts, &io) == -ESRCH;
}

static void sweep_tasks(void)
{
	for (unsigned row = 0; row < ROWS; row++) {
		struct watched_task *next;

		for (struct watched_task *task = rows[row]; task; task = next) {
			next = task->next;
			if (!task->busy && is_over(task)) {
				watched_settle(task);
				free_task(task);
			}
		}
	}
	sweep_at = 2 * task_count + SWEEP_LEAST;
}

static struct watched_process *make_process(pid_t process)
{
	struct watched_process *made = calloc(1, sizeof(*made));
	struct pace_task fresh = PACE_TASK_INIT;
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = made };

	if (!made)
		return NULL;
	made->process = process;
	made->pidfd = (int)sys_call(SYS_pidfd_open, process, 0);
	if (made->pidfd < 0 || epoll_ctl(poll_fd, EPOLL_CTL_ADD, made->pidfd, &event)) {
		if (made->pidfd >= 0)
			close(made->pidfd);
		free(made);
		return NULL;
	}
	look_name(process, made->name);
	made->error_output = -1;
	if (like->conf.stats || like->conf.verbose)
		made->error_output = look_error_output(process);
	made->pace = *like;
	made->pace.start_ns = kernel_boot_ns();
	if (!made->pace.conf.weight)
		made->pace.weight = kernel_weight((uint64_t)process);
	made->wanted = conf_wants(&made->pace.conf, made->name);
	made->tail.process = made;
	made->tail.thread = process;
	made->tail.descriptors = made->tail.counts = -1;
	made->tail.pace = fresh;
	made->next = watched_processes;
	watched_processes = made;
	return made;
}

static struct watched_process *process_of(pid_t thread)
{
	pid_t process = look_process(thread);
	struct watched_process *known = watched_processes;

	while (known && (known->process != process || known->ended))
		known = known->next;
	return known || process <= 0 ? known : make_process(process);
}

static struct watched_task *make_task(pid_t thread)
{
	struct pace_task fresh = PACE_TASK_INIT;
	struct watched_process *process = process_of(thread);
	struct watched_task *task = process ? calloc(1, sizeof(*task)) : NULL;
	struct kernel_io io;

	if (!task)
		return NULL;
	task->process = process;
	task->thread = thread;
	task->pace = fresh;
	task->descriptors = look_descriptors(thread);
	task->counts = look_counts(process->process, thread);
	if (task->descriptors < 0) {
		close_task(task);
		free(task);
		return NULL;
	}
	task->blind = look_io(task->counts, &io) < 0;
	task->next = rows[(unsigned)thread % ROWS];
	rows[(unsigned)thread % ROWS] = task;
	task->sibling = process->tasks;
	process->tasks = task;
	if (++task_count >= sweep_at)
		sweep_tasks();
	return task;
}

static struct watched_task *find_task(pid_t thread)
{
	struct watched_task *task = rows[(unsigned)thread % ROWS];

	while (task && task->thread != thread)
		task = task->next;
	return task;
}

bool watched_knows(pid_t thread)
{
	return find_task(thread) != NULL;
}

struct watched_task *watched_task(pid_t thread)
{
	struct watched_task *task = find_task(thread);

	return task && !task->process->ended ? task : make_task(thread);
}

struct watched_task *watched_renewed(struct watched_task *task)
{
	pid_t thread = task->thread;

	if (task->busy || task->blind || !is_over(task))
		return task;
	watched_settle(task);
	free_task(task);
	return make_task(thread);
}

uint64_t watched_new_dirt(struct watched_task *task)
{
	uint64_t before_bytes = task->io.dirtied_bytes;

	if (!task->blind && !task->counted)
		task->counted = !look_io(task->counts, &task->io) && task->waits;
	return sub_u64(task->io.dirtied_bytes, before_bytes);
}

/* Why not for ever: it may never write again, while others do. */
static bool has_cancelled(struct watched_task *task, uint64_t now_ns)
{
	struct kernel_io io = { 0 };

	if (task->blind || look_io(task->counts, &io) ||
	    io.cancelled_bytes <= task->cancelled_bytes)
		return false;
	if (!task->cancelled_ns)
		task->cancelled_ns = now_ns;
	if (now_ns < task->cancelled_ns + CANCELLED_NS)
		return true;
	task->cancelled_bytes = io.cancelled_bytes;
	task->cancelled_ns = 0;
	return false;
}

bool watched_has_cancelled(struct watched_process *process)
{
	uint64_t now_ns = kernel_now_ns();
	bool some = false;

	for (struct watched_task *task = process->tasks; task; task = task->sibling)
		some = has_cancelled(task, now_ns) || some;
	return some;
}

uint64_t watched_others_dirt(struct watched_process *process)
{
	uint64_t known_bytes = process->gone_bytes + process->others_bytes;
	uint64_t new_bytes;

	for (struct watched_task *task = process->tasks; task; task = task->sibling)
		known_bytes += task->io.dirtied_bytes;
	new_bytes = sub_u64(look_process_bytes(process->process), known_bytes);
	process->others_bytes += new_bytes;
	return new_bytes;
}

/*
 * Why from the counts: who asks to copy 8 EiB copies what there is; and who was interrupted, or
 * has a full device, less than it asked for.
 */
void watched_settle(struct watched_task *task)
{
	struct watched_file *file = task->pending;
	uint64_t bytes = task->pending_bytes;

	task->pending = NULL;
	if (!file)
		return;
	if (task->pending_counts)
		bytes = min_u64(bytes, watched_new_dirt(task));
	if (task->blind)
		task->io.dirtied_bytes += bytes;
	if (file->handle.backing.kind == BACKING_ASIDE)
		pace_aside(&file->process->pace, &task->pace, &file->handle, bytes);
	else
		pace_charge(&task->pace, &file->handle, bytes);
}

/* ------------------------------------------------------------------- processes -- */

static void report(const struct watched_process *process)
{
	char line[WP_REPORT_LINE_BYTES];

	if (process->ended || !process->pace.conf.stats ||
	    process->pace.totals.dirtied_bytes < REPORT_FROM_BYTES)
		return;
	look_say(process->error_output, line,
		 report_line(line, sizeof(line), process->name, process->process,
			     &process->pace.totals));
}

void watched_finish(struct watched_process *process, struct watched_task *task)
{
	struct caller before;

	if (process->finished)
		return;
	process->finished = true;
	for (struct watched_task *each = process->tasks; each; each = each->sibling) {
		watched_settle(each);
		watched_new_dirt(each);
	}
	while (process->files)
		watched_retire(process->files, task);
	if (!process->wanted)
		return;
	before = caller_set_task(task);
	pace_finish(&process->pace, &task->pace);
	caller_restore(before);
	report(process);
}

void watched_forget(struct watched_process *process)
{
	struct watched_process **at = &watched_processes;

	if (!process->ended || process->users)
		return;
	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	while (process->tasks)
		free_task(process->tasks);
	close(process->pidfd);
	if (process->error_output >= 0)
		close(process->error_output);
	free(process);
}
