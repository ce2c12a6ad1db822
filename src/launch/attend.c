/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepace-attend: the parent of a command whose totals are wanted (--stats), or that is over
 * when what it wrote is on the device (--wait, by `WRITEPACECTL drain`).
 *
 *   writepace-attend [--stats] [--wait WRITEPACECTL] [NAME=VALUE ...] -- CMD [ARG ...]
 *
 * Starts CMD with these variables added, so that the library is loaded into the command
 * and not into this program. Passes signals on, stops and goes on with the command,
 * prints one line with the totals, waits, and ends as the command ended.
 *
 * Signal: all are blocked and taken one by one by sigwaitinfo(); there is no handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <writepace/totals.h>

#include "base/report.h"
#include "launch/status.h"

struct attended {
	bool stats;
	const char *waiter; /* path of writepacectl, NULL = do not wait */
	const char *name;
	pid_t pid;
	struct totals *totals;
	char totals_path[4096];
	sigset_t old_mask;
	void (*old_child_action)(int);
};

static _Noreturn void fail(const char *what, int error, int status)
{
	dprintf(STDERR_FILENO, "writepace: %s: %s\n", what, strerror(error));
	_exit(status);
}

/* ---------------------------------------------------------------- totals ---- */

/* A new file for the totals in @folder; -1 where that cannot be. */
static int make_file(struct attended *attended, const char *folder)
{
	size_t room = sizeof(attended->totals_path);
	int used = snprintf(attended->totals_path, room, "%s/writepace-totals-XXXXXX",
			    folder);

	return used > 0 && (size_t)used < room ?
		       mkostemp(attended->totals_path, O_CLOEXEC) :
		       -1;
}

static void make_totals(struct attended *attended)
{
	const char *folder = getenv("TMPDIR");
	int fd = make_file(attended, "/dev/shm");

	if (fd < 0)
		fd = make_file(attended, folder && *folder ? folder : "/tmp");
	if (fd < 0)
		fail("cannot make a file for the totals", errno, WP_STATUS_REFUSED);
	/* Why fallocate: a full file system says so here, not by a signal at a store. */
	errno = posix_fallocate(fd, 0, sizeof(struct totals));
	if (!errno)
		attended->totals = mmap(NULL, sizeof(struct totals),
					PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!attended->totals || attended->totals == MAP_FAILED) {
		int error = errno;

		unlink(attended->totals_path);
		fail(attended->totals_path, error, WP_STATUS_REFUSED);
	}
	close(fd);
	attended->totals->magic = WP_TOTALS_MAGIC;
	attended->totals->version = WP_TOTALS_VERSION;
}

static void print_totals(const struct attended *attended)
{
	char line[WP_REPORT_LINE_BYTES];
	size_t length = report_line(line, sizeof(line), attended->name, attended->pid,
				    attended->totals);
	ssize_t written = write(STDERR_FILENO, line, length);

	(void)written; /* nowhere left to tell it */
}

/* --------------------------------------------------------------- command ---- */

static _Noreturn void become_command(const struct attended *attended, char **variables,
				     char **command)
{
	for (; variables < command - 1; variables++)
		putenv(*variables);
	setenv(WP_TOTALS_VARIABLE, attended->totals_path, 1);
	signal(SIGCHLD, attended->old_child_action);
	sigprocmask(SIG_SETMASK, &attended->old_mask, NULL);
	execvp(command[0], command);
	fail(command[0], errno,
	     errno == ENOENT ? WP_STATUS_NOT_FOUND : WP_STATUS_NOT_EXECUTABLE);
}

/* Why with the parent: without --stats a kill -9 would have hit the command itself. */
static void start(struct attended *attended, char **variables, char **command)
{
	pid_t parent = getpid();
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &attended->old_mask);
	attended->old_child_action = signal(SIGCHLD, SIG_DFL);
	attended->pid = fork();
	if (attended->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(WP_STATUS_REFUSED);
		become_command(attended, variables, command);
	}
	if (attended->pid < 0) {
		int error = errno;

		unlink(attended->totals_path);
		fail("cannot start a process", error, WP_STATUS_REFUSED);
	}
}

/* Did the command stop or end? True with @status when it ended. */
static bool look_after(const struct attended *attended, int *status)
{
	while (waitpid(attended->pid, status, WNOHANG | WUNTRACED) > 0) {
		if (!WIFSTOPPED(*status))
			return true;
		/* The shell must see the job stopped; both go on together. */
		raise(SIGSTOP);
		kill(attended->pid, SIGCONT);
	}
	return false;
}

