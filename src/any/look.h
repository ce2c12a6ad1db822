/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking at another process through /proc. Nothing here waits for a file system: one that is
 * served by a program under our filter would wait for us.
 */
#ifndef WP_ANY_LOOK_H
#define WP_ANY_LOOK_H

#include <sys/types.h>

#include "base/types.h"
#include "host/kernel.h"

#define LOOK_NAME_BYTES 64

/* The process of a thread; 0 when there is none. */
pid_t look_process(pid_t thread);

/* Its program's name, as the program itself was given it. */
void look_name(pid_t process, char name[LOOK_NAME_BYTES]);

/* A descriptor of the folder of a thread's descriptors, and of its I/O counts; -1. */
int look_descriptors(pid_t thread);
int look_counts(pid_t process, pid_t thread);

/* Of a whole process, its past threads and children that it waited for included. */
uint64_t look_process_bytes(pid_t process);

/*
 * Bytes dirtied or written directly, read, and truncated while dirty, all of them since it began,
 * from its counts; a negative errno (-ESRCH: it is gone).
 */
int look_io(int counts, struct kernel_io *io);

/* Has it a signal that would be handled if it did not wait for us? One that is in a hurry. */
bool look_has_signal(pid_t thread);

/* The @nth of a thread's descriptors that a file may be written by; -1: there are no more. */
int look_nth_writable(pid_t thread, int descriptors, int nth);

/* What a descriptor is of. */
struct look_file {
	bool pacable;    /* a regular file or a block device */
	uint64_t device; /* its own number */
	uint64_t inode;
};

/* False: there is no such descriptor. */
bool look_at(int descriptors, int number, struct look_file *file) WP_MUST_CHECK;

/*
 * Open it a second time, for reading: another descriptor, whose locks are its own. @backing tells what it
 * is to be taken for. -1 for what is not paced: then @backing is BACKING_NONE or _ASIDE.
 */
int look_open(pid_t thread, int descriptors, int number, const struct look_file *file,
	      struct backing *backing);

/*
 * Its standard error, to be kept: many programs close theirs before they end. No writer of it.
 * -1 where there is none.
 */
int look_error_output(pid_t process);

/* A line to it. */
void look_say(int error_output, const char *line, size_t bytes);

#endif
