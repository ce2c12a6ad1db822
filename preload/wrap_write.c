/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * write and its kin. A call larger than a piece becomes a loop of raw calls with signals
 * blocked, so that no handler, cancellation or long jump can lose the count (design 5).
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "export.h"
#include "gate.h"
#include "host/sys.h"
#include "parts.h"
#include "real.h"

#define APPEND_WHOLE_BYTES WP_MIB(1) /* records appended are not split below this */
#define PIECE_VECTORS 16
#define CALL_MAX_BYTES 0x7ffff000u /* the kernel writes no more in one call */
#define STACK_NEAR_BYTES WP_KIB(16)

/* Where in a vector a call in pieces stands. */
struct progress {
	const struct iovec *vector;
	int count;
	size_t within_bytes; /* of vector[0] already written */
	off64_t at;          /* or OWN_OFFSET */
	uint64_t done_bytes;
	uint64_t left_bytes;
};

static uint64_t vector_bytes(const struct iovec *vector, int count)
{
	uint64_t bytes = 0;

	for (int i = 0; i < count; i++)
		bytes += vector[i].iov_len;
	return bytes;
}

/*
 * A system call that reads a signal set there and then refuses what it is to do with it answers
 * without a fault.
 */
bool program_can_read(uintptr_t at)
{
	const int no_action = -1;

	return sys_call(SYS_rt_sigprocmask, no_action, at & ~(uintptr_t)7, NULL, 8) ==
	       -EINVAL;
}

/*
 * May the program's vector be read? The kernel answers a bad one with EFAULT, so must we.
 * Close above our own frame is the caller's stack, where most vectors are; others are tried.
 */
static bool vector_is_readable(const struct iovec *vector, int count)
{
	uintptr_t at = (uintptr_t)vector;
	uintptr_t end = at + (uintptr_t)count * sizeof(*vector);
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (at > frame && end < frame + STACK_NEAR_BYTES && end > at)
		return true;
	if (end <= at)
		return false;
	for (; at < end; at = (at | (WP_PAGE_BYTES - 1)) + 1) {
		if (!program_can_read(at))
			return false;
	}
	return true;
}

uint64_t program_vector_bytes(const struct iovec *vector, int count)
{
	if (count < 1 || count > IOV_MAX || !vector_is_readable(vector, count))
		return 0;
	return vector_bytes(vector, count);
}

static long raw_write(int fd, const struct iovec *vector, int count, off64_t at,
		      int flags)
{
	long low = (long)at;
	long high = sizeof(long) < sizeof(at) ? (long)(at >> 32) : 0;

	if (at == OWN_OFFSET && !flags)
		return sys_call(SYS_writev, fd, vector, count);
	if (!flags)
		return sys_call(SYS_pwritev, fd, vector, count, low, high);
	if (at == OWN_OFFSET)
		low = high = -1; /* as pwritev2 has it */
	return sys_call(SYS_pwritev2, fd, vector, count, low, high, flags);
}

/* Fill @part with what comes next, at most @bytes of it; returns the number of vectors. */
static int next_part(const struct progress *progress, struct iovec *part, uint64_t bytes)
{
	size_t skip_bytes = progress->within_bytes;
	int used = 0;

	for (int i = 0; i < progress->count && used < PIECE_VECTORS && bytes; i++) {
		size_t length = progress->vector[i].iov_len - skip_bytes;

		part[used].iov_base = (char *)progress->vector[i].iov_base + skip_bytes;
		part[used].iov_len = (size_t)min_u64(length, bytes);
		bytes -= part[used++].iov_len;
		skip_bytes = 0;
	}
	return used;
}

static void advance(struct progress *progress, uint64_t bytes)
{
	progress->done_bytes += bytes;
	progress->left_bytes -= bytes;
	if (progress->at != OWN_OFFSET)
		progress->at += (off64_t)bytes;
	while (progress->count &&
	       progress->vector[0].iov_len - progress->within_bytes <= bytes) {
		bytes -= progress->vector[0].iov_len - progress->within_bytes;
		progress->within_bytes = 0;
		progress->vector++;
		progress->count--;
	}
	progress->within_bytes += (size_t)bytes;
}

/*
 * A plain call that hits the file size limit in the middle returns short, without a signal; our
 * last piece got EFBIG and with it a SIGXFSZ that nobody must see.
 */
static void take_back_sigxfsz(uint64_t pending_before)
{
	uint64_t set = UINT64_C(1) << (SIGXFSZ - 1);
	struct timespec now = { 0 };

	if (!(pending_before & set))
		sys_call(SYS_rt_sigtimedwait, &set, NULL, &now, sizeof(set));
}

