/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that nobody writes to at the moment: what is clean is closed here, so that nothing keeps a
 * mount busy; what is not is seen to, as after a close.
 */
#ifndef WP_ANY_TIDY_H
#define WP_ANY_TIDY_H

#include "any/watched.h"

/* Look through them when it is time. Returns when that is next; FIBER_NEVER: nothing is open. */
uint64_t tidy_step(uint64_t now_ns);

/*
 * The file was written to: between the calls of its tasks it is looked after here, as in their
 * pauses. Why: on a busy machine a call and the next are many milliseconds apart, in which a slow
 * device would run idle.
 */
void tidy_keep(struct watched_file *file);

/* In a fiber: close all there is, for whoever unmounts. Pauses end for it. */
void tidy_all(void);

/* Is everybody to let go at once? */
bool tidy_hurries(void);

#endif
