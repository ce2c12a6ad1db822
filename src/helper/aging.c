/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/aging.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>

#include "age/age.h"
#include "host/kernel.h"
#include "host/sys.h"

#define STACK_BYTES (128 << 10)
#define STEP_MIN_NS WP_MS(10)

void aging_wait(const uint32_t *word, uint32_t seen, uint64_t until_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / WP_SEC(1)),
		.tv_nsec = (long)(until_ns % WP_SEC(1)),
	};

	/* The bitset form takes a point of CLOCK_MONOTONIC. Not private: the word is shared. */
	sys_call(SYS_futex, word, FUTEX_WAIT_BITSET, seen, until_ns ? &until : NULL, NULL,
		 FUTEX_BITSET_MATCH_ANY);
}

/*
 * Order: the word is read first. Whoever starts a period changes it afterwards, so either the
 * rounds, told in between, see that period, or the wait ends at once and they are told again.
 */
static _Noreturn void *age(void *opaque)
{
	struct helper *helper = opaque;
	uint32_t *word = &helper->map->header.wake;

	for (;;) {
		uint32_t seen = word32_read(word);

		uint64_t now_ns = kernel_now_ns();
		uint64_t end_ns;

		eventfd_write(helper->wake_fd, 1);
		end_ns = age_step(helper->map, now_ns);
		/* Why not sooner: damaged words must not make us spin. */
		aging_wait(word, seen,
			   end_ns ? max_u64(end_ns, now_ns + STEP_MIN_NS) : 0);
	}
}

bool aging_start(struct helper *helper)
{
	pthread_attr_t attributes;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	started = !pthread_create(&thread, &attributes, age, helper);
	pthread_attr_destroy(&attributes);
	return started;
}
