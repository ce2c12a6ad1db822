/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/notify.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "any/filter.h"
#include "base/order.h"
#include "host/sys.h"

/* Younger than some headers. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define SYNC_WAKE_UP 1

#define LINE_BYTES 64

static int set_filter(void)
{
	static struct filter filter;
	struct sock_fprog program;

	filter_build(&filter);
	program = (struct sock_fprog){ .len = filter.count, .filter = filter.code };
	/* Why speculation is left as it is: we confine nobody, and where a filter switches it off
	 * (spec_store_bypass_disable=seccomp) the command alone would be slower for it. */
	return (int)sys_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER |
				     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV |
				     SECCOMP_FILTER_FLAG_SPEC_ALLOW,
			     &program);
}

/* Why without first: who may do it so (root) keeps set-uid programs working inside. */
int notify_install(void)
{
	int listener = set_filter();

	if (listener != -EACCES)
		return listener;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return set_filter();
}

static struct seccomp_notif *slot_of(const struct notify *notify, size_t number)
{
	return (struct seccomp_notif *)(void *)(notify->slots +
						number * notify->slot_bytes);
}

static size_t number_of(const struct notify *notify, const struct seccomp_notif *call)
{
	return (size_t)((const unsigned char *)call - notify->slots) / notify->slot_bytes;
}

bool notify_prepare(struct notify *notify)
{
	struct seccomp_notif_sizes sizes = { 0 };
	size_t bytes = sizeof(struct seccomp_notif);

	/* A later kernel's may be larger than the one we know. */
	if (!sys_call(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes))
		bytes = max_u64(bytes, sizes.seccomp_notif);
	notify->slot_bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	notify->slots = mmap(NULL, NOTIFY_CALLS * notify->slot_bytes,
			     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (notify->slots == MAP_FAILED)
		return false;
	for (unsigned i = 0; i < NOTIFY_CALLS; i++)
		notify->free_list[i] = (unsigned short)(NOTIFY_CALLS - 1 - i);
	notify->free_count = NOTIFY_CALLS;
	return true;
}

void notify_begin(struct notify *notify, int listener)
{
	notify->listener = listener;
	/* Before Linux 6.6 it fails, and a caller is woken where the scheduler likes. */
	sys_call(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
}

struct seccomp_notif *notify_receive(struct notify *notify)
{
	struct seccomp_notif *call;

	if (!notify->free_count)
		return NULL;
	call = slot_of(notify, notify->free_list[notify->free_count - 1]);
	memset(call, 0, notify->slot_bytes);
	if (sys_call(SYS_ioctl, notify->listener, SECCOMP_IOCTL_NOTIF_RECV, call)) {
		call->id = 0;
		return NULL;
	}
	notify->free_count--;
	return call;
}

bool notify_waits(const struct notify *notify, const struct seccomp_notif *call)
{
	return !sys_call(SYS_ioctl, notify->listener, SECCOMP_IOCTL_NOTIF_ID_VALID,
			 &call->id);
}

static void answer(const struct notify *notify, struct seccomp_notif *call)
{
	struct seccomp_notif_resp response = {
		.id = call->id,
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
	};

	/* It fails when the caller is gone, and that is all the same. */
	sys_call(SYS_ioctl, notify->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	call->id = 0;
}

void notify_go_on(struct notify *notify, struct seccomp_notif *call)
{
	answer(notify, call);
	notify->free_list[notify->free_count++] = (unsigned short)number_of(notify, call);
}

void notify_let_all_go(struct notify *notify)
{
	for (size_t i = 0; i < NOTIFY_CALLS; i++) {
		if (slot_of(notify, i)->id)
			answer(notify, slot_of(notify, i));
	}
}
