/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does anybody live whom we could help?
 *
 * One living process is enough, and the kernel says when it ends: a helper with nothing to do
 * does not wake up to look.
 */
#ifndef WP_HELPER_TASKS_H
#define WP_HELPER_TASKS_H

#include "helper/helper.h"

struct tasks {
	int pidfd;    /* of one that lives, -1 = none that could be watched */
	bool unknown; /* somebody may live whom we can not watch: look now and then */
};

#define TASKS_INIT          \
	{                   \
		.pidfd = -1 \
	}

/* Does anybody live? Looks for another one to watch when the watched one has ended. */
bool tasks_live(struct tasks *tasks, const struct helper *helper, uint64_t now_ns);

/* Free the slots of tasks that are no more, as far as we can see who lives. */
void tasks_sweep(const struct helper *helper);

/* Watch nobody any more. */
void tasks_forget(struct tasks *tasks);

#endif
