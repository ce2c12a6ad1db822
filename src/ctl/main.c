/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/ctl.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPTIONS_MAX 16
#define COMMON_OPTIONS 3

static const struct command commands[] = {
	{ "status", run_status, "", "is anybody paced, within which limits", "", true },
	{ "devices", run_devices, "", "the devices that paced programs write to", "",
	  true },
	{ "tasks", run_tasks, "", "the tasks that are paced", "", true },
	{ "top", run_top, "", "the same, live; without a terminal once",
	  "  -d, --delay=TIME        look anew after so long (1s)\n", false },
	{ "drain", run_drain, "[PATH|DEVICE...]",
	  "wait until what was written is on the device", "", false },
	{ "trace", run_trace, "[COMMAND [ARGUMENT...]]",
	  "write down what is decided, for plot",
	  "  -o, --output=FILE       write to FILE, packed when its name ends in .gz\n"
	  "  -t, --time=TIME         for so long (10s); else until Ctrl-C, or COMMAND ended\n",
	  false },
	{ "plot", run_plot, "--text|--output=PICTURE FILE",
	  "draw a trace: limits and what is dirty, rates, pauses",
	  "  -o, --output=FILE       draw into FILE, its name ends in .png or .svg\n"
	  "  -D, --device=MAJ:MIN    this device alone, not the one with most lines\n"
	  "      --text              draw on the terminal\n",
	  false },
	{ "doctor", run_doctor, "[COMMAND]",
	  "why pacing works or does not, here and for a command",
	  "  -p, --path=PATH         look at the device of PATH, not of this directory\n",
	  true },
	{ "set", run_set, "[PATH|DEVICE|PID] NAME=VALUE...",
	  "change limits, rates and weights of what runs",
	  "  limit=, drain=          of everything in the segment, without a PATH or PID\n"
	  "  rate=, max_bytes=       of a device\n"
	  "  weight=                 of a process\n",
	  false },
	{ "reset", run_reset, "[PATH|DEVICE|PID]", "take back what was set", "", false },
	{ "export", run_export, "--prometheus", "print the numbers for node_exporter",
	  "      --prometheus        the format, there is one\n"
	  "  -o, --output=FILE       replace FILE whole\n",
	  false },
	{ "blame", run_blame, "",
	  "who dirtied, whom the kernel held up, who waited in fsync",
	  "  -d, --device=DEVICE     this device alone: MAJ:MIN, a node or any path on it\n"
	  "  -t, --time=TIME         for so long from now; else since the observer began\n",
	  true },
	{ NULL, NULL, NULL, NULL, NULL, false },
};

/* ------------------------------------------------------------------ help ---- */

static void show_help(void)
{
	printf("Usage: writepacectl COMMAND [OPTION...] [ARGUMENT...]\n"
	       "Look after programs that run under writepace, and their devices.\n\n"
	       "Commands:\n");
	for (const struct command *command = commands; command->name; command++)
		printf("  %-9s %s\n", command->name, command->help);
	printf("\nOptions:\n"
	       "  -h, --help              print this, or with a command its options\n"
	       "  -V, --version           print the version\n\n"
	       "Exit status: 0 done, 1 could not be done, 2 wrong usage, 3 nobody is or was\n"
	       "paced, 130 interrupted.\n");
}

static void show_command_help(const struct command *command)
{
	printf("Usage: writepacectl %s [OPTION...]%s%s\n%c%s.\n\nOptions:\n%s"
	       "      --segment=NAME      look at this segment alone: a name or a path\n",
	       command->name, *command->arguments ? " " : "", command->arguments,
	       command->help[0] - ('a' - 'A'), command->help + 1, command->options);
	if (command->prints_data)
		printf("      --json              print JSON: bytes, bytes per second, "
		       "nanoseconds\n");
	printf("  -h, --help              print this and exit\n");
}

/* --------------------------------------------------------------- options ---- */

