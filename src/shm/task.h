/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A task (one thread of a paced process) in the segment: for status, and for those who count
 * tasks. Pacing works without a slot.
 */
#ifndef WP_SHM_TASK_H
#define WP_SHM_TASK_H

#include <writepace/layout.h>

#include "base/types.h"

struct task_identity {
	uint64_t id;           /* pid << 32 | tid */
	uint64_t start_ns;     /* CLOCK_BOOTTIME of the process's attach */
	uint64_t namespace_id; /* of pids */
};

/* The task's slot, @slot if it is still its own, else claimed; -1 when all near it are in use. */
int task_slot(struct wp_segment *segment, int slot, const struct task_identity *identity,
	      uint64_t now_ns);

#endif
