/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a front end calls of the engine: charge what a call dirtied, and when a task has reached
 * its poll threshold, settle, balance, flush, sleep.
 *
 *	if (pace_due(task, handle))         a compare
 *		pace_before(task, handle, fd);  one bounded sleep for what was dirtied before
 *	result = the call itself;
 *	pace_charge(task, handle, result);  an add
 *
 * Nothing here knows of preloading. A handle is a front end's record of one descriptor.
 *
 * Concurrency: a struct pace_task belongs to one thread; handles may be used by many, a torn
 * one costs accuracy until the next slow path asks the kernel. pace_before() may be left by a
 * long jump out of a signal handler and be entered again inside one.
 */
#ifndef WP_PACE_PACE_H
#define WP_PACE_PACE_H

#include <writepace/totals.h>

#include "base/order.h"
#include "conf/conf.h"
#include "core/limits.h"
#include "core/pause.h"
#include "host/kernel.h"
#include "shm/segment.h"

/* One thread's state: 112 bytes of its own storage. */
struct pace_task {
	uint64_t charged_bytes; /* by calls since the last check */
	uint64_t
		read_bytes; /* from block devices, the kernel's count at the last check */
	uint64_t poll_bytes;    /* check when so much has been charged */
	uint64_t piece_bytes;   /* longest part of a call between two checks */
	uint64_t dirtied_bytes; /* the kernel's count at the last check */
	uint64_t
		unplaced_bytes; /* dirt seen since then, of which file is not known yet */
	uint64_t stray_bytes;   /* the same, beyond what was charged */
	uint64_t
		held_bytes; /* charged before, not dirty yet: a stream's buffer holds it */
	uint64_t
		aside_bytes; /* counted by the kernel, nobody's dirt: direct, synchronous */
	uint64_t owed_bytes;     /* dirt that has not been slept for */
	uint64_t paused_when_ns; /* virtual time of the last pause */
	uint64_t inside_ns;      /* when the slow path was entered, 0 = outside */
	uint64_t cut_ns;         /* when a signal last ended a pause */
	uint64_t breath_ns;      /* no pause before, 0 = none to wait for */
};

#define PACE_TASK_INIT                                                    \
	{                                                                 \
		.poll_bytes = PAUSE_POLL_BYTES, .piece_bytes = WP_KIB(64) \
	}

/*
 * So much charged to one handle calls for a look, whoever charged it: threads that come and go
 * never reach their own threshold.
 */
#define PACE_HANDLE_BYTES WP_MIB(1)

/* One descriptor. The front end decides when it is asked anew. */
struct pace_handle {
	uint64_t charged_bytes; /* by calls since the file was last settled */
	uint64_t slots; /* (device slot + 1) << 32 | (file slot + 1), 0 = not yet */
	struct backing backing;
};

/* One process. */
struct pace_process {
	struct conf conf;
	struct segment segment;
	uint64_t weight;             /* of its tasks, 100 = normal */
	enum limits_penalty penalty; /* of heavy writers */
	uint64_t kernel_limit_bytes; /* from the kernel's thresholds, 0 = unknown */
	uint64_t start_ns;           /* CLOCK_BOOTTIME of the attach */
	uint64_t namespace_id;
	uint64_t *life; /* pid, on a page that a fork child finds zeroed; may be NULL */
	uint64_t dirtied_before_bytes; /* by this process before the attach */
	uint64_t aside_bytes;          /* of its tasks, in all */
	uint64_t files_closed;         /* with something outstanding */
	uint64_t files_unlinked;       /* soon after they were written */
	uint64_t
		refused_ns; /* when the kernel last refused to start writeback, 0 = never */
	uint64_t retired;   /* no system call of ours any more, not even out of a pause */
	struct totals totals;         /* of this process */
	struct totals *shared_totals; /* of the whole command, or NULL */
	void (*forked)(void);         /* called once in each fork child that paces */
	/*
	 * The descriptor of the file with most outstanding on the device of @handle, another than
	 * its own, and that one's handle; -1 where there is none. May be NULL.
	 */
	int (*other)(const struct pace_handle *handle, struct pace_handle **found);
	/* called once, at the first verdict; cleared by who calls it */
	void (*found)(uint64_t device, uint64_t limit_bytes, uint64_t source);
};

/* Prepare @process from @conf; opens and maps, so only in a constructor. */
void pace_attach(struct pace_process *process, const struct conf *conf);

/* The first thread's count starts here, not at the program's exec. */
void pace_task_begin(struct pace_task *task);

static inline bool pace_due(const struct pace_task *task,
			    const struct pace_handle *handle)
{
	return wp_unlikely(task->charged_bytes >= task->poll_bytes ||
			   word_read_relaxed(&handle->charged_bytes) >=
				   PACE_HANDLE_BYTES);
}

