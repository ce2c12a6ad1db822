/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that wait: the kernel hands them over one by one, and each goes on when it is answered.
 *
 * What was handed over and not answered yet lies in memory shared with the guard. Why: when the
 * supervisor is killed the guard answers those too, and the kernel would not name them again. The
 * kernel itself writes them there, so there is no moment at which one is known to nobody.
 */
#ifndef WP_ANY_NOTIFY_H
#define WP_ANY_NOTIFY_H

#include <linux/seccomp.h>

#include "base/types.h"

#define NOTIFY_CALLS 4096 /* that may wait at a time; more are let go at once */

struct notify {
	int listener;
	size_t slot_bytes;
	unsigned char *slots;
	unsigned free_count;
	unsigned short free_list[NOTIFY_CALLS];
};

/*
 * Set the filter on this process and all that come of it. Returns the listener, or a negative
 * errno: -EINVAL before Linux 5.19, -EBUSY where somebody listens already.
 */
int notify_install(void) WP_MUST_CHECK;

/* Memory for the calls; before the guard is forked. */
bool notify_prepare(struct notify *notify) WP_MUST_CHECK;

/* Begin with this listener; wakes its callers on this processor where the kernel can. */
void notify_begin(struct notify *notify, int listener);

/* The next call, NULL when there is none (any more). Waits for one, so poll first. */
struct seccomp_notif *notify_receive(struct notify *notify);

/* Does its caller still wait? Else whatever was read of it may be another's. */
bool notify_waits(const struct notify *notify, const struct seccomp_notif *call);

/* The call goes on. It is not to be used any more. */
void notify_go_on(struct notify *notify, struct seccomp_notif *call);

/* For the guard: all that was left unanswered goes on. */
void notify_let_all_go(struct notify *notify);

#endif