/* Returns what was written, or the error when that was nothing. */
static long write_pieces(int fd, struct progress *progress, int flags)
{
	struct iovec part[PIECE_VECTORS];
	uint64_t piece_bytes = gate_task.piece_bytes;
	uint64_t pending = 0;

	while (progress->count && progress->left_bytes) {
		int count;
		uint64_t wanted_bytes;
		long result;

		/* Once a signal waits, the rest goes out unpaced. */
		pending = pending ? pending : kernel_signals_pending();
		if (!pending && gate_open(fd, PACE_BLOCKED))
			piece_bytes = gate_task.piece_bytes;
		count = next_part(progress, part,
				  min_u64(progress->left_bytes,
					  pending ? UINT64_MAX : piece_bytes));
		wanted_bytes = vector_bytes(part, count);
		result = raw_write(fd, part, count, progress->at, flags);
		if (result == -EFBIG && progress->done_bytes)
			take_back_sigxfsz(pending);
		if (result < 0)
			return progress->done_bytes ? (long)progress->done_bytes : result;
		gate_charge(fd, (uint64_t)result);
		advance(progress, (uint64_t)result);
		if ((uint64_t)result < wanted_bytes)
			break;
	}
	return (long)progress->done_bytes;
}

/* Shall a call of @bytes be made in pieces? Vectors that the kernel would refuse are its own. */
static bool in_pieces(int fd, const struct iovec *vector, int count, uint64_t bytes,
		      off64_t at, int flags)
{
	int open_flags;

	if (flags)
		return false;
	if (at != OWN_OFFSET && (at < 0 || (uint64_t)at + bytes > INT64_MAX))
		return false;
	/* Why: the kernel refuses the whole call for a buffer that ends outside the program. */
	for (int i = 0; i < count; i++) {
		uintptr_t last = (uintptr_t)vector[i].iov_base + vector[i].iov_len - 1;

		if (vector[i].iov_len > SSIZE_MAX ||
		    (vector[i].iov_len && !program_can_read(last)))
			return false;
	}
	open_flags = kernel_open_flags(fd);
	if (open_flags < 0)
		return false;
	return !(open_flags & O_APPEND) || bytes >= APPEND_WHOLE_BYTES;
}

static ssize_t large_write(int fd, const struct iovec *vector, int count, uint64_t bytes,
			   off64_t at, int flags)
{
	struct progress progress = {
		.vector = vector,
		.count = count,
		.at = at,
		.left_bytes = min_u64(bytes, CALL_MAX_BYTES),
	};
	uint64_t all = UINT64_MAX;
	uint64_t saved = 0;
	long result;

	if (sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, &saved, sizeof(all)))
		return with_errno(raw_write(fd, vector, count, at, flags));
	result = write_pieces(fd, &progress, flags);
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &saved, NULL, sizeof(saved));
	return with_errno(result);
}

bool write_slow(int fd, const struct iovec *vector, int count, uint64_t bytes, off64_t at,
		int flags, ssize_t *result)
{
	enum pace_manner manner = flags & RWF_NOWAIT ? PACE_NO_SLEEP : PACE_SLEEP;

	if (!gate_open(fd, manner) || bytes <= gate_task.piece_bytes ||
	    !in_pieces(fd, vector, count, bytes, at, flags))
		return false;
	*result = large_write(fd, vector, count, bytes, at, flags);
	return true;
}

void write_charge(int fd, ssize_t result)
{
	if (result > 0 && gate_is_paced(fd))
		gate_charge(fd, (uint64_t)result);
	else
		gate_aside(fd, result);
}

/* Not everywhere in libc: glibc before 2.34 has it in a library of its own. */
void pthread_testcancel(void) __attribute__((weak));

/*
 * The call is a cancellation point, its pieces are not: a thread that makes only large calls could
 * never be cancelled. Nothing has been written yet.
 */
static void stay_cancellable(uint64_t bytes)
{
	if (bytes > gate_task.piece_bytes && pthread_testcancel)
		pthread_testcancel();
}

#define ONE(data, n) \
	(&(struct iovec){ .iov_base = (void *)(uintptr_t)(data), .iov_len = (n) })
#define VECTOR_BYTES(vector, count) program_vector_bytes(vector, count)

/*
 * Why three functions a call: what stands in for it before the constructor, what is rare, and
 * what every write pays for, which must not save registers for the others.
 */
#define WRITE(name, result, parameters, arguments, fd, bytes, vector, count, at, flags) \
	result early_##name parameters                                                  \
	{                                                                               \
		return with_errno(raw_write(fd, vector, count, at, flags));             \
	}                                                                               \
	static __attribute__((noinline)) result slow_##name parameters                  \
	{                                                                               \
		ssize_t r;                                                              \
                                                                                        \
		stay_cancellable(bytes);                                                \
		if (write_slow(fd, vector, count, bytes, at, flags, &r))                \
			return r;                                                       \
		r = real.name arguments;                                                \
		write_charge(fd, r);                                                    \
		return r;                                                               \
	}                                                                               \
	WP_EXPORT result name parameters                                                \
	{                                                                               \
		uint64_t kind = gate_kind_of(fd);                                       \
		ssize_t r;                                                              \
                                                                                        \
		if (kind != GATE_PACED) {                                               \
			if (kind == GATE_PASS)                                          \
				return real.name arguments;                             \
			return slow_##name arguments;                                   \
		}                                                                       \
		if (wp_unlikely(!gate_is_free(kind, fd, bytes)))                        \
			return slow_##name arguments;                                   \
		r = real.name arguments;                                                \
		if (wp_likely(r > 0))                                                   \
			gate_charge(fd, (uint64_t)r);                                   \
		return r;                                                               \
	}
#define OFFLOAD(...)
#define PUT(...)
#define FORMAT(...)
#define OTHER(...)
#define RAW(...)
#include "calls.def"
