/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A signal that ends a wait which knows no time-out, in less than a second.
 */
#ifndef WP_ANY_ROUSE_H
#define WP_ANY_ROUSE_H

#include "base/types.h"

/* False: not to be had here. */
bool rouse_prepare(void) WP_MUST_CHECK;

/*
 * What waits is interrupted at @wake_ns or before; a wait that begins only after that, a
 * millisecond later at most.
 */
void rouse_at(uint64_t wake_ns, uint64_t now_ns);

void rouse_stop(void);

#endif
