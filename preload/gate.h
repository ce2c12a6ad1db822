/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gate in front of every interposed call: what is this descriptor, is its task due?
 *
 * A direct-mapped table remembers 1024 descriptors. An entry's tag holds the descriptor and
 * what it is, so one compare tells both; calls that can close or replace a descriptor clear it,
 * and each slow path asks the kernel again.
 *
 * Fast path: one load and compare for what is not paced; for the rest two compares before the
 * call and two adds after it. No lock, no system call, no shared write.
 */
#ifndef WP_PRELOAD_GATE_H
#define WP_PRELOAD_GATE_H

#include "pace/pace.h"

#define GATE_ENTRIES 1024u

enum gate_kind {
	GATE_UNKNOWN = 0,
	GATE_PASS = 1, /* nothing to pace there */
	GATE_PACED = 2,
	GATE_ASIDE = 3, /* nothing to pace, but in the kernel's count of dirt */
};

/* Why of 64 bytes: found by a shift, on each call, and never on two lines of the cache. */
struct gate_entry {
	uint64_t tag; /* (fd + 1) << 2 | kind, 0 = unknown */
	struct pace_handle handle;
} __attribute__((aligned(64)));

extern struct gate_entry gate_table[GATE_ENTRIES];
_Static_assert(sizeof(gate_table) % 4096 == 0, "a table of whole pages");
extern struct pace_process gate_process;
extern bool
	gate_inert; /* pass everything: not wanted here, or not yet, or not possible */
extern __thread struct pace_task gate_task __attribute__((tls_model("initial-exec")));

static inline uint64_t gate_tag(int fd, enum gate_kind kind)
{
	return ((uint64_t)(uint32_t)fd + 1) << 2 | (uint64_t)kind;
}

static inline struct gate_entry *gate_entry(int fd)
{
	return &gate_table[(uint32_t)fd % GATE_ENTRIES];
}

/* What is known of @fd: one of enum gate_kind, anything else is nothing. */
static inline uint64_t gate_kind_of(int fd)
{
	return word_read_relaxed(&gate_entry(fd)->tag) - gate_tag(fd, GATE_UNKNOWN);
}

static inline bool gate_passes(int fd)
{
	return gate_kind_of(fd) == GATE_PASS;
}

static inline bool gate_is_paced(int fd)
{
	return gate_kind_of(fd) == GATE_PACED;
}

/* Not paced; what a call wrote there is not dirt. */
static inline void gate_aside(int fd, int64_t result)
{
	if (result > 0 &&
	    word_read_relaxed(&gate_entry(fd)->tag) == gate_tag(fd, GATE_ASIDE))
		pace_aside(&gate_process, &gate_task, &gate_entry(fd)->handle,
			   (uint64_t)result);
}

/* A paced descriptor, a task that is not due, a call of no more than a piece: the fast path. */
static inline bool gate_is_free(uint64_t kind, int fd, uint64_t bytes)
{
	return kind == GATE_PACED && !pace_due(&gate_task, &gate_entry(fd)->handle) &&
	       bytes <= gate_task.piece_bytes;
}

/* Unknown descriptor, due task or both: true when the call is to be charged. */
bool gate_slow(int fd, enum pace_manner manner);

/*
 * Before a call that writes to @fd: sleeps if its task is due. True when what the call writes
 * is to be charged with gate_charge(), false when the call passes.
 */
static inline bool gate_open(int fd, enum pace_manner manner)
{
	if (gate_passes(fd))
		return false;
	if (wp_likely(gate_is_paced(fd) &&
		      !pace_due(&gate_task, &gate_entry(fd)->handle)))
		return true;
	return gate_slow(fd, manner);
}

static inline void gate_charge(int fd, uint64_t bytes)
{
	pace_charge(&gate_task, &gate_entry(fd)->handle, bytes);
}

/* The descriptor is about to be closed or replaced: settle what it wrote, forget it. */
void gate_close_known(int fd);

static inline void gate_close(int fd)
{
	if (wp_unlikely(word_read_relaxed(&gate_entry(fd)->tag) >> 2 ==
			(uint64_t)(uint32_t)fd + 1))
		gate_close_known(fd);
}

/* Around a call that syncs @fd. */
struct wp_device *gate_sync(int fd);

/* A paced descriptor of the file with something outstanding, -1 for none. */
int gate_find(const struct backing *backing);

/* struct pace_process's other(). */
int gate_other(const struct pace_handle *handle, struct pace_handle **found);

/* gate_close() for all from @first to @last. */
void gate_close_range(uint32_t first, uint32_t last);

/*
 * Bytes that another thread will write for this one (libc's asynchronous writes): the kernel
 * counts them there, this task owes them.
 */
static inline void gate_charge_others(int fd, uint64_t bytes)
{
	pace_charge_others(&gate_task, &gate_entry(fd)->handle, bytes);
}

/*
 * The program sets a filter on system calls, after which one of ours may be its end: the books
 * are closed, everything passes from now on (H42). A vfork child's filter is not its parent's.
 */
void gate_retire(void);

/* The process ends: settle all, close the books. The line goes to stderr once, if asked for. */
void gate_finish(void);

#endif
