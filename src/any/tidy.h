/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that nobody writes to at the moment: what is clean is closed here, so that nothing keeps a
 * mount busy; what is not is seen to, as after a close.
 */
#ifndef WP_ANY_TIDY_H
#define WP_ANY_TIDY_H

#include "base/types.h"

/* Look through them when it is time. Returns when that is next; FIBER_NEVER: nothing is open. */
uint64_t tidy_step(uint64_t now_ns);

/* In a fiber: close all there is, for whoever unmounts. Pauses end for it. */
void tidy_all(void);

/* Is everybody to let go at once? */
bool tidy_hurries(void);

#endif
