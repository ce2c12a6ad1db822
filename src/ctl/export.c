/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepacectl export --prometheus: the text that node_exporter's textfile collector reads. Why not
 * OpenMetrics to the letter: it calls the family of a counter other than the collector does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/view.h"

/* One row's values for a family. */
struct subject {
	const struct sight *sight;
	const struct view_segment *segment;
	const struct view_device *device;
	const struct view_task *task;
};

struct family {
	const char *name; /* without the prefix, and _total of a counter */
	const char *type;
	const char *help;
	bool (*value)(const struct subject *subject, double *value);
};

#define DEVICE_VALUE(name, known, expression)                          \
	static bool name(const struct subject *subject, double *value) \
	{                                                              \
		const struct view_device *device = subject->device;    \
                                                                       \
		*value = (double)(expression);                         \
		return known;                                          \
	}

#define TASK_VALUE(name, known, expression)                            \
	static bool name(const struct subject *subject, double *value) \
	{                                                              \
		const struct view_task *task = subject->task;          \
                                                                       \
		*value = (double)(expression);                         \
		return known;                                          \
	}

DEVICE_VALUE(device_outstanding, true, device->outstanding_bytes)
DEVICE_VALUE(device_limit, device->judged, device->verdict.limit_bytes)
DEVICE_VALUE(device_inflight, true, device->inflight_bytes)
DEVICE_VALUE(device_bandwidth, device->bandwidth_bps, device->bandwidth_bps)
DEVICE_VALUE(device_dirtied, true, device->dirtied_bytes)
DEVICE_VALUE(device_written, true, device->written_bytes)
DEVICE_VALUE(device_share, true, (double)device->share_q10 / WP_Q10)
TASK_VALUE(task_dirtied, true, task->dirtied_bytes)
TASK_VALUE(task_uncovered, task->noted, task->uncovered_bytes)
TASK_VALUE(task_slept, task->noted, (double)task->slept_ns / 1e9)
TASK_VALUE(task_rate, task->judged, task->verdict.task_bps)

static const struct family device_families[] = {
	{ "device_outstanding_bytes", "gauge",
	  "Dirty and under writeback for paced programs.", device_outstanding },
	{ "device_limit_bytes", "gauge", "What may be outstanding.", device_limit },
	{ "device_inflight_bytes", "gauge", "Under writeback.", device_inflight },
	{ "device_bandwidth_bytes_per_second", "gauge", "Measured write bandwidth.",
	  device_bandwidth },
	{ "device_share_ratio", "gauge", "Share of the recent writeout.", device_share },
	{ "device_dirtied_bytes", "counter", "Dirtied by paced programs.",
	  device_dirtied },
	{ "device_written_bytes", "counter", "Written for paced programs.",
	  device_written },
	{ 0 },
};

static const struct family task_families[] = {
	{ "task_dirtied_bytes", "counter", "Dirtied by the task.", task_dirtied },
	{ "task_uncovered_bytes", "counter", "Dirtied past the library.",
	  task_uncovered },
	{ "task_slept_seconds", "counter", "Slept to be paced.", task_slept },
	{ "task_rate_bytes_per_second", "gauge", "What the task may dirty.", task_rate },
	{ 0 },
};

static void put_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			putchar('\\');
		putchar(*text);
	}
}

static void put_label(char before, const char *name, const char *value)
{
	printf("%c%s=\"", before, name);
	put_text(value);
	putchar('"');
}

static void put_name(const struct family *family)
{
	printf("writepace_%s%s", family->name,
	       strcmp(family->type, "counter") ? "" : "_total");
}

static void put_sample(const struct family *family, const struct subject *subject)
{
	double value;

	if (!family->value(subject, &value))
		return;
	put_name(family);
	put_label('{', "user", subject->segment->user);
	put_label(',', "segment", subject->segment->name);
	if (subject->device) {
		put_label(',', "device", subject->device->place.name);
	} else {
		printf(",pid=\"%u\",tid=\"%u\"", subject->task->pid, subject->task->tid);
		put_label(',', "command", subject->task->command);
	}
	printf("} %.15g\n", value);
}

static void put_head(const struct family *family)
{
	printf("# HELP ");
	put_name(family);
	printf(" %s\n# TYPE ", family->help);
	put_name(family);
	printf(" %s\n", family->type);
}

static void put_devices(const struct family *family, struct subject *subject)
{
	struct view_device device;

	subject->device = &device;
	for (size_t slot = 0; slot < WP_DEVICES; slot++)
		if (view_device(subject->sight, subject->segment, slot, &device))
			put_sample(family, subject);
	subject->device = NULL;
}

static void put_tasks(const struct family *family, struct subject *subject)
{
	struct view_task task;

	subject->task = &task;
	for (size_t slot = 0; slot < WP_TASKS; slot++)
		if (view_living_task(subject->sight, subject->segment, slot, &task))
			put_sample(family, subject);
	subject->task = NULL;
}

/* All of a family stand together, whatever segment they are of. */
static void put_families(const struct sight *sight, const struct family *family,
			 void (*put)(const struct family *family,
				     struct subject *subject))
{
	for (; family->name; family++) {
		put_head(family);
		for (size_t i = 0; i < sight->count; i++) {
			struct subject subject = { .sight = sight,
						   .segment = &sight->segments[i] };

			put(family, &subject);
		}
	}
}

static void put_all(const struct sight *sight)
{
	put_families(sight, device_families, put_devices);
	put_families(sight, task_families, put_tasks);
}

/* Why a rename: the collector must never read half a file. */
static int put_file(const struct sight *sight, const char *path)
{
	char temporary[PATH_MAX];

	if (snprintf(temporary, sizeof(temporary), "%s.%d", path, getpid()) >=
	    (int)sizeof(temporary))
		return ctl_complain("%s: too long", path);
	if (!freopen(temporary, "we", stdout))
		return ctl_complain("%s: %m", temporary);
	put_all(sight);
	if (fflush(stdout) || ferror(stdout) || rename(temporary, path)) {
		ctl_complain("%s: %m", path);
		unlink(temporary);
		return CTL_FAILED;
	}
	return CTL_DONE;
}

int run_export(struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "prometheus", no_argument, NULL, 0x100 + 'P' },
		{ "output", required_argument, NULL, 'o' },
		{ 0 },
	};
	const char *output = NULL;
	bool chosen = false;
	struct sight sight;
	int status = CTL_DONE;
	int option;

	while ((option = ctl_option(ctl, argc, argv, options)) != -1) {
		if (option == 'o')
			output = optarg;
		else
			chosen = true;
	}
	if (!chosen || optind < argc)
		return ctl_usage(ctl);
	/* nobody paced: families without samples, for a collector that finds no file complains */
	view_find(&sight, ctl);
	if (output)
		status = put_file(&sight, output);
	else
		put_all(&sight);
	view_free(&sight);
	return status;
}
