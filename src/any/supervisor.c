/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "any/caller.h"
#include "any/fiber.h"
#include "any/guard.h"
#include "any/notify.h"
#include "any/rouse.h"
#include "any/serve.h"
#include "any/tidy.h"
#include "any/watched.h"
#include "base/report.h"
#include "host/sys.h"
#include "pace/pace.h"
#include "shm/totals.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441 /* one number on every architecture */
#endif

#define EVENTS 64
#define DIRECT_LEAST_NS WP_US(200)
#define EVENTS_NS WP_MS(10) /* how late others are seen while calls come */

static struct notify notify;
static struct pace_process like;
static uint64_t called_ns; /* the last time */

/* --------------------------------------------------------------------- channel -- */

static bool put_byte(int channel)
{
	return send(channel, "", 1, MSG_NOSIGNAL) == 1;
}

bool supervisor_is_ready(int channel)
{
	char byte;

	return TEMP_FAILURE_RETRY(recv(channel, &byte, 1, 0)) == 1;
}

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool supervisor_take(int channel, int listener)
{
	char byte = 0;
	union control control = { 0 };
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &listener, sizeof(int));
	return sendmsg(channel, &message, MSG_NOSIGNAL) == 1 &&
	       supervisor_is_ready(channel);
}

static int receive_listener(int channel)
{
	char byte;
	union control control;
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	int listener = -1;

	if (TEMP_FAILURE_RETRY(recvmsg(channel, &message, MSG_CMSG_CLOEXEC)) != 1)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&listener, CMSG_DATA(header), sizeof(int));
	return listener;
}

/* ------------------------------------------------------------------------ life -- */

/* Nothing of the caller's is kept: no terminal, no pipe, no mount, no limit that it set for itself. */
static void detach(int channel)
{
	struct rlimit files;
	/* Order: the caller may have none of the three, then it is one of them. */
	int above = fcntl(channel, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	dup2(above, STDERR_FILENO + 1);
	kernel_close_from(STDERR_FILENO + 2);
	if (chdir("/"))
		_exit(1);
	prctl(PR_SET_NAME, "writepace-any");
	prctl(PR_SET_TIMERSLACK, 1);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void tell_found(uint64_t device, uint64_t limit_bytes, uint64_t source)
{
	char line[WP_REPORT_LINE_BYTES];
	const struct watched_process *process = caller_process();

	look_say(process->error_output, line,
		 report_found_line(line, sizeof(line), process->name, process->process,
				   device, limit_bytes, report_source(source)));
}

static void attach(const struct conf *conf, const char *totals_path)
{
	pace_attach(&like, conf);
	like.life = NULL; /* a fork of ours is the guard, and that paces nobody */
	like.shared_totals = totals_path ? totals_map(totals_path) : NULL;
	like.found = conf->verbose ? tell_found : NULL;
}

static int wait_events(int poll_fd, struct epoll_event *events, uint64_t wake_ns,
		       uint64_t now_ns)
{
	uint64_t span_ns = sub_u64(wake_ns, now_ns);
	struct timespec span = {
		.tv_sec = (time_t)(span_ns / WP_SEC(1)),
		.tv_nsec = (long)(span_ns % WP_SEC(1)),
	};

	return (int)sys_call(SYS_epoll_pwait2, poll_fd, events, EVENTS,
			     wake_ns == FIBER_NEVER ? NULL : &span, NULL, 0);
}

static void see_end(struct watched_process *process, int poll_fd)
{
	epoll_ctl(poll_fd, EPOLL_CTL_DEL, process->pidfd, NULL);
	process->ended = true;
	/* Why: who sleeps for it keeps its files open. */
	if (process->users)
		fiber_wake_all();
	watched_finish(process, &process->tail);
	watched_forget(process);
}

/* False: there was none. */
static bool receive(void)
{
	struct seccomp_notif *call = notify_receive(&notify);

	if (!call)
		return false;
	called_ns = kernel_now_ns();
	serve(call);
	return true;
}

/* False: nobody is under the filter any more. */
static bool see(const struct epoll_event *event, int poll_fd)
{
	if (event->data.ptr) {
		see_end(event->data.ptr, poll_fd);
		return true;
	}
	if (event->events & EPOLLIN)
		receive();
	return (event->events & EPOLLIN) || !(event->events & (EPOLLHUP | EPOLLERR));
}

static bool see_events(int poll_fd, uint64_t wake_ns, uint64_t now_ns)
{
	struct epoll_event events[EVENTS];
	bool inhabited = true;
	int count = wait_events(poll_fd, events, wake_ns, now_ns);

	for (int i = 0; i < count; i++)
		inhabited = see(&events[i], poll_fd) && inhabited;
	return inhabited;
}

/*
 * Wait for a call where calls arrive. Why: who waits there is woken on the caller's processor, which
 * the caller gets back with the answer. Behind an epoll each goes to another processor and to
 * another cache every time: ten times as long. False: it is time to look for other events.
 */
static bool wait_call(uint64_t until_ns, uint64_t now_ns)
{
	if (until_ns <= now_ns)
		return false;
	rouse_at(until_ns, now_ns);
	return receive();
}

static void look_out(int poll_fd)
{
	uint64_t looked_ns = 0;
	bool inhabited = true;

	while (inhabited) {
		uint64_t now_ns = kernel_now_ns();
		uint64_t wake_ns = min_u64(fiber_next_ns(), tidy_step(now_ns));
		uint64_t until_ns = min_u64(wake_ns, looked_ns + EVENTS_NS);
		bool calls_come = now_ns < called_ns + EVENTS_NS &&
				  now_ns + DIRECT_LEAST_NS < wake_ns;

		if (!calls_come || !wait_call(until_ns, now_ns)) {
			rouse_stop();
			inhabited = see_events(poll_fd, calls_come ? now_ns : wake_ns,
					       now_ns);
			looked_ns = kernel_now_ns();
		}
		fiber_run_due(kernel_now_ns());
	}
}

static void end_all(void)
{
	struct watched_process *process;

	for (process = watched_processes; process; process = process->next)
		process->ended = true;
	fiber_wake_all();
	fiber_run_due(kernel_now_ns());
	for (process = watched_processes; process; process = process->next)
		watched_finish(process, &process->tail);
}

_Noreturn void supervise(const struct conf *conf, const char *totals_path, int channel)
{
	struct epoll_event event = { .events = EPOLLIN };
	int poll_fd;
	int listener;

	detach(channel);
	channel = STDERR_FILENO + 1;
	poll_fd = epoll_create1(EPOLL_CLOEXEC);
	attach(conf, totals_path);
	if (poll_fd < 0 || !notify_prepare(&notify) || !put_byte(channel))
		_exit(1);
	listener = receive_listener(channel);
	if (listener < 0)
		_exit(1);
	notify_begin(&notify, listener);
	guard_start(&notify);
	if (!rouse_prepare())
		_exit(1);
	watched_begin(&like, poll_fd);
	serve_begin(&notify, conf->stats || like.shared_totals);
	if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &event) || !put_byte(channel))
		_exit(1);
	close(channel);
	look_out(poll_fd);
	end_all();
	_exit(0);
}
