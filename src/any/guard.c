/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/guard.h"

#include <errno.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host/sys.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* one number on every architecture */
#endif

/* As long as there is anybody under the filter. */
static void let_go_on(struct notify *notify)
{
	struct pollfd listener = { .fd = notify->listener, .events = POLLIN };

	for (;;) {
		if (poll(&listener, 1, -1) < 0)
			continue;
		if (listener.revents & POLLIN) {
			struct seccomp_notif *call = notify_receive(notify);

			if (call)
				notify_go_on(notify, call);
		} else if (listener.revents) {
			return;
		}
	}
}

static _Noreturn void watch(struct notify *notify, int supervisor)
{
	struct pollfd ended = { .fd = supervisor, .events = POLLIN };

	prctl(PR_SET_NAME, "writepace-guard");
	/* Why: who ends the supervisor's group shall not end both. */
	setsid();
	while (poll(&ended, 1, -1) < 0 && errno == EINTR)
		;
	notify_let_all_go(notify);
	/* The list of free ones was the supervisor's; by now all are. */
	for (unsigned i = 0; i < NOTIFY_CALLS; i++)
		notify->free_list[i] = (unsigned short)i;
	notify->free_count = NOTIFY_CALLS;
	let_go_on(notify);
	_exit(0);
}

void guard_start(struct notify *notify)
{
	int supervisor = (int)sys_call(SYS_pidfd_open, getpid(), 0);

	if (supervisor < 0)
		return;
	if (!fork())
		watch(notify, supervisor);
	close(supervisor);
}
