/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/serve.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "any/caller.h"
#include "any/calls.h"
#include "any/fiber.h"
#include "any/tidy.h"
#include "any/watched.h"
#include "pace/pace.h"

#define WAITS (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER)
#define FLAGS_ARGUMENT 3 /* of sync_file_range */
#define WHOLE_FILES 8    /* that are tried for a process that has not written to any */

struct job {
	struct seccomp_notif *call;
	const struct call *kind;
	struct watched_task *task;
	struct watched_file
		*known; /* that the descriptor is of, where that was seen already */
};

static struct notify *notify;
static bool keeps_books;

void serve_begin(struct notify *a_notify, bool books)
{
	notify = a_notify;
	keeps_books = books;
}

/*
 * Signal: a handler would wait with the call; so the pause ends, the debt stays. Who exits has no
 * handlers any more.
 */
static bool still_waits(void *what)
{
	const struct job *job = what;

	if (tidy_hurries() || !notify_waits(notify, job->call))
		return false;
	return job->kind->class == CALL_EXIT || !look_has_signal(job->task->thread);
}

static uint64_t argument(const struct job *job, int number)
{
	return job->call->data.args[number];
}

static bool writes(const struct job *job)
{
	return job->kind->class == CALL_WRITE || job->kind->class == CALL_COPY;
}

static int descriptor(const struct job *job)
{
	return (int)argument(job, job->kind->descriptor);
}

/* The call will have written to @file when its task comes by again. */
static void note(const struct job *job, struct watched_file *file)
{
	struct watched_task *task = job->task;

	if (file->handle.backing.kind == BACKING_NONE || file->gone)
		return;
	file->used_ns = kernel_now_ns();
	file->process->last = file;
	tidy_keep(file);
	task->pending = file;
	task->pending_counts = job->kind->class != CALL_WRITE;
	task->pending_bytes =
		job->kind->length < 0 ? UINT64_MAX : argument(job, job->kind->length);
	/* What it dirtied before is none of this call's. */
	if (task->pending_counts)
		watched_new_dirt(task);
}

static bool is_paced(const struct watched_file *file)
{
	return file->fd >= 0;
}

/* Is there nothing to decide? Then what there is to note is noted. */
static bool passes(struct job *job)
{
	if (!writes(job))
		return false;
	job->known = watched_known(job->task, descriptor(job));
	if (!job->known ||
	    (is_paced(job->known) && pace_due(&job->task->pace, &job->known->handle)))
		return false;
	note(job, job->known);
	return true;
}

/* The file of the call's descriptor, to be dropped again; NULL for none. */
static struct watched_file *hold(const struct job *job)
{
	struct watched_file *file = job->known;

	/* Order: what was read of a thread that is gone by now may be another's. What is known
	 * was found by the folder of its descriptors, which no other thread gets. */
	if (!file) {
		file = watched_look(job->task, descriptor(job));
		if (!file || !notify_waits(notify, job->call))
			return NULL;
	}
	watched_hold(file);
	return file;
}

static void visit(const struct job *job, struct watched_file *file)
{
	if (!pace_before(&file->process->pace, &job->task->pace, &file->handle, file->fd,
			 PACE_SLEEP))
		job->task->pace.charged_bytes = 0;
}

static void pause_for(const struct job *job)
{
	struct watched_file *file = hold(job);

	if (!file)
		return;
	if (is_paced(file) && pace_due(&job->task->pace, &file->handle))
		visit(job, file);
	note(job, file);
	watched_drop(file);
}

static void begin_sync(const struct job *job)
{
	struct watched_file *file;

	if (job->kind->native == SYS_sync_file_range &&
	    !(argument(job, FLAGS_ARGUMENT) & WAITS))
		return;
	file = hold(job);
	if (!file)
		return;
	if (is_paced(file))
		job->task->syncing = pace_sync_begin(
			&file->process->pace, &job->task->pace, &file->handle, file->fd);
	watched_drop(file);
}

/* A file that the process may write to, where it has not been seen to. */
static struct watched_file *find_whole(const struct job *job)
{
	struct watched_task *task = job->task;
	struct watched_file *file = task->process->last;
	int number;

	for (int nth = 0; !(file && is_paced(file)) && nth < WHOLE_FILES; nth++) {
		number = look_nth_writable(task->thread, task->descriptors, nth);
		if (number < 0)
			break;
		file = watched_look(task, number);
	}
	return file && is_paced(file) ? file : NULL;
}

/*
 * No argument says what it writes: what the process dirtied, by whichever thread (io_uring has its
 * own), is charged to what it wrote to last.
 */
static void pause_whole(const struct job *job)
{
	struct watched_process *process = job->task->process;
	struct pace_task *task = &job->task->pace;
	struct watched_file *file;
	uint64_t own_bytes = watched_new_dirt(job->task);
	uint64_t others_bytes = watched_others_dirt(process);

	if (!(own_bytes + others_bytes + task->charged_bytes))
		return;
	file = find_whole(job);
	if (!file)
		return;
	watched_hold(file);
	process->last = file;
	file->used_ns = kernel_now_ns();
	pace_charge(task, &file->handle, own_bytes);
	pace_charge_others(task, &file->handle, others_bytes);
	if (pace_due(task, &file->handle) || task->owed_bytes >= task->poll_bytes)
		visit(job, file);
	watched_drop(file);
}

static void decide(const struct job *job)
{
	switch (job->kind->class) {
	case CALL_WRITE:
	case CALL_COPY:
		pause_for(job);
		break;
	case CALL_SYNC:
		begin_sync(job);
		break;
	case CALL_WHOLE:
		pause_whole(job);
		break;
	case CALL_EXIT:
		watched_finish(job->task->process, job->task);
		break;
	case CALL_UNMOUNT:
		tidy_all();
		break;
	}
}

static void go_on(const struct job *job)
{
	if (job->task)
		job->task->waits = job->task->counted = false;
	notify_go_on(notify, job->call);
}

/* In a fiber. */
static void run(void *argument)
{
	struct job job = *(struct job *)argument;
	struct watched_process *process = job.task->process;
	struct caller before = caller_set((struct caller){
		.task = job.task,
		.waits = still_waits,
		.what = &job,
	});

	job.task->busy = true;
	process->users++;
	decide(&job);
	caller_restore(before);
	job.task->busy = false;
	process->users--;
	go_on(&job);
	watched_forget(process);
}

/* Nothing of it is of interest: an end of somebody who never came by. */
static bool is_idle_end(const struct job *job)
{
	return job->kind->class == CALL_EXIT && !keeps_books && !watched_open &&
	       !watched_knows((pid_t)job->call->pid);
}

static bool is_watched(struct job *job)
{
	job->kind = calls_find(job->call->data.arch, job->call->data.nr);
	if (!job->kind || !job->call->pid || is_idle_end(job))
		return false;
	job->task = watched_task((pid_t)job->call->pid);
	return job->task && !job->task->busy && job->task->process->wanted &&
	       !job->task->process->finished;
}

static void end_sync(struct watched_task *task)
{
	pace_sync_end(task->syncing);
	task->syncing = NULL;
}

void serve(struct seccomp_notif *call)
{
	struct job job = { .call = call };

	if (is_watched(&job)) {
		job.task->waits = true;
		end_sync(job.task);
		watched_settle(job.task);
		if (!passes(&job)) {
			if (!job.known)
				job.task = watched_renewed(job.task);
			if (job.task && fiber_start(run, &job))
				return;
		}
	}
	go_on(&job);
}
