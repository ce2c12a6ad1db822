/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepace-any: become a command whose calls a supervisor paces.
 *
 *   writepace-any [--best-effort] [--quiet] -- CMD [ARG ...]
 *
 * This process becomes CMD, so signals, status and job control are CMD's own. The supervisor is no
 * child of it; it ends with the last process that came of CMD.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <writepace/totals.h>

#include "any/notify.h"
#include "any/supervisor.h"
#include "conf/conf.h"
#include "host/inside.h"
#include "launch/status.h"

struct start {
	bool best_effort;
	bool quiet;
	struct conf conf;
	char **command;
};

static _Noreturn void become(char **command)
{
	execvp(command[0], command);
	dprintf(STDERR_FILENO, "writepace: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? WP_STATUS_NOT_FOUND : WP_STATUS_NOT_EXECUTABLE);
}

static _Noreturn void give_up(const struct start *start, const char *why)
{
	if (!start->best_effort) {
		dprintf(STDERR_FILENO,
			"writepace: --any: %s; not started (--best-effort runs it unpaced)\n",
			why);
		_exit(WP_STATUS_REFUSED);
	}
	if (!start->quiet)
		dprintf(STDERR_FILENO, "writepace: warning: --any: %s; it runs unpaced\n",
			why);
	become(start->command);
}

static const char *why_not_installed(int error)
{
	switch (error) {
	case -EINVAL:
	case -ENOSYS:
		return "needs Linux 5.19 with filters on system calls";
	case -EBUSY:
		return "another supervisor listens to this program's system calls";
	default:
		return strerror(-error);
	}
}

/* In the middle process, whose end leaves the supervisor to init. */
static void start_supervisor(const struct start *start, int channel)
{
	sigset_t none;

	setsid();
	if (fork())
		_exit(0);
	/* What the caller ignores or blocks is no matter of ours. */
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	supervise(&start->conf, getenv(WP_TOTALS_VARIABLE), channel);
}

static int open_channel(const struct start *start)
{
	int ends[2];
	pid_t middle;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	middle = fork();
	if (!middle) {
		close(ends[0]);
		start_supervisor(start, ends[1]);
	}
	close(ends[1]);
	if (middle > 0)
		waitpid(middle, NULL, 0);
	return ends[0];
}

/* Order: the supervisor is there before the first call can wait for it. */
static void be_watched(const struct start *start)
{
	int channel = open_channel(start);
	int listener;

	if (channel < 0 || !supervisor_is_ready(channel))
		give_up(start, "cannot start a supervisor");
	listener = notify_install();
	if (listener < 0)
		give_up(start, why_not_installed(listener));
	if (!supervisor_take(channel, listener)) {
		dprintf(STDERR_FILENO, "writepace: --any: the supervisor ended\n");
		raise(SIGKILL); /* no call of ours would ever return */
	}
	close(listener);
	close(channel);
}

static bool read_arguments(struct start *start, char **argv)
{
	for (argv++; *argv && strcmp(*argv, "--") != 0; argv++) {
		if (!strcmp(*argv, "--best-effort"))
			start->best_effort = true;
		else if (!strcmp(*argv, "--quiet"))
			start->quiet = true;
		else
			return false;
	}
	start->command = argv + 1;
	return *argv && argv[1];
}

int main(int argc, char **argv)
{
	struct start start = { 0 };

	(void)argc;
	if (!read_arguments(&start, argv)) {
		dprintf(STDERR_FILENO, "writepace: usage: writepace-any [--best-effort] "
				       "[--quiet] -- COMMAND [ARGUMENT...]\n");
		return WP_STATUS_REFUSED;
	}
	conf_defaults(&start.conf);
	conf_read(&start.conf, environ, NULL, NULL);
	/* One inside another: the outer one paces it already. */
	if (!start.conf.disable && !inside_any())
		be_watched(&start);
	become(start.command);
}
