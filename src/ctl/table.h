/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table on the terminal, or the same rows as JSON: {"NAME": [{"KEY": VALUE, ...}, ...]}.
 * The values of a row are put one by one, in the order of the columns.
 */
#ifndef WP_CTL_TABLE_H
#define WP_CTL_TABLE_H

#include "base/types.h"

#define TABLE_COLUMNS 32

enum table_kind {
	TABLE_TEXT,
	TABLE_COUNT,
	TABLE_BYTES,
	TABLE_RATE,
	TABLE_SPAN,
	TABLE_RATIO, /* q10; JSON: a fraction */
	TABLE_FLAG,
};

struct table_column {
	const char *heading; /* NULL: in JSON alone */
	const char *key;
	enum table_kind kind;
};

struct table;

/* @columns end with a key of NULL. Ends the program when there is no memory. */
struct table *table_new(const char *name, const struct table_column *columns, bool json);

void table_row(struct table *table);
void table_text(struct table *table, const char *text);
void table_number(struct table *table, uint64_t value);
void table_none(struct table *table); /* unknown: "-", null */

/* Where @known is false, table_none(). */
void table_number_if(struct table *table, bool known, uint64_t value);

void table_print(struct table *table);

/* The table as it would be printed on a terminal so wide; to be freed. */
char *table_string(struct table *table, size_t width);

void table_free(struct table *table);

#endif
