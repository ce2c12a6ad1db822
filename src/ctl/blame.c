/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepacectl blame: who dirtied how much, whom the kernel held up, who waited in fsync; all
 * programs, paced or not, as the observer saw them. Users see their own, root everybody's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stamp.h"
#include "conf/unit.h"
#include "ctl/ctl.h"
#include "ctl/place.h"
#include "ctl/table.h"
#include "host/kernel.h"
#include "publish/publish.h"

struct blame {
	const char *folder;
	const char *device; /* as asked for, NULL = all */
	struct place place; /* it */
	uint64_t span_ns;   /* 0 = since the observer began */
};

struct tasks {
	uint32_t count;
	struct wp_published_task tasks[WP_PUBLISHED_TASKS];
};

static const struct table_column columns[] = {
	{ "PID", "pid", TABLE_COUNT },
	{ "UID", "uid", TABLE_COUNT },
	{ "COMMAND", "command", TABLE_TEXT },
	{ "DEVICE", "name", TABLE_TEXT },
	{ "NUMBER", "device", TABLE_TEXT },
	{ "DIRTIED", "dirtied_bytes", TABLE_BYTES },
	{ "HELD", "kernel_paused_ns", TABLE_SPAN },
	{ NULL, "kernel_pauses", TABLE_COUNT },
	{ "FSYNC", "fsync_ns", TABLE_SPAN },
	{ "FSYNCS", "fsyncs", TABLE_COUNT },
	{ 0 },
};

/* ------------------------------------------------------------------------ look -- */

static bool observer_runs(const char *folder)
{
	static struct wp_published_device devices[WP_PUBLISHED_DEVICES];
	struct wp_published_set set;

	return published_read(folder, "devices", &set, devices, sizeof(devices[0]),
			      WP_PUBLISHED_DEVICES) &&
	       stamp_age_ns(set.heartbeat_ns, kernel_now_ns()) < WP_PUBLISHED_FRESH_NS;
}

static void look(struct tasks *tasks, const char *folder)
{
	tasks->count = published_tasks(folder, tasks->tasks, WP_PUBLISHED_TASKS);
}

static const struct wp_published_task *find(const struct tasks *tasks,
					    const struct wp_published_task *task)
{
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct wp_published_task *other = &tasks->tasks[i];

		if (other->pid == task->pid && other->device == task->device)
			return other;
	}
	return NULL;
}

/* Sums that fell belong to a process that got the number of one before. */
static void subtract(struct wp_published_task *task,
		     const struct wp_published_task *before)
{
	if (!before || before->dirtied_bytes > task->dirtied_bytes)
		return;
	task->dirtied_bytes -= before->dirtied_bytes;
	task->pauses = sub_u64(task->pauses, before->pauses);
	task->paused_ns = sub_u64(task->paused_ns, before->paused_ns);
	task->syncs = sub_u64(task->syncs, before->syncs);
	task->sync_ns = sub_u64(task->sync_ns, before->sync_ns);
}

static bool has_done_anything(const struct wp_published_task *task)
{
	return task->dirtied_bytes || task->pauses || task->syncs;
}

static bool is_asked_for(const struct wp_published_task *task, const struct blame *blame)
{
	return !blame->device || task->device == blame->place.number ||
	       task->device == blame->place.disk;
}

/* What is asked for stays: of the device, since the look before. */
static void select_tasks(struct tasks *tasks, const struct tasks *before,
			 const struct blame *blame)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tasks->count; i++) {
		struct wp_published_task task = tasks->tasks[i];

		subtract(&task, find(before, &task));
		if (is_asked_for(&task, blame) && has_done_anything(&task))
			tasks->tasks[kept++] = task;
	}
	tasks->count = kept;
}

/* ------------------------------------------------------------------------ show -- */

static int most_first(const void *a, const void *b)
{
	const struct wp_published_task *one = a;
	const struct wp_published_task *other = b;

	if (one->dirtied_bytes != other->dirtied_bytes)
		return one->dirtied_bytes > other->dirtied_bytes ? -1 : 1;
	if (one->sync_ns != other->sync_ns)
		return one->sync_ns > other->sync_ns ? -1 : 1;
	return one->pid < other->pid ? -1 : one->pid > other->pid;
}

static void put(struct table *table, const struct wp_published_task *task)
{
	struct place place;

	place_of(task->device, &place);
	table_row(table);
	table_number(table, task->pid);
	table_number(table, task->uid);
	table_text(table, task->name);
	table_text(table, place.name);
	table_text(table, place.id);
	table_number(table, task->dirtied_bytes);
	table_number(table, task->paused_ns);
	table_number(table, task->pauses);
	table_number(table, task->sync_ns);
	table_number(table, task->syncs);
}

static void show(const struct tasks *tasks, bool json)
{
	struct table *table = table_new("tasks", columns, json);

	for (uint32_t i = 0; i < tasks->count; i++)
		put(table, &tasks->tasks[i]);
	table_print(table);
	table_free(table);
}

/* --------------------------------------------------------------------- options -- */

enum { OPTION_FOLDER = 512 }; /* no letter, and none of those that all commands have */

/* CTL_DONE, or what to end with. */
static int read_option(struct blame *blame, int option, const char *value)
{
	switch (option) {
	case 'd':
		blame->device = value;
		return place_find(value, &blame->place) ?
			       ctl_complain("%s: not a device, and no path", value) :
			       CTL_DONE;
	case 't':
		return unit_parse(unit_durations, "", value, &blame->span_ns) &&
				       blame->span_ns ?
			       CTL_DONE :
			       ctl_complain("%s: not a time (5s, 500ms, 1min)", value);
	default:
		blame->folder = value;
		return CTL_DONE;
	}
}

int run_blame(struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "time", required_argument, NULL, 't' },
		{ "folder", required_argument, NULL, OPTION_FOLDER }, /* for tests */
		{ 0 },
	};
	static struct tasks before;
	static struct tasks after;
	struct blame blame = { .folder = WP_PUBLISHED_FOLDER };
	int option;

	while ((option = ctl_option(ctl, argc, argv, options)) != -1)
		if (read_option(&blame, option, optarg))
			return CTL_FAILED;
	if (optind < argc)
		return ctl_usage(ctl);
	if (!observer_runs(blame.folder))
		return ctl_complain("no writepace-observer runs; it takes root");
	if (blame.span_ns) {
		look(&before, blame.folder);
		kernel_sleep_ns(blame.span_ns);
	}
	look(&after, blame.folder);
	select_tasks(&after, &before, &blame);
	qsort(after.tasks, after.count, sizeof(after.tasks[0]), most_first);
	show(&after, ctl->json);
	return CTL_DONE;
}
