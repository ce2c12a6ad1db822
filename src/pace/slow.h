/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/pace: one visit to the slow path, shared by the pause and the close.
 */
#ifndef WP_PACE_SLOW_H
#define WP_PACE_SLOW_H

#include <writepace/verdict.h>

#include "core/balance.h"
#include "flush/flush.h"
#include "pace/pace.h"

#define SLOW_STALE_NS WP_SEC(1) /* nobody is inside for so long: a long jump left it */

struct slow {
	struct pace_process *process;
	struct pace_task *task;
	struct pace_handle *handle;
	struct wp_file *file;    /* its entry, NULL where there is none to be had */
	struct flush_file flush; /* file is NULL too where we can not look at it */
	uint64_t device_key;     /* another one there by now: damage, or another device */
	bool hidden;             /* nobody can look at it */
	struct flush_file
		other; /* looked after as well; file is NULL while there is none */
	enum pace_manner manner;
	struct wp_task *slot; /* the task's, NULL where there is none to be had */
	struct wp_note *note; /* the same */
	unsigned stripe;      /* of the striped counts */
	uint64_t process_id;
	uint64_t since_ns; /* beginning of the visit */
	bool looked;       /* the file told what of it is outstanding */
	uint64_t now_ns;
	uint64_t charged_bytes; /* since the last visit */
	uint64_t dirtied_bytes; /* new dirt of it on this file, not yet settled */
	uint64_t
		others_bytes; /* charged to this file by other threads, not yet settled */
	uint64_t
		cancelled_bytes; /* dirt that the task threw away, as far as that is told */
	uint64_t
		uncovered_bytes; /* dirtied past all calls, on this file or another, not yet settled */
	uint64_t dirty_bytes; /* of the file, not yet in flight */
	uint64_t watch_ns;    /* our claim to look after the device, 0 = none */
	uint64_t signal_mask; /* the program's, while all are blocked */
	bool blocked;
	uint64_t ceiling_ns; /* under a ceiling of the rate: when to go on */
	struct bounds bounds;
	struct control control; /* copy of the device's */
};

/* A visit that has not begun. */
#define SLOW(a_process, a_task, a_handle, a_fd, a_manner)                 \
	{                                                                 \
		.process = a_process, .task = a_task, .handle = a_handle, \
		.flush = { .fd = a_fd }, .manner = a_manner,              \
	}

/* May this thread take the slow path now? Not inside itself, not in a vfork child. */
bool slow_enter(struct slow *slow);

/* The task's weight of this moment. */
uint64_t slow_weight(const struct slow *slow);

void slow_count_sleep(struct slow *slow);

/* Find device and file of the handle; false when the descriptor is another one by now. */
bool slow_locate(struct slow *slow);

/* Place the task's new dirt on the file; the rest waits for its own file. */
void slow_take_dirt(struct slow *slow);

/* Ask what of the file is outstanding and account for it. */
void slow_settle(struct slow *slow);

/* Settle the file, step the device, start what the window allows. */
void slow_tick(struct slow *slow, uint64_t background_bytes);

/* What a look found completed is the device's share of the writeout. */
void slow_count_completed(const struct slow *slow, uint64_t bytes);

/*
 * The same for another file of the program on this device, once the device has nothing in flight
 * and until that file is clean.
 */
void slow_tend_other(struct slow *slow, const struct flush_pace *pace, bool wanted);

/* Give up the claim of that file on the window. */
void slow_leave_other(struct slow *slow);

/* How long the device takes for @bytes, as far as is known. */
uint64_t slow_service_ns(const struct slow *slow, uint64_t bytes);

/* Start what is due of the file. */
void slow_start_due(struct slow *slow, const struct flush_pace *pace);

/*
 * Start up to @bytes of the file at once, whatever window and spacing say; others wait for their
 * turn accordingly longer.
 */
void slow_push(struct slow *slow, uint64_t bytes);

/* Sleep for what was dirtied before; at the wall again and again (K5.3 step 13). */
void slow_pay(struct slow *slow);

/* Wait for the clock of those who have a ceiling of the rate. A debt stays in it. */
void slow_wait_ceiling(struct slow *slow, uint64_t background_bytes);

/*
 * Start all of the file without sleeping, for at most the drain target. A kernel whose queue is
 * full may hold us up that long.
 */
void slow_let_go(struct slow *slow);

/* Until the next look of one whose bytes are in flight. */
uint64_t slow_step_ns(const struct slow *slow);

/* Sleep one step, at most until @until_ns; false when a signal asks for an end. */
bool slow_sleep(struct slow *slow, uint64_t until_ns);

/* Outside again. */
void slow_leave(struct slow *slow);

#endif