int ctl_complain(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fputs("writepacectl: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return CTL_FAILED;
}

int ctl_usage(const struct ctl *ctl)
{
	ctl_complain("usage: writepacectl %s [OPTION...] %s", ctl->command->name,
		     ctl->command->arguments);
	return CTL_USAGE;
}

static _Noreturn void wrong_option(const struct ctl *ctl)
{
	/* getopt has said what is wrong with it */
	fprintf(stderr, "writepacectl: see writepacectl %s --help\n", ctl->command->name);
	exit(CTL_USAGE);
}

enum { OPTION_HELP = 'h', OPTION_SEGMENT = 256, OPTION_JSON };

static int merge_options(const struct ctl *ctl, const struct option *own,
			 struct option *merged, char *letters)
{
	static const struct option common[COMMON_OPTIONS] = {
		{ "help", no_argument, NULL, OPTION_HELP },
		{ "segment", required_argument, NULL, OPTION_SEGMENT },
		{ "json", no_argument, NULL, OPTION_JSON },
	};
	int count = 0;

	*letters++ = '+'; /* what follows a command of the user's is not ours */
	*letters++ = OPTION_HELP;
	for (int i = 0; i < COMMON_OPTIONS - !ctl->command->prints_data; i++)
		merged[count++] = common[i];
	for (; own && own->name && count < OPTIONS_MAX; own++) {
		merged[count++] = *own;
		if (own->val > 0x7f)
			continue;
		*letters++ = (char)own->val;
		if (own->has_arg)
			*letters++ = ':';
	}
	*letters = '\0';
	return count;
}

int ctl_option(struct ctl *ctl, int argc, char **argv, const struct option *own)
{
	struct option merged[OPTIONS_MAX + 1] = { 0 };
	char letters[2 * OPTIONS_MAX + 3];
	int option;

	merge_options(ctl, own, merged, letters);
	while ((option = getopt_long(argc, argv, letters, merged, NULL)) != -1) {
		switch (option) {
		case OPTION_HELP:
			show_command_help(ctl->command);
			exit(CTL_DONE);
		case OPTION_SEGMENT:
			ctl->segment = optarg;
			break;
		case OPTION_JSON:
			ctl->json = true;
			break;
		case '?':
			wrong_option(ctl);
		default:
			return option;
		}
	}
	return -1;
}

/* -------------------------------------------------------------- programs ---- */

void ctl_program(const char *name, char *path, size_t bytes)
{
	char own[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	if (slash)
		*slash = '\0';
	snprintf(path, bytes, "%s/%s", own, name);
	if (!access(path, X_OK))
		return;
	/* libtool runs its programs out of a folder .libs; what is left is installed */
	snprintf(path, bytes, "%s/../%s", own, name);
	if (access(path, X_OK))
		snprintf(path, bytes, "%s/%s", WP_LIBEXEC, name);
}

/* ------------------------------------------------------------------ main ---- */

static const struct command *find_command(const char *name)
{
	const struct command *command = commands;

	while (command->name && strcmp(command->name, name) != 0)
		command++;
	return command->name ? command : NULL;
}

/* Why: a full disk behind a redirection must not look like a result. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return ctl_complain("standard output: %m");
	return status;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { 0 };
	const char *word = argc > 1 ? argv[1] : "";

	if (!strcmp(word, "-h") || !strcmp(word, "--help") || !strcmp(word, "help")) {
		show_help();
		return finish(CTL_DONE);
	}
	if (!strcmp(word, "-V") || !strcmp(word, "--version")) {
		printf("writepacectl %s\n", PACKAGE_VERSION);
		return finish(CTL_DONE);
	}
	ctl.command = find_command(word);
	if (!ctl.command) {
		ctl_complain(*word ? "no such command: %s; see writepacectl --help" :
				     "%sno command given; see writepacectl --help",
			     word);
		return CTL_USAGE;
	}
	argv[1] = argv[0];
	return finish(ctl.command->run(&ctl, argc - 1, argv + 1));
}
