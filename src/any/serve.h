/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is done with a call that waits: as the preload library does round it, but what the call did
 * is known only when its task comes again.
 */
#ifndef WP_ANY_SERVE_H
#define WP_ANY_SERVE_H

#include "any/notify.h"

/* @books: somebody asks for totals, also of processes that did not come by. */
void serve_begin(struct notify *notify, bool books);

/* The call goes on, at once or after its pause. */
void serve(struct seccomp_notif *call);

#endif
