/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a command under a filter that allows everything: what a filter on system calls costs whoever
 * installs it, and a supervisor whoever has one.
 *
 *	bare all COMMAND...	the smallest; the kernel remembers that all calls pass
 *	bare length COMMAND...	it looks at a length, so it is run for each pwrite
 *	bare notify COMMAND...	the same, but from 4 KiB on a pwrite waits for a process that does
 *				nothing but let it go on
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define LENGTH_AT (offsetof(struct seccomp_data, args) + 8 * 2)

static struct sock_filter all[] = {
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter length[] = {
	LOAD(offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 3),
	LOAD(LENGTH_AT),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 4096, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), /* or not */
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

/* As src/any asks for it. */
#define LISTENER_FLAGS \
	(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW | 1UL << 5)
#define SYNC_WAKE_UP 1

/* In a child, under the filter itself: it writes nothing. */
static _Noreturn void let_go_on(int listener)
{
	struct seccomp_notif_resp response = { .flags =
						       SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	struct seccomp_notif call;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ioctl(listener, SECCOMP_IOW(4, __u64), SYNC_WAKE_UP);
	for (;;) {
		memset(&call, 0, sizeof(call));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue;
		response.id = call.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .len = 1, .filter = all };

	bool notify = argc > 2 && !strcmp(argv[1], "notify");
	int listener;

	if (argc < 3) {
		fprintf(stderr, "usage: bare all|length|notify COMMAND...\n");
		return 2;
	}
	if (notify)
		length[4].k = SECCOMP_RET_USER_NOTIF;
	if (notify || !strcmp(argv[1], "length")) {
		program.len = sizeof(length) / sizeof(length[0]);
		program.filter = length;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    (listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				     notify ? LISTENER_FLAGS : 0, &program)) < 0) {
		perror("bare");
		return 1;
	}
	if (notify && !fork())
		let_go_on(listener);
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
