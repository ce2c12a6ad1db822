/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/filter.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "any/calls.h"
#include "host/inside.h"

#define NUMBER_AT offsetof(struct seccomp_data, nr)
#define ARCH_AT offsetof(struct seccomp_data, arch)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_AT 0
#else
#define LOW_AT 4
#endif

static void put(struct filter *filter, struct sock_filter one)
{
	if (filter->count < FILTER_MAX)
		filter->code[filter->count++] = one;
}

static void put_load(struct filter *filter, size_t at)
{
	put(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)at));
}

/* Go on where it holds, else pass over @skip. */
static void put_test(struct filter *filter, unsigned short test, uint32_t value,
		     unsigned char skip)
{
	put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, skip));
}

static void put_return(struct filter *filter, uint32_t what)
{
	put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

static size_t argument_at(int argument)
{
	return offsetof(struct seccomp_data, args) + 8 * (size_t)argument;
}

/* With the number loaded. */
static void put_call(struct filter *filter, int number, int length)
{
	if (number < 0)
		return;
	if (length < 0) {
		put_test(filter, BPF_JEQ, (uint32_t)number, 1);
		put_return(filter, SECCOMP_RET_USER_NOTIF);
		return;
	}
	put_test(filter, BPF_JEQ, (uint32_t)number, 6);
	put_load(filter, argument_at(length) + 4 - LOW_AT);
	put_test(filter, BPF_JEQ, 0, 2);
	put_load(filter, argument_at(length) + LOW_AT);
	put_test(filter, BPF_JGE, CALLS_LEAST_BYTES, 1);
	put_return(filter, SECCOMP_RET_USER_NOTIF);
	put_return(filter, SECCOMP_RET_ALLOW);
}

/* The answer that host/inside.h asks for. */
static void put_inside(struct filter *filter)
{
	put_test(filter, BPF_JEQ, SYS_prctl, 3);
	put_load(filter, argument_at(0) + LOW_AT);
	put_test(filter, BPF_JEQ, INSIDE_PRCTL, 1);
	put_return(filter, SECCOMP_RET_ERRNO | INSIDE_ERRNO);
}

/* All calls of an ABI, behind a test for it. */
static void put_abi(struct filter *filter, uint32_t arch, bool native)
{
	unsigned short jump;

	put_load(filter, ARCH_AT);
	put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch, 1, 0));
	jump = filter->count;
	put(filter, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
	put_load(filter, NUMBER_AT);
	for (size_t i = 0; i < call_count; i++)
		put_call(filter, native ? calls[i].native : calls[i].compat,
			 calls[i].length);
	if (native)
		put_inside(filter);
	put_return(filter, SECCOMP_RET_ALLOW);
	filter->code[jump].k = (uint32_t)(filter->count - jump - 1);
}

void filter_build(struct filter *filter)
{
	filter->count = 0;
	put_abi(filter, CALLS_NATIVE_ARCH, true);
#ifdef CALLS_COMPAT_ARCH
	put_abi(filter, CALLS_COMPAT_ARCH, false);
#endif
	put_return(filter, SECCOMP_RET_ALLOW);
}
