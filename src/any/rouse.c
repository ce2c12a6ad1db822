/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/rouse.h"

#include <signal.h>
#include <sys/time.h>

#define AGAIN_US 1000 /* it may come between a look at the clock and the wait */

static uint64_t set_ns; /* 0 = it is not */

static void nothing(int number)
{
	(void)number;
}

bool rouse_prepare(void)
{
	/* Why no SA_RESTART: the wait is to end. */
	struct sigaction action = { .sa_handler = nothing };

	return !sigaction(SIGALRM, &action, NULL);
}

static void set_timer(uint64_t span_us)
{
	struct itimerval timer = {
		.it_value = { .tv_usec = (suseconds_t)span_us },
		.it_interval = { .tv_usec = AGAIN_US },
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

void rouse_at(uint64_t wake_ns, uint64_t now_ns)
{
	if (set_ns > now_ns && set_ns <= wake_ns)
		return;
	set_ns = wake_ns;
	/* 0 would switch it off. */
	set_timer(sub_u64(wake_ns, now_ns) / WP_US(1) + 1);
}

void rouse_stop(void)
{
	if (set_ns)
		set_timer(0);
	set_ns = 0;
}
