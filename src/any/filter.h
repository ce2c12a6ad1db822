/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The filter on system calls that a command runs under: which calls wait for the supervisor.
 * Pure: it only builds the program.
 *
 * What it does not know passes: x32, other ABIs, every call that is not in calls.def.
 */
#ifndef WP_ANY_FILTER_H
#define WP_ANY_FILTER_H

#include <linux/filter.h>

#include "base/types.h"

#define FILTER_MAX 512

struct filter {
	unsigned short count;
	struct sock_filter code[FILTER_MAX];
};

void filter_build(struct filter *filter);

#endif
