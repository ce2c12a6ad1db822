/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The whole decision: a view of task and device in, a verdict out. Pure.
 */
#ifndef WP_CORE_BALANCE_H
#define WP_CORE_BALANCE_H

#include <writepace/verdict.h>

#include "core/control.h"

#define WEIGHT_NORMAL 100u
#define PIECE_LEAST_BYTES \
	WP_PAGE_BYTES /* for tasks whose threshold is below PIECE_MIN_BYTES */
#define PIECE_MIN_BYTES WP_KIB(64)
#define PIECE_MAX_BYTES WP_MIB(8)

/* @control and @bounds of the device; @verdict is filled whole. */
void balance(struct verdict *verdict, const struct view *view,
	     const struct control *control, const struct bounds *bounds);

#endif
