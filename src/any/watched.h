/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the supervisor knows of the programs it acts for: processes, their tasks, their files.
 *
 * A process or file may be in use by a fiber that sleeps; what is over meanwhile is freed by its
 * last user.
 */
#ifndef WP_ANY_WATCHED_H
#define WP_ANY_WATCHED_H

#include <sys/types.h>

#include "any/look.h"
#include "pace/pace.h"

struct watched_file {
	struct watched_file *next; /* of its process */
	struct watched_process *process;
	int number; /* the program's descriptor */
	int fd;     /* ours, -1 = not open: nothing to pace, or all of it clean */
	bool kept;  /* a fiber looks after it between calls */
	bool gone;  /* the program's descriptor is closed or another's by now */
	unsigned users;
	uint64_t used_ns;   /* last call to it */
	uint64_t looked_ns; /* by tidy.c */
	struct look_file seen;
	struct pace_handle handle;
};

struct watched_task {
	struct watched_task *next; /* in its row of the table */
	struct watched_task *sibling;
	struct watched_process *process;
	pid_t thread;
	int descriptors; /* the folder of them */
	int counts;
	bool busy;    /* a fiber acts for it */
	bool waits;   /* a call of it */
	bool counted; /* since that call came, so there is nothing new */
	bool blind; /* the counts can not be read: what was asked for is taken for dirt */
	struct kernel_io io;      /* the last count */
	uint64_t cancelled_bytes; /* what of it was told the engine */
	uint64_t cancelled_ns;    /* when more was first seen, 0 = not */
	struct pace_task pace;
	struct wp_device *syncing;
	/* the call that went on last: what it did is known at the next one */
	struct watched_file *pending;
	uint64_t pending_bytes; /* asked for */
	bool pending_counts; /* and how much of it was done is to be had from the counts */
};

struct watched_process {
	struct watched_process *next;
	pid_t process;
	int pidfd;
	int error_output; /* to be told something, -1 = nothing is to be told */
	bool wanted;      /* by its name */
	bool ended;
	bool finished; /* its books are closed, or about to be */
	unsigned users;
	uint64_t gone_bytes; /* dirtied by tasks that ended */
	uint64_t
		others_bytes; /* by threads that make no calls of their own, and charged */
	struct watched_file *files;
	struct watched_file *last; /* written to; for calls that name none */
	struct watched_task *tasks;
	struct watched_task tail; /* acts where no task of it does; in no table */
	struct pace_process pace;
	char name[LOOK_NAME_BYTES];
};

extern struct watched_process *watched_processes;
extern unsigned watched_open; /* descriptors of ours to files of theirs */

/* Each process starts with a copy of @like. @poll_fd, an epoll, tells of its end by its address. */
void watched_begin(const struct pace_process *like, int poll_fd);

/* The task of a thread that waits, made where it is new; NULL where that can not be. */
struct watched_task *watched_task(pid_t thread);
bool watched_knows(pid_t thread);

/* The same after a look whether its number is still that of the one we know. */
struct watched_task *watched_renewed(struct watched_task *task);

/* Count anew; returns what is more than at the last time. */
uint64_t watched_new_dirt(struct watched_task *task);

/*
 * Did a task throw dirt away since its last visit? Then its next one has to be the first that looks, else that
 * would be taken for written.
 */
bool watched_has_cancelled(struct watched_process *process);

/* What threads of the process that never come by dirtied since the last time: io_uring's. */
uint64_t watched_others_dirt(struct watched_process *process);

/* The descriptor's file if it is still the one that is known and open, else NULL. */
struct watched_file *watched_known(struct watched_task *task, int number);

/*
 * The same, as it is now: what was there before is closed (in a fiber it may sleep for that),
 * what is new is opened. NULL: no such descriptor.
 */
struct watched_file *watched_look(struct watched_task *task, int number);

/* In use, so that it stays; no more. */
void watched_hold(struct watched_file *file);
void watched_drop(struct watched_file *file);

/* Charge what the task's last call did. */
void watched_settle(struct watched_task *task);

/* The program closed it, or its descriptor is another file's by now. */
void watched_retire(struct watched_file *file, struct watched_task *task);

/* Settle it and close ours; the last user but the caller. It is opened again when written to. */
void watched_close(struct watched_file *file, struct watched_task *task);

/* Does the program's descriptor still stand for it? */
bool watched_is_there(const struct watched_file *file);

/* All its files are closed and so are its books; @task acts. Before its end, or after. */
void watched_finish(struct watched_process *process, struct watched_task *task);

/* Freed where nobody uses it. */
void watched_forget(struct watched_process *process);

#endif
