/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For whom the engine is called: it asks who its caller is and sleeps for it (host/kernel.h, at its
 * end), and gets the answers of the task that is set here.
 */
#ifndef WP_ANY_CALLER_H
#define WP_ANY_CALLER_H

#include "any/watched.h"

struct caller {
	struct watched_task *task;
	/* May its pause go on? Asked after each step; NULL = it must not sleep. */
	bool (*waits)(void *what);
	void *what;
};

/* From now on; the one before is returned for caller_restore(). */
struct caller caller_set(struct caller caller);
struct caller caller_set_task(struct watched_task *task);
void caller_restore(struct caller before);

/* Whose task it is. */
const struct watched_process *caller_process(void);

/* In a fiber: sleep, and be the same caller after it. */
void caller_sleep_until(uint64_t wake_ns);

#endif
