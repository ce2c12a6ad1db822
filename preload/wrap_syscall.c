/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscall(): 148 of 1265 programs import it, node copies files by it. Numbers that write, close,
 * end or set a filter go through the gate; all others are a jump to the real function with every
 * register as it was.
 *
 * Why assembly: the number may be vfork, which must not return through a frame of ours, and what
 * a compiler makes of a tail call is its own business. Where there is none, syscall() is not
 * interposed.
 */
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "export.h"
#include "gate.h"
#include "host/sys.h"
#include "parts.h"
#include "real.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* An architecture says how a number leads to syscall_seen(), and the rest to real.syscall. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define STUB_BEGIN "endbr64\n"
#define STUB_SEEN(number) "cmpq $" TEXT(number) ", %rdi\n je syscall_seen\n"
#define STUB_END "jmp *real_syscall(%rip)\n"
#define STUB_DUP2 STUB_SEEN(SYS_dup2)
#elif defined(__aarch64__)
#define STUB_BEGIN "hint #34\n"
#define STUB_SEEN(number) "cmp x0, #" TEXT(number) "\n b.eq syscall_seen\n"
#define STUB_END                   \
	"adrp x16, real_syscall\n" \
	"ldr x16, [x16, #:lo12:real_syscall]\n br x16\n"
#define STUB_DUP2
#endif

#ifdef STUB_BEGIN

/* clang-format off */
__asm__(".text\n"
	".p2align 4\n"
	".globl syscall\n"
	".type syscall, %function\n"
	"syscall:\n"
	".cfi_startproc\n"
	STUB_BEGIN
	STUB_SEEN(SYS_write)
	STUB_SEEN(SYS_pwrite64)
	STUB_SEEN(SYS_writev)
	STUB_SEEN(SYS_pwritev)
	STUB_SEEN(SYS_pwritev2)
	STUB_SEEN(SYS_copy_file_range)
	STUB_SEEN(SYS_sendfile)
	STUB_SEEN(SYS_splice)
	STUB_SEEN(SYS_io_submit)
	STUB_SEEN(SYS_close)
	STUB_DUP2
	STUB_SEEN(SYS_dup3)
	STUB_SEEN(SYS_close_range)
	STUB_SEEN(SYS_exit_group)
	STUB_SEEN(SYS_prctl)
	STUB_SEEN(SYS_seccomp)
	STUB_END
	".cfi_endproc\n"
	".size syscall, . - syscall\n");
/* clang-format on */

/* Inv: never NULL, for the stub reads it at any time. */
typedef long numbered(long number, long a, long b, long c, long d, long e, long f);
numbered *real_syscall;
numbered syscall_seen;

static long early_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	return with_errno(sys_call(number, a, b, c, d, e, f));
}

numbered *real_syscall = early_syscall;

void syscall_resolve(void)
{
	if (real.syscall)
		real_syscall = (numbered *)(uintptr_t)real.syscall;
}

/* What a numbered call writes. */
struct numbered_write {
	struct iovec one;
	const struct iovec *vector;
	int count;
	uint64_t bytes;
	off64_t at;
	int flags;
};

/* The arguments after the descriptor, as the kernel has them on machines of 64 bits. */
static void see_write(struct numbered_write *w, long number, long b, long c, long d,
		      long f)
{
	bool single = number == SYS_write || number == SYS_pwrite64;

	*w = (struct numbered_write){ .at = d, .vector = (const struct iovec *)b };
	if (single) {
		w->one = (struct iovec){ .iov_base = (void *)b, .iov_len = (size_t)c };
		w->vector = &w->one;
		w->count = 1;
		w->bytes = (uint64_t)c;
	} else {
		w->count = (int)c;
		w->bytes = program_vector_bytes(w->vector, w->count);
	}
	if (number == SYS_write || number == SYS_writev)
		w->at = OWN_OFFSET;
	if (number == SYS_pwritev2) {
		w->flags = (int)f;
		w->at = d == -1 ? OWN_OFFSET : d;
	}
}

/* Why the call itself is made by the real function: it is a system call and nothing more. */
static long write_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	uint64_t kind = gate_kind_of((int)a);
	struct numbered_write w;
	ssize_t r;

	if (kind == GATE_PASS)
		return real_syscall(number, a, b, c, d, e, f);
	see_write(&w, number, b, c, d, f);
	if (!gate_is_free(kind, (int)a, w.bytes) &&
	    write_slow((int)a, w.vector, w.count, w.bytes, w.at, w.flags, &r))
		return r;
	r = real_syscall(number, a, b, c, d, e, f);
	write_charge((int)a, r);
	return r;
}

static long sendfile_by_number(long a, long b, long c, long d)
{
	struct offload offload;
	size_t n = (size_t)d;
	long r;

	offload_before(&offload, (int)a, &n);
	r = real_syscall(SYS_sendfile, a, b, c, (long)n, 0, 0);
	offload_after(&offload, r);
	return r;
}

static long copy_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	struct offload offload;
	size_t n = (size_t)e;
	long r;

	offload_before(&offload, (int)c, &n);
	r = real_syscall(number, a, b, c, d, (long)n, f);
	offload_after(&offload, r);
	return r;
}

static void see_descriptor(long number, long a, long b, long c)
{
	if (number == SYS_close)
		gate_close((int)a);
	else if (number == SYS_close_range && !(c & CLOSE_RANGE_CLOEXEC))
		gate_close_range((uint32_t)a, (uint32_t)b);
	else if (number != SYS_close_range && a != b)
		gate_close((int)b);
}

/* A numbered call that the stub did not pass on. */
long syscall_seen(long number, long a, long b, long c, long d, long e, long f)
{
	switch (number) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
		return write_by_number(number, a, b, c, d, e, f);
	case SYS_sendfile:
		return sendfile_by_number(a, b, c, d);
	case SYS_splice:
	case SYS_copy_file_range:
		return copy_by_number(number, a, b, c, d, e, f);
	case SYS_io_submit:
		return with_errno(submit((aio_context_t)a, b, (struct iocb **)c));
	case SYS_exit_group:
		gate_finish();
		break;
	case SYS_prctl:
		if (a == PR_SET_SECCOMP)
			gate_retire();
		break;
	case SYS_seccomp:
		if (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER)
			gate_retire();
		break;
	default:
		see_descriptor(number, a, b, c);
	}
	return real_syscall(number, a, b, c, d, e, f);
}

#else

void syscall_resolve(void)
{
}

#endif
