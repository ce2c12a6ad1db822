/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The guard: a second process that holds the listener, too. When the supervisor dies every call
 * of the command would fail with ENOSYS; instead the guard lets all go on, unpaced.
 */
#ifndef WP_ANY_GUARD_H
#define WP_ANY_GUARD_H

#include "any/notify.h"

/* Fork it, from the supervisor. Without a guard the supervisor works as well, but must not die. */
void guard_start(struct notify *notify);

#endif
