/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls without libc: they touch no errno, are no cancellation points and pass no symbol
 * that anybody could interpose. Returns the kernel's value, a negative errno on failure.
 *
 * Why: every interposed call must behave in signal handlers, before constructors ran and in
 * programs that define write() themselves.
 */
#ifndef WP_HOST_SYS_H
#define WP_HOST_SYS_H

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
static inline long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
static inline long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
	int saved_errno = errno;
	long result = syscall(number, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = saved_errno;
	return result;
}
#endif

/* An argument of 64 bits: where a register has 32, two of them. */
#if __SIZEOF_LONG__ < 8
#define SYS_WIDE(x) ((uint64_t)(x)&UINT32_MAX), ((uint64_t)(x) >> 32)
#else
#define SYS_WIDE(x) (x)
#endif

#define SYS_PICK(_1, _2, _3, _4, _5, _6, _7, name, ...) name
#define sys_call(...)                                                         \
	SYS_PICK(__VA_ARGS__, sys_call_6, sys_call_5, sys_call_4, sys_call_3, \
		 sys_call_2, sys_call_1, sys_call_0, )                        \
	(__VA_ARGS__)
#define sys_call_0(n) sys_call6(n, 0, 0, 0, 0, 0, 0)
#define sys_call_1(n, a) sys_call6(n, (long)(a), 0, 0, 0, 0, 0)
#define sys_call_2(n, a, b) sys_call6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys_call_3(n, a, b, c) sys_call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys_call_4(n, a, b, c, d) \
	sys_call6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define sys_call_5(n, a, b, c, d, e) \
	sys_call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define sys_call_6(n, a, b, c, d, e, f) \
	sys_call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* A result of sys_call() as libc's wrappers return it. */
static inline long with_errno(long result)
{
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

#endif
