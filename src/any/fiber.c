/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/fiber.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define FIBERS 4000 /* fewer than NOTIFY_CALLS: a call that finds none is let go */
#define STACK_BYTES WP_KIB(64)
#define GUARD_BYTES WP_KIB(4) /* below a stack: who runs over it ends */

struct fiber {
	ucontext_t context;
	struct fiber *next; /* of those that rest */
	void (*run)(void *argument);
	void *argument;
	uint64_t wake_ns;
};

static struct fiber *heap[FIBERS]; /* who sleeps; the first wakes first */
static unsigned sleeping;
static unsigned living;
static struct fiber *resting;
static struct fiber *current;
static ucontext_t scheduler;

/* -------------------------------------------------------------------- the heap -- */

static void swap(unsigned a, unsigned b)
{
	struct fiber *kept = heap[a];

	heap[a] = heap[b];
	heap[b] = kept;
}

static void rise(unsigned at)
{
	for (; at && heap[at]->wake_ns < heap[(at - 1) / 2]->wake_ns; at = (at - 1) / 2)
		swap(at, (at - 1) / 2);
}

static void sink(unsigned at)
{
	for (;;) {
		unsigned least = at;

		for (unsigned child = 2 * at + 1; child <= 2 * at + 2; child++) {
			if (child < sleeping &&
			    heap[child]->wake_ns < heap[least]->wake_ns)
				least = child;
		}
		if (least == at)
			return;
		swap(at, least);
		at = least;
	}
}

static void heap_add(struct fiber *fiber)
{
	heap[sleeping] = fiber;
	rise(sleeping++);
}

static struct fiber *heap_take(void)
{
	struct fiber *first = heap[0];

	heap[0] = heap[--sleeping];
	sink(0);
	return first;
}

/* ------------------------------------------------------------------ the fibers -- */

static _Noreturn void live(void)
{
	for (;;) {
		current->run(current->argument);
		current->next = resting;
		resting = current;
		swapcontext(&current->context, &scheduler);
	}
}

static bool prepare(struct fiber *fiber)
{
	unsigned char *stack =
		mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED)
		return false;
	if (mprotect(stack, GUARD_BYTES, PROT_NONE) || getcontext(&fiber->context)) {
		munmap(stack, STACK_BYTES + GUARD_BYTES);
		return false;
	}
	fiber->context.uc_stack.ss_sp = stack + GUARD_BYTES;
	fiber->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&fiber->context, live, 0);
	return true;
}

static struct fiber *make(void)
{
	struct fiber *fiber = living < FIBERS ? calloc(1, sizeof(*fiber)) : NULL;

	if (!fiber)
		return NULL;
	if (!prepare(fiber)) {
		free(fiber);
		return NULL;
	}
	living++;
	return fiber;
}

static void resume(struct fiber *fiber)
{
	current = fiber;
	swapcontext(&scheduler, &fiber->context);
	current = NULL;
}

bool fiber_start(void (*run)(void *argument), void *argument)
{
	struct fiber *fiber = resting;

	if (current)
		return false;
	if (fiber)
		resting = fiber->next;
	else
		fiber = make();
	if (!fiber)
		return false;
	fiber->run = run;
	fiber->argument = argument;
	resume(fiber);
	return true;
}

bool fiber_inside(void)
{
	return current != NULL;
}

void fiber_sleep_until(uint64_t wake_ns)
{
	current->wake_ns = wake_ns;
	heap_add(current);
	swapcontext(&current->context, &scheduler);
}

uint64_t fiber_next_ns(void)
{
	return sleeping ? heap[0]->wake_ns : FIBER_NEVER;
}

void fiber_run_due(uint64_t now_ns)
{
	while (sleeping && heap[0]->wake_ns <= now_ns)
		resume(heap_take());
}

void fiber_wake_all(void)
{
	/* Equal times are a heap in any order. */
	for (unsigned i = 0; i < sleeping; i++)
		heap[i]->wake_ns = 0;
}
