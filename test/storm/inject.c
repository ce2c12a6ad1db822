/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a command for which the kernel refuses chosen system calls:
 *
 *	inject CALL=ERRNO[,CALL=ERRNO...] COMMAND [ARGUMENT...]
 *
 * CALL is one of the table: those that the library makes by itself and an ordinary program does
 * not, told by their arguments where the number alone would not do. ERRNO is a number.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define ANY (-1)

static const struct call {
	const char *name;
	long number;
	int argument; /* that tells it, ANY = none does */
	uint32_t value;
} calls[] = {
	{ "cachestat", SYS_cachestat, ANY, 0 },
	{ "getrusage", SYS_getrusage, ANY, 0 },
	{ "sync_file_range", SYS_sync_file_range, ANY, 0 },
	{ "nanosleep", SYS_nanosleep, ANY, 0 },
	{ "rt_sigpending", SYS_rt_sigpending, ANY, 0 },
	{ "rt_sigtimedwait", SYS_rt_sigtimedwait, ANY, 0 },
	{ "fcntl_getfl", SYS_fcntl, 1, F_GETFL },
	{ "fstatfs", SYS_fstatfs, ANY, 0 },
	{ "ioprio_get", SYS_ioprio_get, ANY, 0 },
	{ "getpriority", SYS_getpriority, ANY, 0 },
	{ "futex_wake", SYS_futex, 1, FUTEX_WAKE },
	{ "wipe_on_fork", SYS_madvise, 2, MADV_WIPEONFORK },
	{ "mmap_shared", SYS_mmap, 3, MAP_SHARED },
	{ "mmap_anonymous_shared", SYS_mmap, 3,
	  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE },
	{ "open_rw_nofollow", SYS_openat, 2, O_RDWR | O_NOFOLLOW | O_CLOEXEC },
	{ "gettid", SYS_gettid, ANY, 0 },
	{ "getrandom", SYS_getrandom, ANY, 0 },
	{ "fallocate", SYS_fallocate, ANY, 0 },
	{ "sigprocmask_block", SYS_rt_sigprocmask, 0, 0 },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))
#define FILTER_MAX 64

#define LOAD(field)                                             \
	(struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
				      (uint32_t)offsetof(struct seccomp_data, field))
#define UNLESS(k, skip) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), 0, (skip))
#define RETURN(k) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, (k))

static struct sock_filter filter[FILTER_MAX];
static unsigned short used;

static void add(struct sock_filter line)
{
	if (used == FILTER_MAX)
		exit(2);
	filter[used++] = line;
}

static const struct call *find(const char *name)
{
	for (size_t i = 0; i < CALLS; i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	fprintf(stderr, "inject: %s: not in the table\n", name);
	exit(2);
}

static uint32_t argument_at(int argument)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) +
			  (size_t)argument * sizeof(uint64_t));
}

static void refuse(const struct call *call, unsigned error)
{
	add(LOAD(nr));
	if (call->argument == ANY) {
		add(UNLESS((unsigned)call->number, 1));
	} else {
		add(UNLESS((unsigned)call->number, 3));
		add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 argument_at(call->argument)));
		add(UNLESS(call->value, 1));
	}
	add(RETURN(SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)));
}

static void read_list(char *list)
{
	for (char *rest = list, *word; (word = strsep(&rest, ","));) {
		char *value = strchr(word, '=');

		if (!value)
			exit(2);
		*value++ = '\0';
		refuse(find(word), (unsigned)strtoul(value, NULL, 10));
	}
	add(RETURN(SECCOMP_RET_ALLOW));
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = filter };

	if (argc < 3) {
		fputs("usage: inject CALL=ERRNO[,...] COMMAND\n", stderr);
		for (size_t i = 0; i < CALLS; i++)
			fprintf(stderr, "%s\n", calls[i].name);
		return 2;
	}
	read_list(argv[1]);
	program.len = used;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("inject");
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
