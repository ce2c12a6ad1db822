/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/watched.h"

#include <stdlib.h>
#include <unistd.h>

#include "any/caller.h"

unsigned watched_open;

/* What all pipes and sockets are: nobody remembers them. */
static struct watched_file nothing = { .fd = -1, .handle.backing.kind = BACKING_NONE };

void watched_hold(struct watched_file *file)
{
	file->users++;
}

static void close_fd(struct watched_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	watched_open--;
}

void watched_drop(struct watched_file *file)
{
	if (--file->users || file->kept || !file->gone)
		return;
	close_fd(file);
	free(file);
}

static void settle_file(struct watched_file *file)
{
	for (struct watched_task *task = file->process->tasks; task;
	     task = task->sibling) {
		if (task->pending == file)
			watched_settle(task);
	}
}

void watched_close(struct watched_file *file, struct watched_task *task)
{
	struct caller before = caller_set_task(task);

	settle_file(file);
	if (file->fd >= 0)
		pace_close(&file->process->pace, &task->pace, &file->handle, file->fd);
	caller_restore(before);
	if (file->users <= 1)
		close_fd(file);
}

static void unlink_file(struct watched_file *file)
{
	struct watched_file **at = &file->process->files;

	while (*at && *at != file)
		at = &(*at)->next;
	if (*at)
		*at = file->next;
	if (file->process->last == file)
		file->process->last = NULL;
	file->gone = true;
}

void watched_retire(struct watched_file *file, struct watched_task *task)
{
	watched_hold(file);
	unlink_file(file);
	watched_close(file, task);
	watched_drop(file);
}

static struct watched_file *find_file(const struct watched_process *process, int number)
{
	struct watched_file *file = process->files;

	while (file && file->number != number)
		file = file->next;
	return file;
}

static bool is_same(const struct watched_file *file, const struct look_file *seen)
{
	return file->seen.device == seen->device && file->seen.inode == seen->inode;
}

bool watched_is_there(const struct watched_file *file)
{
	struct look_file seen;
	const struct watched_task *task = file->process->tasks;

	return task && look_at(task->descriptors, file->number, &seen) &&
	       is_same(file, &seen);
}

static bool is_paced(const struct watched_file *file)
{
	return file->handle.backing.kind == BACKING_FILE ||
	       file->handle.backing.kind == BACKING_BLOCK;
}

struct watched_file *watched_known(struct watched_task *task, int number)
{
	struct watched_file *file;
	struct look_file seen;

	if (!look_at(task->descriptors, number, &seen))
		return NULL;
	if (!seen.pacable)
		return &nothing;
	file = find_file(task->process, number);
	return file && is_same(file, &seen) && (file->fd >= 0 || !is_paced(file)) ? file :
										    NULL;
}

static void open_file(struct watched_file *file, const struct watched_task *task)
{
	file->fd = look_open(task->thread, task->descriptors, file->number, &file->seen,
			     &file->handle.backing);
	if (file->fd >= 0)
		watched_open++;
}

static struct watched_file *make_file(struct watched_task *task, int number,
				      const struct look_file *seen)
{
	struct watched_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->process = task->process;
	file->number = number;
	file->seen = *seen;
	open_file(file, task);
	file->next = task->process->files;
	task->process->files = file;
	return file;
}

struct watched_file *watched_look(struct watched_task *task, int number)
{
	struct watched_file *file = find_file(task->process, number);
	struct look_file seen;
	bool there = look_at(task->descriptors, number, &seen);

	if (file && (!there || !is_same(file, &seen))) {
		watched_retire(file, task);
		/* Another thread may have been here meanwhile. */
		file = find_file(task->process, number);
		there = look_at(task->descriptors, number, &seen);
		if (file && !(there && is_same(file, &seen)))
			return NULL;
	}
	if (!there)
		return NULL;
	if (!file)
		return make_file(task, number, &seen);
	if (file->fd < 0 && is_paced(file))
		open_file(file, task);
	return file;
}