/*
 * Why not those of the kernel: what a key at the terminal sends goes to the whole process
 * group, so the command has it already.
 */
static void pass_on(const struct attended *attended, const siginfo_t *info)
{
	if (info->si_code <= 0)
		kill(attended->pid, info->si_signo);
}

static int attend(const struct attended *attended)
{
	sigset_t all;
	int status = 0;

	sigfillset(&all);
	while (!look_after(attended, &status)) {
		siginfo_t info;

		if (sigwaitinfo(&all, &info) > 0 && info.si_signo != SIGCHLD)
			pass_on(attended, &info);
	}
	return status;
}

/* ------------------------------------------------------------------ wait ---- */

#define WAITER_ARGUMENTS 3 /* path, drain, NULL */

/* writepacectl drain MAJOR:MINOR... */
static _Noreturn void become_waiter(const struct attended *attended)
{
	char numbers[WP_TOTALS_DEVICES][32];
	const char *arguments[WP_TOTALS_DEVICES + WAITER_ARGUMENTS] = { attended->waiter,
									"drain" };
	const char **next = arguments + 2;

	for (unsigned i = 0; i < WP_TOTALS_DEVICES; i++) {
		uint64_t device = attended->totals->devices[i];

		if (!device)
			continue;
		snprintf(numbers[i], sizeof(numbers[i]), "%u:%u", major(device),
			 minor(device));
		*next++ = numbers[i];
	}
	dup2(STDERR_FILENO,
	     STDOUT_FILENO); /* the command's output is not for our words */
	sigprocmask(SIG_SETMASK, &attended->old_mask, NULL);
	execv(attended->waiter, (char **)(uintptr_t)arguments);
	fail(attended->waiter, errno, WP_STATUS_REFUSED);
}

static bool wrote(const struct totals *totals)
{
	for (unsigned i = 0; i < WP_TOTALS_DEVICES; i++)
		if (totals->devices[i])
			return true;
	return false;
}

/* The status to end with, where the command was well: not all may be on the device. */
static int wait_durable(struct attended *attended)
{
	int status;

	if (!wrote(attended->totals))
		return 0;
	attended->pid = fork();
	if (!attended->pid)
		become_waiter(attended);
	if (attended->pid < 0)
		fail("cannot start a process", errno, WP_STATUS_REFUSED);
	status = attend(attended);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* End as the command did; its core dump is enough. */
static int end_like(int status)
{
	const struct rlimit none = { 0, 0 };
	sigset_t mask;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	sigemptyset(&mask);
	sigaddset(&mask, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	return 128 + WTERMSIG(status);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The user's, not that of who becomes it. */
static const char *command_name(char **command)
{
	const char *name = last_part(command[0]);

	if (strcmp(name, "writepace-any") != 0)
		return name;
	while (*command && strcmp(*command, "--") != 0)
		command++;
	return *command && command[1] ? last_part(command[1]) : name;
}

static char **read_options(struct attended *attended, char **argument)
{
	for (; *argument; argument++) {
		if (!strcmp(*argument, "--stats"))
			attended->stats = true;
		else if (!strcmp(*argument, "--wait") && argument[1])
			attended->waiter = *++argument;
		else
			break;
	}
	return argument;
}

int main(int argc, char **argv)
{
	struct attended attended = { 0 };
	char **variables;
	char **command;
	int status;

	variables = read_options(&attended, argv + 1);
	command = variables;
	while (*command && strcmp(*command, "--") != 0)
		command++;
	if (argc < 2 || !*command || !*++command) {
		dprintf(STDERR_FILENO, "writepace: usage: writepace-attend [--stats] "
				       "[--wait WRITEPACECTL] [NAME=VALUE...] "
				       "-- COMMAND [ARGUMENT...]\n");
		return WP_STATUS_REFUSED;
	}
	attended.name = command_name(command);
	make_totals(&attended);
	start(&attended, variables, command);
	status = attend(&attended);
	unlink(attended.totals_path);
	if (attended.stats)
		print_totals(&attended);
	if (attended.waiter) {
		int waited = wait_durable(&attended);

		if (WIFEXITED(status) && !WEXITSTATUS(status))
			return waited;
	}
	return end_like(status);
}
