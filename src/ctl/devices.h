/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of `devices` and `tasks`; `top` shows them too.
 */
#ifndef WP_CTL_DEVICES_H
#define WP_CTL_DEVICES_H

#include "ctl/table.h"
#include "ctl/view.h"

extern const struct table_column devices_columns[];
extern const struct table_column tasks_columns[];

void devices_put(struct table *table, const struct view_segment *segment,
		 const struct view_device *device);
void tasks_put(struct table *table, const struct view_segment *segment,
	       const struct view_task *task);

/* All rows of all segments. */
struct table *devices_table(const struct sight *sight, bool json);
struct table *tasks_table(const struct sight *sight, bool json);

/* A command that takes no arguments and prints the table that @make makes. */
int devices_print(struct ctl *ctl, int argc, char **argv,
		  struct table *(*make)(const struct sight *sight, bool json));

#endif
