/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of calls.def, and the kinds of system call they may come as.
 */
#ifndef WP_ANY_CALLS_H
#define WP_ANY_CALLS_H

#include <linux/audit.h>

#include "base/types.h"

/* Shorter writes pass in the kernel. Theirs is dirt that nobody charged: uncovered. */
#define CALLS_LEAST_BYTES 4096u

#if defined(__x86_64__) && !defined(__ILP32__)
#define CALLS_NATIVE_ARCH AUDIT_ARCH_X86_64
#define CALLS_COMPAT_ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define CALLS_NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

enum call_class { CALL_WRITE, CALL_COPY, CALL_SYNC, CALL_WHOLE, CALL_EXIT, CALL_UNMOUNT };

struct call {
	enum call_class class;
	int native;
	int compat;     /* -1 = none */
	int descriptor; /* -1 = none */
	int length;
};

extern const struct call calls[];
extern const size_t call_count;

/* The call with this number in this ABI, NULL = none of ours. */
const struct call *calls_find(uint32_t arch, int number);

#endif
