/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asynchronous writes. libc's own are made by threads of libc, which pass no symbol: their bytes
 * are this task's debt. What io_submit() starts on a buffered file is done when it returns.
 */
#include <aio.h>
#include <limits.h>

#include "export.h"
#include "gate.h"
#include "host/sys.h"
#include "parts.h"
#include "real.h"

#define SUBMIT_MAX 4096 /* looked at in one call */

static void see_aio(int fd, size_t bytes)
{
	if (gate_open(fd, PACE_SLEEP))
		gate_charge_others(fd, bytes);
}

#define AIO_WRITE(name, type)                                      \
	WP_EXPORT int name(struct type *control)                   \
	{                                                          \
		see_aio(control->aio_fildes, control->aio_nbytes); \
		return real_call(name)(control);                   \
	}
#define LIO_LISTIO(name, type)                                                     \
	WP_EXPORT int name(int mode, AIO_LIST(type) list[], int count,             \
			   struct sigevent *event)                                 \
	{                                                                          \
		for (int i = 0; i < count; i++) {                                  \
			if (list[i] && list[i]->aio_lio_opcode == LIO_WRITE)       \
				see_aio(list[i]->aio_fildes, list[i]->aio_nbytes); \
		}                                                                  \
		return real_call(name)(mode, list, count, event);                  \
	}

AIO_WRITE(aio_write, aiocb)
AIO_WRITE(aio_write64, aiocb64)
LIO_LISTIO(lio_listio, aiocb)
LIO_LISTIO(lio_listio64, aiocb64)

/* Why asked: the kernel answers a bad address with EFAULT, so must we. */
static bool can_read(const void *data, size_t bytes)
{
	uintptr_t first = (uintptr_t)data;
	uintptr_t last = first + bytes - 1;

	return program_can_read(first) &&
	       (first / WP_PAGE_BYTES == last / WP_PAGE_BYTES || program_can_read(last));
}

/* Why charged before: once submitted the program may free it. */
static void see_submitted(const struct iocb *control)
{
	bool vector = control->aio_lio_opcode == IOCB_CMD_PWRITEV;
	int fd = (int)control->aio_fildes;
	uint64_t bytes = control->aio_nbytes;

	if ((!vector && control->aio_lio_opcode != IOCB_CMD_PWRITE) || gate_passes(fd))
		return;
	gate_open(fd, PACE_SLEEP);
	if (vector)
		bytes = program_vector_bytes(
			(const struct iovec *)(uintptr_t)control->aio_buf, (int)bytes);
	write_charge(fd, (ssize_t)min_u64(bytes, SSIZE_MAX));
}

long submit(aio_context_t context, long count, struct iocb **list)
{
	for (long i = 0; i < count && i < SUBMIT_MAX; i++) {
		if (!can_read(list + i, sizeof(*list)) ||
		    !can_read(list[i], sizeof(**list)))
			break;
		see_submitted(list[i]);
	}
	return sys_call(SYS_io_submit, context, count, list);
}

/* libaio's: a negative errno, nothing else than the system call. */
WP_EXPORT int io_submit(aio_context_t context, long count, struct iocb **list)
{
	return (int)submit(context, count, list);
}
