/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the wrappers of one call share with those that make it by another way (syscall, io_submit).
 */
#ifndef WP_PRELOAD_PARTS_H
#define WP_PRELOAD_PARTS_H

#include <linux/aio_abi.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/types.h"

#ifndef SYS_sendfile64 /* machines of 64 bits have one */
#define SYS_sendfile64 SYS_sendfile
#endif

#define OWN_OFFSET INT64_MIN /* the file's own; -1 is an error of pwrite */

/* Can the word at @at be read? */
bool program_can_read(uintptr_t at);

/* Bytes of a program's vector; 0 for one that the kernel will refuse. */
uint64_t program_vector_bytes(const struct iovec *vector, int count);

/*
 * All but the fast path: an unknown descriptor, a task that is due, a call larger than a piece.
 * True when the call was made in pieces and @result is its result.
 */
bool write_slow(int fd, const struct iovec *vector, int count, uint64_t bytes, off64_t at,
		int flags, ssize_t *result);

/* What was written after all. */
void write_charge(int fd, ssize_t result);

/* io_submit, raw: what it writes to paced files is charged. */
long submit(aio_context_t context, long count, struct iocb **list);

/* Where syscall() passes on what is not ours. */
void syscall_resolve(void);

/* Around a copy to @fd; where it is paced, *@n is clamped. */
struct offload {
	int fd;
	bool paced;
	uint64_t before_bytes;
};
void offload_before(struct offload *offload, int fd, size_t *n);
void offload_after(const struct offload *offload, ssize_t result);

#endif
