/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rounds of the helper: what it does when, and when it leaves.
 */
#ifndef WP_HELPER_ROUNDS_H
#define WP_HELPER_ROUNDS_H

#include "helper/helper.h"

/* Returns when the place is lost, or given up 10 s after the last task is gone. */
void rounds(struct helper *helper);

#endif
