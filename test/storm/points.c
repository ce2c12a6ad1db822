/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What happens behind each write to shared memory in a library built with WP_POINTS:
 * STORM_POINTS=kill:N ends the process behind its Nth, STORM_POINTS=yield:SEED holds it up behind
 * some of them. Others see nothing but those words, so there are no more states to die in.
 *
 * Signal: may be anywhere, so only raw calls.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/order.h"
#include "host/sys.h"

static uint64_t last;  /* the process ends behind this one, 0 = none */
static uint64_t count; /* so far */
static uint64_t seed;  /* 0 = nobody is held up */

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("STORM_POINTS");

	if (text && !strncmp(text, "kill:", 5))
		last = strtoull(text + 5, NULL, 10);
	else if (text && !strncmp(text, "yield:", 6))
		seed = strtoull(text + 6, NULL, 10) | 1;
}

static void hold_up(uint64_t number)
{
	uint64_t choice = (number + seed) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	struct timespec span = { .tv_nsec = (long)(choice >> 12) % 2000000 };

	if (choice % 16 == 0)
		sys_call(SYS_sched_yield);
	if (choice % 512 == 1)
		sys_call(SYS_nanosleep, &span, NULL);
}

void order_point(void)
{
	uint64_t number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);

	if (last && number == last)
		sys_call(SYS_kill, sys_call(SYS_getpid), SIGKILL);
	if (seed)
		hold_up(number + (uint64_t)sys_call(SYS_gettid));
}
