/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* writepacectl status: a few lines for people, a row a segment for programs. */
#include <stdio.h>
#include <unistd.h>

#include "ctl/human.h"
#include "ctl/table.h"
#include "ctl/view.h"
#include "helper/memory.h"
#include "helper/read.h"
#include "shm/setting.h"

struct status {
	size_t tasks;
	size_t devices;
	uint64_t outstanding_bytes;
	uint64_t limit_bytes; /* over all devices, of the newest verdict */
	uint64_t limit_ns;
	uint64_t bandwidth_bps;
	uint64_t uncovered_bytes;
};

static void add_device(struct status *status, const struct view_device *device)
{
	status->devices++;
	status->outstanding_bytes += device->outstanding_bytes;
	if (!device->judged || device->verdict.view.now_ns < status->limit_ns)
		return;
	status->limit_ns = device->verdict.view.now_ns;
	status->limit_bytes = device->verdict.global_bytes;
}

static struct status sum_up(const struct sight *sight, const struct view_segment *segment)
{
	struct status status = { .bandwidth_bps =
					 segment->copy->header.bandwidth_in_use_bps };
	struct view_device device;
	struct view_task task;

	for (size_t i = 0; i < WP_DEVICES; i++)
		if (view_device(sight, segment, i, &device))
			add_device(&status, &device);
	for (size_t i = 0; i < WP_TASKS; i++) {
		if (!view_living_task(sight, segment, i, &task))
			continue;
		status.tasks++;
		status.uncovered_bytes += task.uncovered_bytes;
	}
	return status;
}

struct kernel_lines {
	uint64_t dirty_bytes;
	uint64_t threshold_bytes;
	uint64_t background_bytes;
};

static struct kernel_lines read_kernel(void)
{
	struct kernel_lines lines = { .dirty_bytes = place_all_dirty_bytes() };
	uint64_t page_bytes = (uint64_t)getpagesize();
	char text[16384];

	if (read_text(text, sizeof(text), "/proc/vmstat")) {
		lines.threshold_bytes =
			read_value(text, "\nnr_dirty_threshold ") * page_bytes;
		lines.background_bytes =
			read_value(text, "\nnr_dirty_background_threshold ") * page_bytes;
	}
	return lines;
}

static uint64_t kernel_limit_bytes(const struct sight *sight,
				   const struct view_segment *segment)
{
	uint64_t bytes = segment->copy->header.kernel_limit_bytes;

	return bytes && view_is_helped(sight, segment) ? bytes :
							 memory_kernel_limit_bytes("");
}

static uint64_t pressure_q10(const struct sight *sight,
			     const struct view_segment *segment)
{
	uint64_t factor_q10 = segment->copy->header.pressure_q10;

	return factor_q10 && factor_q10 < WP_Q10 && view_is_helped(sight, segment) ?
		       factor_q10 :
		       WP_Q10;
}

/* ------------------------------------------------------------------ json ---- */

static const struct table_column columns[] = {
	{ "USER", "user", TABLE_TEXT },
	{ "SEGMENT", "segment", TABLE_TEXT },
	{ NULL, "path", TABLE_TEXT },
	{ NULL, "active", TABLE_FLAG },
	{ NULL, "tasks", TABLE_COUNT },
	{ NULL, "devices", TABLE_COUNT },
	{ NULL, "source", TABLE_TEXT },
	{ NULL, "helper_pid", TABLE_COUNT },
	{ NULL, "outstanding_bytes", TABLE_BYTES },
	{ NULL, "limit_bytes", TABLE_BYTES },
	{ NULL, "bandwidth_in_use_bps", TABLE_RATE },
	{ NULL, "uncovered_bytes", TABLE_BYTES },
	{ NULL, "kernel_limit_bytes", TABLE_BYTES },
	{ NULL, "pressure", TABLE_RATIO },
	{ NULL, "set_limit_bytes", TABLE_BYTES },
	{ NULL, "set_drain_ns", TABLE_SPAN },
	{ NULL, "kernel_dirty_bytes", TABLE_BYTES },
	{ NULL, "kernel_threshold_bytes", TABLE_BYTES },
	{ NULL, "kernel_background_bytes", TABLE_BYTES },
	{ 0 },
};

static void put_row(struct table *table, const struct sight *sight,
		    const struct view_segment *segment)
{
	const struct wp_segment *copy = segment->copy;
	uint64_t limit_bytes = setting_value(&copy->settings.limit_bytes);
	uint64_t drain_ns = setting_value(&copy->settings.drain_ns);
	struct status status = sum_up(sight, segment);
	struct kernel_lines kernel = read_kernel();

	table_row(table);
	table_text(table, segment->user);
	table_text(table, segment->name);
	table_text(table, segment->path);
	table_number(table, status.tasks > 0);
	table_number(table, status.tasks);
	table_number(table, status.devices);
	table_text(table, view_source(sight, segment));
	table_number_if(table, view_is_helped(sight, segment),
			copy->header.helper_id >> 32);
	table_number(table, status.outstanding_bytes);
	table_number_if(table, status.limit_ns, status.limit_bytes);
	table_number(table, status.bandwidth_bps);
	table_number(table, status.uncovered_bytes);
	table_number(table, kernel_limit_bytes(sight, segment));
	table_number(table, pressure_q10(sight, segment));
	table_number_if(table, limit_bytes, limit_bytes);
	table_number_if(table, drain_ns, drain_ns);
	table_number(table, kernel.dirty_bytes);
	table_number(table, kernel.threshold_bytes);
	table_number(table, kernel.background_bytes);
}

