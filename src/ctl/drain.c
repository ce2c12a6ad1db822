/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepacectl drain: wait until what is dirty is on the device, and say how far it is.
 *
 * A child asks for the sync: it sleeps in the kernel until that is over, and no signal would reach
 * us there. The numbers are the kernel's: what is dirty or under writeback on the device (root
 * alone may ask; else that of the whole machine), and what the device wrote.
 */
#include "ctl/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl/human.h"
#include "ctl/place.h"
#include "ctl/progress.h"
#include "host/kernel.h"

#define TARGETS 16
#define MOUNTS 64
#define STEP_NS WP_MS(200)
#define LINE_NS WP_SEC(2)     /* between two lines where there is no terminal */
#define AGAIN_BYTES WP_MIB(1) /* dirty after the sync: somebody writes */
#define BAR_CELLS 16
#define PATH_CELLS 20

struct target {
	const char *what; /* as people call it; NULL = all there is */
	struct place place;
	pid_t child;
	int error; /* of the sync; -1 = under way */
};

struct drain {
	struct target targets[TARGETS];
	size_t count;
	bool terminal;
	bool exact; /* is left_bytes of these devices alone? */
	uint64_t line_ns;
	struct progress progress;
};

/* ------------------------------------------------------------------ sync ---- */

struct mounts {
	int fds[MOUNTS];
	size_t count;
};

