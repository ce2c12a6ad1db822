/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fibers: the engine sleeps where it is called; in one thread that acts for many tasks each such
 * call runs on a stack of its own and gives way to the others while it sleeps. Who wakes first is
 * kept in a heap.
 */
#ifndef WP_ANY_FIBER_H
#define WP_ANY_FIBER_H

#include "base/types.h"

#define FIBER_NEVER UINT64_MAX

/* Run @run(@argument) until it ends or sleeps. False: no room, nothing was run. */
bool fiber_start(void (*run)(void *argument), void *argument) WP_MUST_CHECK;

/* Is the caller in a fiber? Only there it may sleep. */
bool fiber_inside(void);

/* Let others run until @wake_ns (CLOCK_MONOTONIC). */
void fiber_sleep_until(uint64_t wake_ns);

/* The time at which the next one wakes, FIBER_NEVER = none sleeps. */
uint64_t fiber_next_ns(void);

/* Run all whose time has come. */
void fiber_run_due(uint64_t now_ns);

/* All are woken at once. */
void fiber_wake_all(void);

#endif
