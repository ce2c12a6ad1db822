/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepace-observer: exact numbers from the kernel, one beside all segments of a machine.
 *
 *   load.c       the programs in the kernel (observer.bpf.c, aggregate.bpf.h)
 *   gather.c     their maps -> entries
 *   queue.c      the kernel's own counts, from debugfs
 *   board.c      the files under /run/writepace
 *   show.c       --once
 *   tell.c       lines for people and for systemd
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/kernel.h"
#include "observer/board.h"
#include "observer/gather.h"
#include "observer/load.h"
#include "observer/show.h"
#include "observer/tell.h"

#define STATUS_REFUSED 125
#define STATUS_NONE 1          /* --once, and no observer runs */
#define CHANGING_NS WP_MS(20)  /* between two looks at the devices */
#define DEVICES_NS WP_MS(100)  /* while nothing changes */
#define HEARTBEAT_NS WP_SEC(1) /* half of what counts as fresh */
#define TASKS_NS WP_SEC(1)
#define FORGET_NS WP_SEC(60)

struct options {
	const char *folder;
	bool foreground;
	bool once;
	bool json;
	bool syncs;
	bool verbose;
};

struct observer {
	struct loaded loaded;
	struct board board;
	uint64_t published_ns; /* when the devices last were */
	uint64_t tasks_ns;     /* when the tasks are due */
	uint64_t forget_ns;
};

static struct gathered_devices now_devices;
static struct gathered_devices old_devices;
static struct gathered_tasks tasks;

/* --------------------------------------------------------------------- options -- */

static void usage(void)
{
	printf("usage: writepace-observer --foreground [--syncs] [--verbose] [--folder DIR]\n"
	       "       writepace-observer --once [--json] [--folder DIR]\n"
	       "\n"
	       "Observes what every process dirties and every device completes, and publishes\n"
	       "it below %s for writepaced and writepacectl.\n"
	       "\n"
	       "  -f, --foreground   observe until SIGTERM or SIGINT; takes root and a kernel\n"
	       "                     with BTF, 5.8 or later\n"
	       "  -o, --once         print what the running observer has published: bytes, and\n"
	       "                     seconds of the kernel's own pauses and of fsync; tasks of\n"
	       "                     other users for root only\n"
	       "  -j, --json         the same as JSON; null where the kernel tells nothing\n"
	       "  -s, --syncs        waits in fsync of all file systems, not of ext4 alone; costs\n"
	       "                     every system call of the machine a little\n"
	       "  -d, --folder DIR   another place than %s\n"
	       "  -v, --verbose      what libbpf says, too\n"
	       "  -h, --help\n"
	       "  -V, --version\n"
	       "\n"
	       "Exit status: 0; 1 with --once where no observer runs; 125 it can not observe,\n"
	       "with a line that says why.\n",
	       WP_PUBLISHED_FOLDER, WP_PUBLISHED_FOLDER);
}

static _Noreturn void refuse(const char *line)
{
	tell("%s", line);
	exit(STATUS_REFUSED);
}

static void read_option(struct options *options, int option)
{
	switch (option) {
	case 'f':
		options->foreground = true;
		break;
	case 'o':
		options->once = true;
		break;
	case 'j':
		options->json = true;
		break;
	case 's':
		options->syncs = true;
		break;
	case 'v':
		options->verbose = true;
		break;
	case 'd':
		options->folder = optarg;
		break;
	case 'h':
		usage();
		exit(0);
	case 'V':
		printf("writepace-observer %s\n", PACKAGE_VERSION);
		exit(0);
	default:
		exit(STATUS_REFUSED);
	}
}

static void read_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "foreground", no_argument, NULL, 'f' },
		{ "once", no_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "syncs", no_argument, NULL, 's' },
		{ "folder", required_argument, NULL, 'd' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "fojsd:vhV", known, NULL)) != -1)
		read_option(options, option);
	if (optind < argc)
		refuse("takes options only; see --help");
	if (options->once == options->foreground)
		refuse("either --foreground or --once; see --help");
	if (options->json && !options->once)
		refuse("--json goes with --once");
	if (options->syncs && options->once)
		refuse("--syncs goes with --foreground");
}

/* --------------------------------------------------------------------- observe -- */

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = end };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static bool devices_changed(void)
{
	return now_devices.count != old_devices.count ||
	       memcmp(now_devices.devices, old_devices.devices,
		      now_devices.count * sizeof(now_devices.devices[0]));
}

/* Returns the time until the next look. Why soon: readers take what was counted for what is. */
static uint64_t observe_devices(struct observer *observer, uint64_t now_ns)
{
	bool changed;

	gather_devices(&now_devices, &observer->loaded);
	changed = devices_changed();
	if (!changed && now_ns < observer->published_ns + HEARTBEAT_NS)
		return DEVICES_NS;
	board_devices(&observer->board, &now_devices, *observer->loaded.lost, now_ns);
	old_devices = now_devices;
	observer->published_ns = now_ns;
	return changed ? CHANGING_NS : DEVICES_NS;
}

static void observe_tasks(struct observer *observer, uint64_t now_ns)
{
	if (now_ns < observer->tasks_ns)
		return;
	observer->tasks_ns = now_ns + TASKS_NS;
	gather_tasks(&tasks, &observer->loaded);
	board_tasks(&observer->board, &tasks, now_ns);
	if (now_ns < observer->forget_ns)
		return;
	observer->forget_ns = now_ns + FORGET_NS;
	gather_forget(&tasks, &observer->loaded);
}

static void observe(struct observer *observer)
{
	while (!ended) {
		uint64_t now_ns = kernel_now_ns();
		uint64_t step_ns = observe_devices(observer, now_ns);

		observe_tasks(observer, now_ns);
		kernel_sleep_ns(step_ns);
	}
}

/* The lock first: a second observer must not cost the first one anything. */
static int run(const struct options *options)
{
	static struct observer observer;

	if (geteuid())
		refuse("needs root: the kernel shows its events to nobody else");
	umask(022);
	catch_signals();
	if (!board_begin(&observer.board, options->folder, kernel_now_ns()))
		return STATUS_REFUSED;
	if (load_programs(&observer.loaded, options->syncs, options->verbose)) {
		tell_starter("READY=1");
		observe(&observer);
		tell_starter("STOPPING=1");
	}
	board_end(&observer.board);
	return ended ? 0 : STATUS_REFUSED;
}

int main(int argc, char **argv)
{
	struct options options = { .folder = WP_PUBLISHED_FOLDER };

	read_options(&options, argc, argv);
	if (options.once)
		return show(options.folder, options.json) ? 0 : STATUS_NONE;
	return run(&options);
}
