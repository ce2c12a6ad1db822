/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* writepacectl tasks */
#include "ctl/devices.h"

const struct table_column tasks_columns[] = {
	{ NULL, "user", TABLE_TEXT },
	{ NULL, "segment", TABLE_TEXT },
	{ "PID", "pid", TABLE_COUNT },
	{ NULL, "tid", TABLE_COUNT },
	{ "COMMAND", "command", TABLE_TEXT },
	{ "DEVICE", "device", TABLE_TEXT },
	{ "WEIGHT", "weight", TABLE_COUNT },
	{ "CHARGED", "charged_bytes", TABLE_BYTES },
	{ "DIRTIED", "dirtied_bytes", TABLE_BYTES },
	{ "UNCOV", "uncovered_bytes", TABLE_BYTES },
	{ "RATE", "rate_bps", TABLE_RATE },
	{ "SLEPT", "slept_ns", TABLE_SPAN },
	{ "SLEEPS", "sleeps", TABLE_COUNT },
	{ NULL, "silent_ns", TABLE_SPAN },
	{ NULL, "limit_bytes", TABLE_BYTES },
	{ NULL, "pause_ns", TABLE_SPAN },
	{ NULL, "free_running", TABLE_FLAG },
	{ NULL, "at_wall", TABLE_FLAG },
	{ NULL, "verdicts", TABLE_COUNT },
	{ 0 },
};

static void put_device(struct table *table, const struct view_task *task)
{
	struct place place;

	place_of(task->device, &place);
	table_text(table, place.name);
}

void tasks_put(struct table *table, const struct view_segment *segment,
	       const struct view_task *task)
{
	const struct verdict *verdict = &task->verdict;

	table_row(table);
	table_text(table, segment->user);
	table_text(table, segment->name);
	table_number(table, task->pid);
	table_number(table, task->tid);
	table_text(table, task->command);
	put_device(table, task);
	table_number(table, task->weight);
	table_number_if(table, task->noted, task->charged_bytes);
	table_number(table, task->dirtied_bytes);
	table_number_if(table, task->noted, task->uncovered_bytes);
	table_number_if(table, task->judged, verdict->task_bps);
	table_number_if(table, task->noted, task->slept_ns);
	table_number_if(table, task->noted, task->sleeps);
	table_number(table, task->silent_ns);
	table_number_if(table, task->judged, verdict->task_limit_bytes);
	table_number_if(table, task->judged, verdict->pause_ns);
	table_number_if(table, task->judged, verdict->free_running);
	table_number_if(table, task->judged, verdict->at_wall);
	table_number_if(table, task->noted, task->verdicts);
}

struct table *tasks_table(const struct sight *sight, bool json)
{
	struct table *table = table_new("tasks", tasks_columns, json);
	struct view_task task;

	for (size_t i = 0; i < sight->count; i++)
		for (size_t slot = 0; slot < WP_TASKS; slot++)
			if (view_living_task(sight, &sight->segments[i], slot, &task))
				tasks_put(table, &sight->segments[i], &task);
	return table;
}

int run_tasks(struct ctl *ctl, int argc, char **argv)
{
	return devices_print(ctl, argc, argv, tasks_table);
}
