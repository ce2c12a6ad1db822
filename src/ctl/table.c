/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <libsmartcols.h>

#include "ctl/ctl.h"
#include "ctl/human.h"

struct table {
	struct libscols_table *scols;
	struct libscols_line *line;
	const struct table_column *columns;
	size_t at; /* the next column */
	bool json;
};

static _Noreturn void no_memory(void)
{
	ctl_complain("out of memory");
	exit(CTL_FAILED);
}

static int json_type(enum table_kind kind)
{
	if (kind == TABLE_TEXT)
		return SCOLS_JSON_STRING;
	return kind == TABLE_FLAG ? SCOLS_JSON_BOOLEAN : SCOLS_JSON_NUMBER;
}

static void add_column(struct table *table, const struct table_column *column)
{
	bool hidden = !table->json && !column->heading;
	int flags = column->kind == TABLE_TEXT ? 0 : SCOLS_FL_RIGHT;
	struct libscols_column *added = scols_table_new_column(
		table->scols, table->json ? column->key : column->heading, 0,
		hidden ? SCOLS_FL_HIDDEN : flags);

	if (!added || scols_column_set_json_type(added, json_type(column->kind)))
		no_memory();
}

struct table *table_new(const char *name, const struct table_column *columns, bool json)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		no_memory();
	table->columns = columns;
	table->json = json;
	table->scols = scols_new_table();
	if (!table->scols || scols_table_set_name(table->scols, name))
		no_memory();
	scols_table_enable_json(table->scols, json);
	/* Why: what comes behind a pipe is read by programs and mails, not cut at 80. */
	scols_table_enable_noencoding(table->scols, 0);
	for (; columns->key; columns++)
		add_column(table, columns);
	return table;
}

void table_row(struct table *table)
{
	table->line = scols_table_new_line(table->scols, NULL);
	table->at = 0;
	if (!table->line)
		no_memory();
}

void table_text(struct table *table, const char *text)
{
	if (scols_line_set_data(table->line, table->at++, text))
		no_memory();
}

void table_none(struct table *table)
{
	table_text(table, table->json ? NULL : "-");
}

static void put_json(struct table *table, uint64_t value)
{
	char text[HUMAN_BYTES];

	if (table->columns[table->at].kind == TABLE_RATIO)
		snprintf(text, sizeof(text), "%.4f", (double)value / WP_Q10);
	else
		snprintf(text, sizeof(text), "%" PRIu64, value);
	table_text(table, text);
}

void table_number(struct table *table, uint64_t value)
{
	char text[HUMAN_BYTES];

	if (table->json) {
		put_json(table, value);
		return;
	}
	switch (table->columns[table->at].kind) {
	case TABLE_BYTES:
		human_bytes(text, value);
		break;
	case TABLE_RATE:
		human_rate(text, value);
		break;
	case TABLE_SPAN:
		human_span(text, value);
		break;
	case TABLE_RATIO:
		human_ratio(text, value);
		break;
	case TABLE_FLAG:
		snprintf(text, sizeof(text), "%s", value ? "yes" : "no");
		break;
	default:
		snprintf(text, sizeof(text), "%" PRIu64, value);
	}
	table_text(table, text);
}

void table_number_if(struct table *table, bool known, uint64_t value)
{
	if (known)
		table_number(table, value);
	else
		table_none(table);
}

void table_print(struct table *table)
{
	scols_print_table(table->scols);
	/* it leaves an empty table without a word, and the JSON without an end of line */
}

char *table_string(struct table *table, size_t width)
{
	char *string = NULL;

	scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(table->scols, width);
	if (scols_print_table_to_string(table->scols, &string) || !string)
		no_memory();
	return string;
}

void table_free(struct table *table)
{
	scols_unref_table(table->scols);
	free(table);
}
