/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* writepacectl top: devices and tasks, live; without a terminal once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fixed.h"
#include "conf/unit.h"
#include "ctl/devices.h"
#include "ctl/human.h"
#include "ctl/screen.h"

#define PAGE_BYTES 65536
#define DEVICES_SHOWN 6
#define DELAY_MIN_NS WP_MS(100)

struct row {
	struct view_task task;
	size_t segment;
	uint64_t rate_bps; /* dirtied since the last look */
};

struct seen {
	uint64_t id;
	uint64_t dirtied_bytes;
};

struct top {
	struct sight sight;
	struct row rows[WP_TASKS];
	size_t count;
	struct seen seen[WP_TASKS];
	size_t seen_count;
	uint64_t seen_ns;
	uint64_t delay_ns;
	char sort;
	char page[PAGE_BYTES];
};

/* ------------------------------------------------------------------ look ---- */

static uint64_t row_id(const struct row *row)
{
	return (uint64_t)row->task.pid << 32 | row->task.tid;
}

/* Bytes dirtied per second since the last look; at the first one what it may dirty. */
static uint64_t rate_bps(const struct top *top, const struct row *row)
{
	for (size_t i = 0; i < top->seen_count; i++)
		if (top->seen[i].id == row_id(row))
			return rate_of(sub_u64(row->task.dirtied_bytes,
					       top->seen[i].dirtied_bytes),
				       top->sight.now_ns - top->seen_ns);
	return row->task.judged ? row->task.verdict.task_bps : 0;
}

static void remember(struct top *top)
{
	top->seen_ns = top->sight.now_ns;
	top->seen_count = top->count;
	for (size_t i = 0; i < top->count; i++) {
		top->seen[i].id = row_id(&top->rows[i]);
		top->seen[i].dirtied_bytes = top->rows[i].task.dirtied_bytes;
	}
}

static void look(struct top *top)
{
	top->count = 0;
	for (size_t i = 0; i < top->sight.count; i++) {
		for (size_t slot = 0; slot < WP_TASKS && top->count < WP_TASKS; slot++) {
			struct row *row = &top->rows[top->count];

			row->segment = i;
			if (!view_living_task(&top->sight, &top->sight.segments[i], slot,
					      &row->task))
				continue;
			row->rate_bps = rate_bps(top, row);
			top->count++;
		}
	}
	remember(top);
}

/* ------------------------------------------------------------------ sort ---- */

struct order {
	char key;
	const char *name;
	int (*compare)(const void *a, const void *b);
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_pid(const void *a, const void *b)
{
	return compare_u64(row_id(a), row_id(b));
}

#define BY(name, value)                                           \
	static int by_##name(const void *a, const void *b)        \
	{                                                         \
		const struct row *one = a;                        \
		const struct row *other = b;                      \
		int more = compare_u64(other->value, one->value); \
                                                                  \
		return more ? more : by_pid(a, b);                \
	}

BY(rate, rate_bps)
BY(dirtied, task.dirtied_bytes)
BY(slept, task.slept_ns)
BY(weight, task.weight)

static const struct order orders[] = {
	{ 'r', "rate", by_rate },   { 'd', "dirtied", by_dirtied },
	{ 's', "slept", by_slept }, { 'w', "weight", by_weight },
	{ 'p', "pid", by_pid },
};

static const struct order *order_of(char key)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (orders[i].key == key)
			return &orders[i];
	return NULL;
}

/* ------------------------------------------------------------------ draw ---- */

struct page {
	char *text;
	size_t used;
	unsigned columns;
	unsigned rows_left;
};

/* Lines of @text, as many as there is room for. */
static void put_lines(struct page *page, const char *text, unsigned most)
{
	while (*text && page->rows_left && most) {
		size_t length = strcspn(text, "\n");

		if (page->used + length + 2 > PAGE_BYTES)
			return;
		memcpy(page->text + page->used, text, length);
		page->used += length;
		page->text[page->used++] = '\n';
		page->text[page->used] = '\0';
		text += length + (text[length] == '\n');
		page->rows_left--;
		most--;
	}
}

static void put_head(const struct top *top, struct page *page)
{
	char line[256];
	char dirty[HUMAN_BYTES];

	snprintf(line, sizeof(line),
		 "writepacectl top: %zu task%s, sorted by %s; kernel: %s not yet written",
		 top->count, top->count == 1 ? "" : "s", order_of(top->sort)->name,
		 human_bytes(dirty, place_all_dirty_bytes()));
	put_lines(page, line, 1);
	put_lines(page, "keys: r rate, d dirtied, s slept, w weight, p pid; q quit\n\n",
		  2);
}

static void put_table(struct page *page, struct table *table, unsigned most)
{
	char *text = table_string(table, page->columns);

	put_lines(page, text, most);
	free(text);
	table_free(table);
}

static struct table *rows_table(const struct top *top, unsigned most)
{
	struct table *table = table_new("tasks", tasks_columns, false);

	for (size_t i = 0; i < top->count && i < most; i++) {
		struct view_task task = top->rows[i].task;

		/* Why: live, what it does says more than what it may do */
		task.verdict.task_bps = top->rows[i].rate_bps;
		tasks_put(table, &top->sight.segments[top->rows[i].segment], &task);
	}
	return table;
}

static void draw(struct top *top)
{
	struct page page = { .text = top->page };
	struct table *devices = devices_table(&top->sight, false);

	screen_size(&page.columns, &page.rows_left);
	top->page[0] = '\0';
	put_head(top, &page);
	put_table(&page, devices, DEVICES_SHOWN + 1);
	put_lines(&page, "\n", 1);
	qsort(top->rows, top->count, sizeof(top->rows[0]), order_of(top->sort)->compare);
	put_table(&page, rows_table(top, page.rows_left), page.rows_left);
	screen_draw(top->page);
}

static void run_live(struct top *top, const struct ctl *ctl)
{
	enum screen_event event = SCREEN_TIME;
	char key = 0;

	while (event != SCREEN_END && key != 'q') {
		if (event == SCREEN_TIME) {
			view_free(&top->sight);
			view_find(&top->sight, ctl);
			look(top);
		}
		draw(top);
		key = 0;
		event = screen_wait(top->delay_ns, &key);
		if (order_of(key))
			top->sort = key;
	}
}

static int print_once(struct top *top, const struct ctl *ctl)
{
	struct table *table;

	if (!view_take(&top->sight, ctl))
		return CTL_NOBODY;
	look(top);
	qsort(top->rows, top->count, sizeof(top->rows[0]), order_of(top->sort)->compare);
	table = devices_table(&top->sight, false);
	table_print(table);
	table_free(table);
	putchar('\n');
	table = rows_table(top, WP_TASKS);
	table_print(table);
	table_free(table);
	return CTL_DONE;
}

int run_top(struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ 0 },
	};
	static struct top top = { .delay_ns = WP_SEC(1), .sort = 'r' };

	while (ctl_option(ctl, argc, argv, options) != -1)
		if (!unit_parse(unit_durations, "", optarg, &top.delay_ns) ||
		    top.delay_ns < DELAY_MIN_NS)
			return ctl_complain("%s: not a time of 100ms or more", optarg);
	if (optind < argc)
		return ctl_usage(ctl);
	if (!screen_begin())
		return print_once(&top, ctl);
	run_live(&top, ctl);
	screen_end();
	return CTL_DONE;
}
