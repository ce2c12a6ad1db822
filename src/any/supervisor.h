/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The supervisor: one thread that waits for calls, for the end of processes and for its fibers,
 * until nobody is left under the filter.
 */
#ifndef WP_ANY_SUPERVISOR_H
#define WP_ANY_SUPERVISOR_H

#include "conf/conf.h"

/*
 * In a process of its own. It says on @channel that it is ready, gets the listener, says that it
 * has it, and from then on stands for the command's tasks.
 */
_Noreturn void supervise(const struct conf *conf, const char *totals_path, int channel);

/* The other end of @channel. False: there is no supervisor. */
bool supervisor_is_ready(int channel) WP_MUST_CHECK;
bool supervisor_take(int channel, int listener) WP_MUST_CHECK;

#endif
