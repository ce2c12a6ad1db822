/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the maps of the programs to entries that can be published.
 */
#ifndef WP_OBSERVER_GATHER_H
#define WP_OBSERVER_GATHER_H

#include <writepace/published.h>

#include "observer/load.h"
#include "observer/sums.h"

/* A set of device entries, and what is kept beside each. */
struct gathered_devices {
	uint32_t count;
	struct wp_published_device devices[SUMS_DEVICES];
};

struct gathered_tasks {
	uint32_t count;
	struct wp_published_task tasks[SUMS_TASKS]; /* by uid */
};

void gather_devices(struct gathered_devices *gathered, const struct loaded *loaded);
void gather_tasks(struct gathered_tasks *gathered, const struct loaded *loaded);

/* Once a minute: entries of processes that were gone the last time leave their map. */
void gather_forget(const struct gathered_tasks *gathered, const struct loaded *loaded);

#endif