static inline void pace_charge(struct pace_task *task, struct pace_handle *handle,
			       uint64_t bytes)
{
	task->charged_bytes += bytes;
	word_bump_local(&handle->charged_bytes, bytes);
}

/* What a call wrote that the kernel counts with the dirt and that is none. */
static inline void pace_aside(struct pace_process *process, struct pace_task *task,
			      const struct pace_handle *handle, uint64_t bytes)
{
	if (handle->backing.synced)
		bytes = (bytes + WP_PAGE_BYTES - 1) / WP_PAGE_BYTES * WP_PAGE_BYTES;
	task->aside_bytes += bytes;
	word_add(&process->aside_bytes, bytes);
}

/* What another thread will dirty for this one. */
static inline void pace_charge_others(struct pace_task *task, struct pace_handle *handle,
				      uint64_t bytes)
{
	task->owed_bytes += bytes;
	word_bump_local(&handle->charged_bytes, bytes);
}

/* How a call may be slept for. */
enum pace_manner {
	PACE_SLEEP,    /* until the pause is over or a signal came */
	PACE_BLOCKED,  /* signals are blocked: until one is pending */
	PACE_NO_SLEEP, /* RWF_NOWAIT: the debt stays */
};

/*
 * The slow path, before a call. Returns false when @fd is no longer what @handle says: the
 * front end asks it anew. errno is kept.
 */
bool pace_before(struct pace_process *process, struct pace_task *task,
		 struct pace_handle *handle, int fd,
		 enum pace_manner manner) WP_MUST_CHECK;

/*
 * Around a call that syncs @fd. The device, for the end; NULL when there is none. errno is kept.
 * A task that is killed in between holds nobody for long.
 */
struct wp_device *pace_sync_begin(struct pace_process *process, struct pace_task *task,
				  struct pace_handle *handle, int fd);
void pace_sync_end(struct wp_device *device);

/*
 * Before a descriptor is closed: settle its file, and sleep in steps until no more than a
 * window of it is outstanding, at most the drain target. What is left becomes orphans.
 */
void pace_close(struct pace_process *process, struct pace_task *task,
		struct pace_handle *handle, int fd);

/*
 * Look after the file as a pause does, while its task makes no call: settle, start what is due.
 * Returns how long until that is worth to be done again, UINT64_MAX where less than a unit
 * waits for that.
 */
uint64_t pace_tend(struct pace_process *process, struct pace_task *task,
		   struct pace_handle *handle, int fd);

/*
 * Before a rename over another file: the same, but the descriptor stays. Why: ext4, xfs and btrfs
 * start all of the file's writeback there.
 */
void pace_drain(struct pace_process *process, struct pace_task *task,
		struct pace_handle *handle, int fd);

/*
 * Round a call that cuts off part of a file: before it what completed is counted, after it what
 * is missing was cancelled.
 */
void pace_settle(struct pace_process *process, struct pace_task *task,
		 struct pace_handle *handle, int fd);
void pace_cancel(struct pace_process *process, struct pace_task *task,
		 struct pace_handle *handle, int fd);

/* May there be dirt to cancel? A hint that costs nothing. */
bool pace_has_outstanding(struct pace_process *process);

/* What the file of the handle accounts for; 0 where that is not known. */
uint64_t pace_outstanding_bytes(const struct pace_process *process,
				const struct pace_handle *handle);

/* The last name of a file went, or all it held: dirt that its writer left behind is gone. */
void pace_vanished(struct pace_process *process, const struct backing *backing);

/*
 * Take what was charged to the handle into the process's total, and return it. Why by handles:
 * threads that come and go leave what they charged nowhere else.
 */
static inline uint64_t pace_take_charged(struct pace_process *process,
					 struct pace_handle *handle)
{
	uint64_t bytes = word_exchange(&handle->charged_bytes, 0);

	word_add(&process->totals.charged_bytes, bytes);
	return bytes;
}

/* Has the handle anything that pace_close() would settle? */
static inline bool pace_has_dirt(const struct pace_handle *handle)
{
	return word_read_relaxed(&handle->charged_bytes) ||
	       word_read_relaxed(&handle->slots);
}

/* Remember a device for the summary line. */
void pace_note_device(struct pace_process *process, uint64_t device_number);

/*
 * Is this the process that attached, or a fork child of it (which then forgets its parent's
 * dirt)? False in a vfork child: it shares its parent's memory and only counts.
 */
bool pace_own(struct pace_process *process, struct pace_task *task);

/* Close the process's books: dirtied and uncovered bytes, added to the command's totals once. */
void pace_finish(struct pace_process *process, struct pace_task *task);

#endif