static void print_json(const struct sight *sight)
{
	struct table *table = table_new("status", columns, true);

	for (size_t i = 0; i < sight->count; i++)
		put_row(table, sight, &sight->segments[i]);
	table_print(table);
	table_free(table);
}

/* ---------------------------------------------------------------- people ---- */

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void print_head(const struct view_segment *segment, const struct status *status)
{
	printf("%s, %s%s: ", segment->user,
	       *segment->name ? "segment " : "common segment", segment->name);
	if (status->tasks)
		printf("pacing %zu task%s, %zu device%s known\n", status->tasks,
		       plural(status->tasks), status->devices, plural(status->devices));
	else
		printf("nobody is paced now, %zu device%s known\n", status->devices,
		       plural(status->devices));
}

static void print_limits(const struct sight *sight, const struct view_segment *segment,
			 const struct status *status)
{
	const struct wp_settings *settings = &segment->copy->settings;
	uint64_t limit_bytes = setting_value(&settings->limit_bytes);
	uint64_t drain_ns = setting_value(&settings->drain_ns);
	uint64_t factor_q10 = pressure_q10(sight, segment);
	char one[HUMAN_BYTES];
	char other[HUMAN_BYTES];

	printf("  outstanding  %s", human_bytes(one, status->outstanding_bytes));
	if (status->limit_ns)
		printf(" of %s allowed", human_bytes(other, status->limit_bytes));
	printf("\n  kernel       our limits stay below %s\n",
	       human_bytes(one, kernel_limit_bytes(sight, segment)));
	if (factor_q10 < WP_Q10)
		printf("  memory       under pressure: limits at %s\n",
		       human_ratio(one, factor_q10));
	if (status->uncovered_bytes)
		printf("  uncovered    %s dirtied past the library\n",
		       human_bytes(one, status->uncovered_bytes));
	if (limit_bytes)
		printf("  set          limit %s\n", human_bytes(one, limit_bytes));
	if (drain_ns)
		printf("  set          drain target %s\n", human_span(one, drain_ns));
}

static void print_segment(const struct sight *sight, const struct view_segment *segment)
{
	struct status status = sum_up(sight, segment);

	print_head(segment, &status);
	print_limits(sight, segment, &status);
	printf("  completions  by %s\n", view_source(sight, segment));
	if (view_is_helped(sight, segment))
		printf("  helper       pid %llu\n",
		       (unsigned long long)(segment->copy->header.helper_id >> 32));
	else
		printf("  helper       none now\n");
}

/* Where root has limited a device for everybody, that counts for us too. */
static void print_strict(const struct view_device *device)
{
	const char *bdi = device->place.bdi;
	char text[HUMAN_BYTES];

	if (read_number("/sys/class/bdi/%s/strict_limit", bdi))
		printf("  %s has strict_limit: at most %s outstanding, %llu%%\n",
		       device->place.name,
		       human_bytes(text, read_number("/sys/class/bdi/%s/max_bytes", bdi)),
		       (unsigned long long)read_number("/sys/class/bdi/%s/max_ratio",
						       bdi));
}

static void print_kernel(const struct sight *sight)
{
	struct kernel_lines kernel = read_kernel();
	struct view_device device;
	char dirty[HUMAN_BYTES];
	char threshold[HUMAN_BYTES];
	char background[HUMAN_BYTES];

	printf("kernel: %s dirty or under writeback; it throttles at %s, writes from %s\n",
	       human_bytes(dirty, kernel.dirty_bytes),
	       human_bytes(threshold, kernel.threshold_bytes),
	       human_bytes(background, kernel.background_bytes));
	for (size_t i = 0; i < sight->count; i++)
		for (size_t slot = 0; slot < WP_DEVICES; slot++)
			if (view_device(sight, &sight->segments[i], slot, &device))
				print_strict(&device);
}

int run_status(struct ctl *ctl, int argc, char **argv)
{
	struct sight sight;

	ctl_option(ctl, argc, argv, NULL);
	if (optind < argc)
		return ctl_usage(ctl);
	if (!view_take(&sight, ctl))
		return CTL_NOBODY;
	if (ctl->json) {
		print_json(&sight);
	} else {
		for (size_t i = 0; i < sight.count; i++)
			print_segment(&sight, &sight.segments[i]);
		print_kernel(&sight);
	}
	view_free(&sight);
	return CTL_DONE;
}
