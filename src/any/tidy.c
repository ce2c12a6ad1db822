/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/tidy.h"

#include "any/caller.h"
#include "any/fiber.h"
#include "any/watched.h"
#include "base/order.h"
#include "host/kernel.h"
#include "pace/pace.h"
#include "shm/segment.h"

#define STEP_NS WP_MS(250)
#define TAIL_NS WP_SEC(1) /* as long as the helper leaves a file to its writer */
#define KEEP_NS WP_MS(50) /* after the last call */
#define KEEP_STEP_NS WP_MS(2)
#define KEEP_LONGEST_NS WP_MS(12) /* what a task dirties meanwhile is a unit at most */
#define KEEP_PART 16 /* of the processor, at most, for all looks of keepers */
#define UNKEPT 256
#define HURRY_ROUNDS 100
#define HURRY_NS WP_MS(1)

static uint64_t step_ns;
static unsigned hurries;
static unsigned keepers;
static unsigned unkept_count; /* files that wait for a fiber of their own */
static struct watched_file *unkept[UNKEPT];

bool tidy_hurries(void)
{
	return hurries;
}

static bool is_alone(void *what)
{
	const struct watched_file *file = what;

	return !hurries && file->users <= (file->gone ? 2 : 1) && !file->process->ended;
}

static bool is_clean(const struct watched_file *file)
{
	struct kernel_pages pages;

	/* Who can not ask does not know. */
	return kernel_cachestat(file->fd, 0, 0, &pages) ||
	       !(pages.dirty_bytes + pages.writeback_bytes);
}

/* The helper does it, where there is one: it finds our descriptor. */
static void tail(struct watched_file *file, struct watched_task *task)
{
	struct pace_process *process = &file->process->pace;
	uint64_t now_ns = kernel_now_ns();

	if (!word_read(&file->handle.slots))
		pace_settle(process, &task->pace, &file->handle, file->fd);
	else if (now_ns > file->used_ns + TAIL_NS &&
		 !segment_is_helped(process->segment.map, now_ns))
		pace_drain(process, &task->pace, &file->handle, file->fd);
}

static void look_after(void *argument)
{
	struct watched_file *file = argument;
	struct watched_process *process = file->process;
	struct watched_task *task = &process->tail;
	struct caller before = caller_set((struct caller){
		.task = task,
		.waits = is_alone,
		.what = file,
	});

	process->users++;
	watched_hold(file);
	if (!watched_is_there(file))
		watched_retire(file, task);
	else if (is_clean(file))
		watched_close(file, task);
	else
		tail(file, task);
	watched_drop(file);
	caller_restore(before);
	process->users--;
	watched_forget(process);
}

/* ------------------------------------------------------------ between the calls -- */

static bool is_in_use(const struct watched_file *file)
{
	return file->users || kernel_now_ns() < file->used_ns + KEEP_NS;
}

static void let_go(struct watched_file *file)
{
	file->kept = false;
	watched_hold(file);
	watched_drop(file);
}

/* Returns how long until the next time. A look at a large file with small pages takes a millisecond. */
static uint64_t tend(struct watched_file *file)
{
	struct watched_process *process = file->process;
	uint64_t begin_ns = kernel_spent_ns();
	uint64_t next_ns = UINT64_MAX;

	if (!watched_has_cancelled(process))
		next_ns = pace_tend(&process->pace, &process->tail.pace, &file->handle,
				    file->fd);
	return max_u64(clamp_u64(next_ns, KEEP_STEP_NS, KEEP_LONGEST_NS),
		       KEEP_PART * (kernel_spent_ns() - begin_ns));
}

static void keep(void *argument)
{
	struct watched_file *file = argument;
	struct watched_process *process = file->process;
	uint64_t pause_ns = KEEP_STEP_NS;
	struct caller before = caller_set((struct caller){ .task = &process->tail });

	keepers++;
	process->users++;
	while (!hurries && !file->gone && !process->ended && is_in_use(file)) {
		/* Why times their number: all together take no more of the processor. */
		caller_sleep_until(kernel_now_ns() + keepers * pause_ns);
		if (!file->users && !file->gone && file->fd >= 0)
			pause_ns = tend(file);
	}
	keepers--;
	process->users--;
	let_go(file);
	caller_restore(before);
	watched_forget(process);
}

void tidy_keep(struct watched_file *file)
{
	if (file->fd < 0 || file->kept || unkept_count == UNKEPT)
		return;
	file->kept = true;
	unkept[unkept_count++] = file;
}

static void start_keepers(void)
{
	while (unkept_count) {
		struct watched_file *file = unkept[--unkept_count];

		if (file->gone || !fiber_start(keep, file))
			let_go(file);
	}
}

/* One that was not looked at in this round. */
static struct watched_file *next_idle(uint64_t now_ns)
{
	for (struct watched_process *process = watched_processes; process;
	     process = process->next) {
		for (struct watched_file *file = process->files; file;
		     file = file->next) {
			if (file->fd >= 0 && !file->users && file->looked_ns < now_ns &&
			    file->used_ns + STEP_NS < now_ns)
				return file;
		}
	}
	return NULL;
}

uint64_t tidy_step(uint64_t now_ns)
{
	struct watched_file *file;

	start_keepers();
	if (!watched_open)
		return FIBER_NEVER;
	if (now_ns < step_ns)
		return step_ns;
	step_ns = now_ns + STEP_NS;
	while ((file = next_idle(now_ns))) {
		file->looked_ns = now_ns;
		if (!fiber_start(look_after, file))
			break;
	}
	return step_ns;
}

/* Without sleeping: nobody else must change the lists meanwhile. */
static void close_idle(void)
{
	struct caller before;

	for (struct watched_process *process = watched_processes; process;
	     process = process->next) {
		for (struct watched_file *file = process->files; file;
		     file = file->next) {
			if (file->fd < 0 || file->users)
				continue;
			before = caller_set((struct caller){ .task = &process->tail });
			watched_hold(file);
			watched_close(file, &process->tail);
			watched_drop(file);
			caller_restore(before);
		}
	}
}

void tidy_all(void)
{
	hurries++;
	for (int round = 0; watched_open && round < HURRY_ROUNDS; round++) {
		fiber_wake_all();
		caller_sleep_until(kernel_now_ns() + HURRY_NS);
		close_idle();
	}
	hurries--;
}
