/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a command under a filter that allows everything: what a filter on system calls costs whoever
 * installs it.
 *
 *	bare all COMMAND...	the smallest; the kernel remembers that all calls pass
 *	bare length COMMAND...	it looks at a length, so it is run for each pwrite
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
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
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 2),
	LOAD(LENGTH_AT),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 4096, 0, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv)
{
	struct sock_fprog program = { .len = 1, .filter = all };

	if (argc < 3) {
		fprintf(stderr, "usage: bare all|length COMMAND...\n");
		return 2;
	}
	if (!strcmp(argv[1], "length")) {
		program.len = sizeof(length) / sizeof(length[0]);
		program.filter = length;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) {
		perror("bare");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
