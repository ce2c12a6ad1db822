/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one fprop_add costs (member and domain), from one thread and from two, to one member and
 * to one each; beside it one atomic add, and the same two sums under a mutex. Two threads run at
 * once and each takes its own time: the mean of both is printed.
 *
 *	fprop ROUNDS
 *
 * Prints VARIANT METRIC=NANOSECONDS lines; VARIANT is atomic, mutex or fprop.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/order.h"
#include "core/fprop.h"

#define THREADS_MAX 2
#define WARM_UP_PART 10

struct locked {
	pthread_mutex_t mutex;
	uint64_t domain;
	uint64_t members[THREADS_MAX];
};

struct alone {
	uint64_t word;
	uint64_t padding[15];
};

static struct fprop_domain domain;
static struct fprop_count counts[THREADS_MAX];
static struct alone words[THREADS_MAX];
static struct locked locked = { .mutex = PTHREAD_MUTEX_INITIALIZER };
static pthread_barrier_t gate;

struct runner {
	pthread_t thread;
	void (*add)(unsigned member, unsigned stripe, uint64_t events);
	unsigned member;
	unsigned stripe;
	long rounds;
	double each_ns;
};

static void add_fprop(unsigned member, unsigned stripe, uint64_t events)
{
	fprop_add(&domain, &counts[member], events, stripe);
}

static void add_atomic(unsigned member, unsigned stripe, uint64_t events)
{
	(void)stripe;
	word_add(&words[member].word, events);
}

static void add_locked(unsigned member, unsigned stripe, uint64_t events)
{
	(void)stripe;
	pthread_mutex_lock(&locked.mutex);
	locked.members[member] += events;
	locked.domain += events;
	pthread_mutex_unlock(&locked.mutex);
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *run(void *arg)
{
	struct runner *runner = arg;
	double begin_ns;

	for (long i = 0; i < runner->rounds / WARM_UP_PART; i++)
		runner->add(runner->member, runner->stripe, 1);
	pthread_barrier_wait(&gate);
	begin_ns = now_ns();
	for (long i = 0; i < runner->rounds; i++)
		runner->add(runner->member, runner->stripe, 1);
	runner->each_ns = (now_ns() - begin_ns) / (double)runner->rounds;
	return NULL;
}

/* Mean of the threads' own times; @apart: a member each. Negative when there is no thread. */
static double measure(void (*add)(unsigned, unsigned, uint64_t), unsigned threads,
		      bool apart, long rounds)
{
	struct runner runners[THREADS_MAX];
	double sum_ns = 0;

	if (pthread_barrier_init(&gate, NULL, threads))
		return -1;
	for (unsigned i = 0; i < threads; i++) {
		runners[i] = (struct runner){
			.add = add,
			.member = apart ? i : 0,
			.stripe = i,
			.rounds = rounds,
		};
		if (pthread_create(&runners[i].thread, NULL, run, &runners[i]))
			return -1;
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(runners[i].thread, NULL);
		sum_ns += runners[i].each_ns;
	}
	pthread_barrier_destroy(&gate);
	return sum_ns / threads;
}

static int report(const char *variant, void (*add)(unsigned, unsigned, uint64_t),
		  long rounds)
{
	double one_ns = measure(add, 1, false, rounds);
	double same_ns = measure(add, 2, false, rounds);
	double apart_ns = measure(add, 2, true, rounds);

	if (one_ns < 0 || same_ns < 0 || apart_ns < 0)
		return 1;
	printf("%s one_thread_ns=%.2f\n", variant, one_ns);
	printf("%s two_threads_one_member_ns=%.2f\n", variant, same_ns);
	printf("%s two_threads_two_members_ns=%.2f\n", variant, apart_ns);
	return 0;
}

int main(int argc, char **argv)
{
	long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;

	if (rounds < WARM_UP_PART || rounds > 1000000000) {
		fprintf(stderr, "usage: fprop ROUNDS\n");
		return 2;
	}
	fprop_begin(&domain);
	if (report("atomic", add_atomic, rounds) || report("mutex", add_locked, rounds) ||
	    report("fprop", add_fprop, rounds)) {
		fprintf(stderr, "fprop: no threads\n");
		return 1;
	}
	return 0;
}