static bool open_mount(const char *point, void *opaque)
{
	struct mounts *mounts = opaque;
	int fd = open(point, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		mounts->fds[mounts->count++] = fd;
	return mounts->count < MOUNTS;
}

static int sync_mounts(const struct target *target)
{
	struct mounts mounts = { .count = 0 };
	int fd = open(target->what, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int error = 0;

	/* the one that was named first: it is what people wait for */
	if (fd >= 0 && !fstat(fd, &st) && (S_ISBLK(st.st_mode) ? fsync(fd) : syncfs(fd)))
		error = errno;
	place_each_mount(&target->place, open_mount, &mounts);
	for (size_t i = 0; i < mounts.count; i++)
		if (syncfs(mounts.fds[i]) && !error)
			error = errno;
	if (fd < 0 && !mounts.count)
		return errno == ENOENT ? ENODEV : errno;
	return error;
}

static void begin_sync(struct target *target)
{
	target->error = -1;
	target->child = fork();
	if (target->child < 0)
		target->error = errno;
	if (target->child)
		return;
	/* Why: a Ctrl-C ends the waiting, not the writing. */
	setpgid(0, 0);
	if (!target->what) {
		sync();
		_exit(0);
	}
	_exit(sync_mounts(target) & 0xff);
}

static bool collect(struct drain *drain)
{
	bool all = true;

	for (size_t i = 0; i < drain->count; i++) {
		struct target *target = &drain->targets[i];
		int status;

		if (target->error < 0 &&
		    waitpid(target->child, &status, WNOHANG) == target->child)
			target->error = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
		all = all && target->error >= 0;
	}
	return all;
}

/* -------------------------------------------------------------- progress ---- */

static bool is_counted(const struct drain *drain, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (drain->targets[before].place.disk == drain->targets[i].place.disk)
			return true;
	return false;
}

static uint64_t count_left(struct drain *drain)
{
	uint64_t sum_bytes = 0;

	drain->exact = true;
	for (size_t i = 0; i < drain->count; i++) {
		uint64_t bytes = 0;

		if (is_counted(drain, i))
			continue;
		drain->exact = drain->exact && drain->targets[i].what &&
			       place_dirty_bytes(&drain->targets[i].place, &bytes);
		sum_bytes += bytes;
	}
	return drain->exact ? sum_bytes : place_all_dirty_bytes();
}

/* What the devices wrote; where that is not known, what is no longer dirty. */
static uint64_t written_bytes(const struct drain *drain, uint64_t left_bytes)
{
	uint64_t sum_bytes = 0;

	for (size_t i = 0; i < drain->count; i++) {
		uint64_t bytes;

		if (is_counted(drain, i))
			continue;
		if (!drain->targets[i].what ||
		    !place_written_bytes(&drain->targets[i].place, &bytes))
			return sub_u64(drain->progress.most_bytes, left_bytes);
		sum_bytes += bytes;
	}
	return sum_bytes;
}

static void look(struct drain *drain, uint64_t now_ns)
{
	uint64_t left_bytes = count_left(drain);

	progress_look(&drain->progress, left_bytes, written_bytes(drain, left_bytes),
		      now_ns);
}

/* Why cut: a bar that does not fit its line can not be drawn over. */
static void put_path(const char *path, bool cut)
{
	size_t length = strlen(path);

	if (cut && length > PATH_CELLS)
		printf("...%s", path + length - PATH_CELLS + 3);
	else
		printf("%s", path);
}

static void put_name(const struct drain *drain)
{
	if (drain->count > 1)
		printf("%zu devices", drain->count);
	else if (!drain->targets[0].what)
		printf("all devices");
	else
		put_path(drain->targets[0].what, drain->terminal);
}

static void put_bar(const struct drain *drain)
{
	uint64_t full = drain->progress.done_pm * BAR_CELLS / 1000;

	printf(" [");
	for (uint64_t i = 0; i < BAR_CELLS; i++)
		putchar(i < full ? '#' : '.');
	putchar(']');
}

static void put_progress(const struct drain *drain)
{
	char left[HUMAN_BYTES];
	char rate[HUMAN_BYTES];
	char wait[HUMAN_BYTES];

	printf(" %2llu%%, %s left%s", (unsigned long long)drain->progress.done_pm / 10,
	       human_bytes(left, drain->progress.left_bytes),
	       drain->exact || !drain->targets[0].what ? "" : " on all devices");
	if (drain->progress.rate_bps)
		printf(", %s, %s to go", human_rate(rate, drain->progress.rate_bps),
		       human_wait(wait, progress_wait_ns(&drain->progress)));
}

static void show(struct drain *drain, uint64_t now_ns)
{
	if (drain->terminal) {
		printf("\r");
		put_name(drain);
		put_bar(drain);
		put_progress(drain);
		printf("\033[K");
		fflush(stdout);
		return;
	}
	if (now_ns < drain->line_ns)
		return;
	drain->line_ns = now_ns + LINE_NS;
	put_name(drain);
	printf(":");
	put_progress(drain);
	printf("\n");
	fflush(stdout);
}

static void end_bar(const struct drain *drain)
{
	if (drain->terminal)
		printf("\r\033[K");
}

/* ------------------------------------------------------------------- end ---- */

static int say_interrupted(struct drain *drain)
{
	uint64_t left_bytes = count_left(drain);
	char left[HUMAN_BYTES];

	end_bar(drain);
	put_name(drain);
	printf(": %s not on the device yet%s; the kernel goes on writing, do not remove "
	       "it\n",
	       human_bytes(left, left_bytes),
	       drain->exact || !drain->targets[0].what ? "" : ", all devices together");
	return CTL_INTERRUPTED;
}

static void say_done(const struct target *target)
{
	char left[HUMAN_BYTES];
	uint64_t bytes;

	if (!target->what)
		printf("all devices: everything is on them\n");
	else if (place_dirty_bytes(&target->place, &bytes) && bytes > AGAIN_BYTES)
		printf("%s: what was there is on the device; %s became dirty meanwhile, "
		       "somebody writes to it\n",
		       target->what, human_bytes(left, bytes));
	else
		printf("%s: everything is on the device; safe to remove%s\n",
		       target->what, *target->place.mount ? " once it is unmounted" : "");
}

static int say_failed(const struct target *target)
{
	bool lost = target->error == EIO || target->error == ENOSPC ||
		    target->error == EDQUOT;

	return ctl_complain("%s: %s%s", target->what ? target->what : "sync",
			    strerror(target->error),
			    lost ? "; not everything could be written" : "");
}

static int say_results(struct drain *drain)
{
	int status = CTL_DONE;

	end_bar(drain);
	for (size_t i = 0; i < drain->count; i++) {
		const struct target *target = &drain->targets[i];

		if (target->error)
			status = say_failed(target);
		else
			say_done(target);
	}
	return status;
}

static bool wait_step(const sigset_t *signals)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	int signal = sigtimedwait(signals, NULL, &step);

	return signal != SIGINT && signal != SIGTERM && signal != SIGHUP;
}

static int run(struct drain *drain)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	look(drain, kernel_now_ns());
	for (size_t i = 0; i < drain->count; i++)
		begin_sync(&drain->targets[i]);
	while (!collect(drain)) {
		uint64_t now_ns;

		if (!wait_step(&signals))
			return say_interrupted(drain);
		now_ns = kernel_now_ns();
		look(drain, now_ns);
		/* Why not at once: most drains are over before there is a rate. */
		if (drain->progress.rate_bps)
			show(drain, now_ns);
	}
	return say_results(drain);
}

int run_drain(struct ctl *ctl, int argc, char **argv)
{
	static struct drain drain;

	ctl_option(ctl, argc, argv, NULL);
	drain.terminal = isatty(STDOUT_FILENO);
	if (argc - optind > TARGETS)
		return ctl_complain("no more than %d devices at a time", TARGETS);
	for (; optind < argc; optind++) {
		struct target *target = &drain.targets[drain.count++];
		int error = place_find(argv[optind], &target->place);

		if (error)
			return ctl_complain("%s: %s", argv[optind], strerror(-error));
		target->what = *target->place.mount && strchr(argv[optind], ':') &&
					       *argv[optind] != '/' ?
				       target->place.mount :
				       argv[optind];
	}
	drain.count = drain.count ? drain.count : 1;
	return run(&drain);
}
