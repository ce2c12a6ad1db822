/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepaced: the helper beside the paced programs of one segment.
 *
 *   writepaced [--segment NAME] [--foreground]
 *
 * writepace-check starts it, detached, where none runs. Where another helper lives already it
 * ends. A segment that is private to its programs has nobody to help: the same quiet end.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conf/conf.h"
#include "helper/aging.h"
#include "helper/rounds.h"
#include "helper/tasks.h"
#include "host/kernel.h"
#include "host/sys.h"
#include "shm/segment.h"

#define STATUS_REFUSED 125
#define ANSWER_NS WP_SEC(1) /* a helper that lives shows itself when asked */
#define ASK_STEP_NS WP_MS(10)
#define CLAIMS 4
#define DESCRIPTORS 64 /* far more than are open at a time */
#define DESCRIPTORS_MIN 16

struct options {
	struct conf conf;
	bool foreground;
};

/* -------------------------------------------------------------------- options -- */

static _Noreturn void refuse(const char *line)
{
	fprintf(stderr, "writepaced: %s\n", line);
	exit(STATUS_REFUSED);
}

static void read_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "segment", required_argument, NULL, 's' },
		{ "foreground", no_argument, NULL, 'f' },
		{ 0 },
	};
	char line[WP_CONF_LINE_BYTES];
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 's') {
			if (!conf_set(&options->conf, "WRITEPACE_SEGMENT", optarg, line))
				refuse(line);
		} else if (option == 'f') {
			options->foreground = true;
		} else {
			exit(STATUS_REFUSED);
		}
	}
	if (optind < argc)
		refuse("takes options only: --segment NAME, --foreground");
}

/* ------------------------------------------------------------------ detaching -- */

/* What the caller blocked or ignores is no matter of ours. */
static void forget_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int number = 1; number < SIGRTMIN; number++)
		signal(number, SIG_DFL);
}

/* False where there are too few: a process that can not be looked at would be taken for dead. */
static bool have_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max < DESCRIPTORS_MIN)
		return false;
	if (limit.rlim_cur >= DESCRIPTORS)
		return true;
	limit.rlim_cur = min_u64(limit.rlim_max, DESCRIPTORS);
	return !setrlimit(RLIMIT_NOFILE, &limit);
}

/* Only the child returns. */
static void leave_parent(void)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(STATUS_REFUSED);
	if (pid > 0)
		_exit(0);
}

static void detach(void)
{
	int fd = open("/dev/null", O_RDWR);

	leave_parent();
	setsid();
	for (int i = 0; i <= STDERR_FILENO; i++)
		dup2(fd, i);
	if (fd > STDERR_FILENO)
		close(fd);
	if (chdir("/"))
		return; /* some directory stays in use, as by any other program */
}

/* --------------------------------------------------------------- the only one -- */

/*
 * Does the helper @id still answer? A pid tells less: it may be reused, stopped, or of another
 * pid namespace. Who does not answer has lost its place, and finds that out when it wakes.
 */
static bool answers(struct wp_header *header, uint64_t id)
{
	uint64_t shown_ns = word_read(&header->helper_ns);

	kernel_wake(&header->wake);
	for (uint64_t waited_ns = 0; waited_ns < ANSWER_NS; waited_ns += ASK_STEP_NS) {
		kernel_sleep_ns(ASK_STEP_NS);
		if (word_read(&header->helper_id) != id)
			return false;
		if (word_read(&header->helper_ns) != shown_ns)
			return true;
	}
	return false;
}

/* @silent_id: of one that did not answer; it is not asked twice. */
static bool is_taken(struct wp_header *header, uint64_t *silent_id)
{
	uint64_t id = word_read(&header->helper_id);

	if (!id || id == *silent_id)
		return false;
	if (answers(header, id))
		return true;
	*silent_id = id;
	return false;
}

static bool become_the_one(struct helper *helper, uint64_t *silent_id)
{
	struct wp_header *header = &helper->map->header;

	for (int claim = 0; claim < CLAIMS; claim++) {
		if (is_taken(header, silent_id))
			return false;
		if (word_replace(&header->helper_id, 0, helper->id) ||
		    word_replace(&header->helper_id, *silent_id, helper->id)) {
			word_write(&header->helper_ns, kernel_now_ns());
			return true;
		}
	}
	return false;
}

/*
 * Order: whoever starts a command enters its task first and then looks for a helper
 * (launch/start.c). So either it found us gone, or we find its task now and stay.
 */
static bool leave(struct helper *helper)
{
	struct wp_header *header = &helper->map->header;
	struct tasks tasks = TASKS_INIT;
	bool wanted;

	if (!helper_is_the_one(helper))
		return true;
	word_write(&header->pressure_q10, 0);
	word_write(&header->kernel_limit_bytes, 0);
	if (!word_replace(&header->helper_id, helper->id, 0))
		return true;
	wanted = tasks_live(&tasks, helper, kernel_now_ns());
	tasks_forget(&tasks);
	return !wanted || !word_replace(&header->helper_id, 0, helper->id);
}

/* ----------------------------------------------------------------------- main -- */

static void help(struct helper *helper)
{
	helper->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (helper->wake_fd >= 0 && aging_start(helper)) {
		do {
			rounds(helper);
		} while (!leave(helper));
	}
}

int main(int argc, char **argv)
{
	static struct segment segment;
	struct options options = { 0 };
	struct helper helper = { .root = "" };
	uint64_t silent_id = 0;
	struct stat st;

	conf_defaults(&options.conf);
	/* The wrapper has complained already. */
	conf_read(&options.conf, environ, NULL, NULL);
	read_options(&options, argc, argv);
	if (options.conf.disable || options.conf.helper == CONF_HELPER_OFF)
		return 0;
	/* Why: an inherited one would keep a lock, a pipe or a mount for as long as we live. */
	kernel_close_from(STDERR_FILENO + 1);
	forget_signals();
	if (!have_descriptors())
		return 0;
	segment_attach(&segment, options.conf.segment);
	if (!segment_ready(&segment) || segment.state != SEGMENT_SHARED ||
	    stat("/proc/self/ns/pid", &st))
		return 0;
	helper.map = segment.map;
	helper.alone = options.conf.observer == CONF_HELPER_OFF;
	helper.namespace_id = st.st_ino;
	if (is_taken(&helper.map->header, &silent_id))
		return 0;
	if (!options.foreground)
		detach();
	helper.id = kernel_task_id();
	if (become_the_one(&helper, &silent_id))
		help(&helper);
	return 0;
}
