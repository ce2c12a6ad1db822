/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the engine asks of the kernel and tells it, in the engine's words. Every function here is
 * async-signal-safe, opens nothing, allocates nothing and leaves errno alone.
 * Errors are negative errnos.
 */
#ifndef WP_HOST_KERNEL_H
#define WP_HOST_KERNEL_H

#include "base/types.h"

/* CLOCK_MONOTONIC. */
uint64_t kernel_now_ns(void);

/* CLOCK_BOOTTIME, comparable with the start times in /proc. */
uint64_t kernel_boot_ns(void);

/* What this thread took of the processor. */
uint64_t kernel_spent_ns(void);

/* What a file has in the page cache. */
struct kernel_pages {
	uint64_t dirty_bytes;
	uint64_t writeback_bytes;
	uint64_t cached_bytes; /* those and the clean ones */
};

/*
 * Pages of @fd from @offset_bytes on, @length_bytes long, 0 = to the end. A large folio counts
 * whole. -EPERM: neither owner nor writable; -ENOSYS: before Linux 6.5.
 */
int kernel_cachestat(int fd, uint64_t offset_bytes, uint64_t length_bytes,
		     struct kernel_pages *pages) WP_MUST_CHECK;

/* Start writeback of a range, never wait for it. May block for as long as the queue is full. */
int kernel_start_writeback(int fd, uint64_t offset_bytes,
			   uint64_t length_bytes) WP_MUST_CHECK;

/* What stands behind a descriptor. */
enum backing_kind {
	BACKING_NONE,  /* nothing to pace: pipe, socket, tty, tmpfs */
	BACKING_ASIDE, /* the same, but the kernel counts it: direct, synchronous */
	BACKING_FILE,  /* a regular file on a file system with writeback */
	BACKING_BLOCK, /* a block device */
};

struct backing {
	enum backing_kind kind;
	bool synced;   /* each write to it writes whole pages to the device */
	bool unlinked; /* no name is left: what is dirty goes with the last descriptor */
	bool reflinks; /* on a file system that can share extents */
	bool unseen; /* overlayfs: its pages are another file's, which no call here reaches */
	uint64_t device; /* device number */
	uint64_t inode;
	uint64_t size_bytes; /* 0 for a block device */
};

/* Whole: kind, file system, device. Three system calls. */
void kernel_backing(int fd, struct backing *backing);

/* The same of a descriptor that may be of O_PATH: @flags are those of the one it stands for. */
void kernel_backing_as(int fd, int flags, struct backing *backing);

/*
 * The regular file behind a name, links not followed; false where there is none. Unlinked: it has
 * no other name.
 */
bool kernel_named(int folder, const char *path, struct backing *backing) WP_MUST_CHECK;

/* Is it still the file of @backing? Refreshes its size and names. One system call. */
bool kernel_still(int fd, struct backing *backing) WP_MUST_CHECK;

/*
 * The same of a descriptor that another thread may be making: past libc, where a sanitizer of threads
 * would take it for a race. False also where the kernel has no statx.
 */
bool kernel_still_raw(int fd, struct backing *backing) WP_MUST_CHECK;

/* The open flags (O_APPEND, O_DIRECT ...), or a negative errno. */
int kernel_open_flags(int fd);

/* The descriptor's position, 0 where it has none. */
uint64_t kernel_position(int fd);

/* Change a futex word in shared memory and wake whoever waits on it. Returns how many did. */
int kernel_wake(uint32_t *word);

/* Close @first_fd and all descriptors above it. */
void kernel_close_from(int first_fd);

/*
 * Weight from the I/O priority of a thread, 0 = the caller: level 0..7 of the best-effort class ->
 * 200..25, 4 is 100; real time 200, idle 10. Without a priority of its own the kernel derives the
 * level from the nice value, and so does this.
 */
uint64_t kernel_weight(uint64_t thread);

/* Reserve the blocks of a file of ours, so that it can not fail later. */
int kernel_reserve(int fd, uint64_t bytes) WP_MUST_CHECK;

/* ---- the task that calls (host/caller.c); src/any has its own of these ---- */

/* Sleep @span_ns; false when a signal ended it early. No cancellation point. */
bool kernel_sleep_ns(uint64_t span_ns);

/*
 * Block all signals; false where that is not possible. @mask is what was blocked before.
 * Sleep @span_ns with @mask alone blocked: false when a signal ended it, also one that came
 * since they were blocked.
 */
bool kernel_block_signals(uint64_t *mask);
void kernel_unblock_signals(uint64_t mask);
bool kernel_sleep_open_ns(uint64_t span_ns, uint64_t mask);

/* The calling thread's pending signals, a bit each: blocked ones that wait to be handled. */
uint64_t kernel_signals_pending(void);

/* Bytes the calling thread (or its whole process) dirtied or wrote directly since it began. */
uint64_t kernel_thread_dirtied_bytes(void);

/* The same of this thread, and what it read from block devices. */
struct kernel_io {
	uint64_t dirtied_bytes;
	uint64_t read_bytes;
	uint64_t cancelled_bytes; /* dirt that went by a truncation since it was asked
				     last; 0 where nobody counts that */
};
struct kernel_io kernel_thread_io(void);
uint64_t kernel_process_dirtied_bytes(void);

/* Identity of the calling task: pid << 32 | tid. */
uint64_t kernel_task_id(void);

uint64_t kernel_process_id(void);

#endif
