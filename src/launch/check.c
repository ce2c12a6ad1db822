/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepace-check: may this command be started, and will the library reach it?
 *
 *   writepace-check [--best-effort] [--verbose] [--quiet] [--origins TEXT]
 *                   [--pid PID --helper WRITEPACED] LIBRARY -- CMD [ARG ...]
 *
 * Called by the wrapper before it starts anything. Silent when all is well; otherwise one line on
 * stderr for each thing that is wrong. Exit status: 0 go on, 125 refused, 126 CMD must not be
 * executed, 127 CMD not found. On stdout: `any` where writepace-any is to pace it (WRITEPACE_FRONT),
 * `inside` where one does already; else the library that must be loaded before ours (an ASan
 * runtime insists on being first), or nothing. PID becomes the command's. Where all is well and no
 * helper runs, WRITEPACED is started beside it, detached: as we end it has no parent but init.
 *
 * TEXT tells where settings came from, a line each: WRITEPACE_DRAIN=/etc/writepace.conf:3
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "conf/conf.h"
#include "host/inside.h"
#include "host/locate.h"
#include "launch/elf.h"
#include "launch/filter.h"
#include "launch/find.h"
#include "launch/reach.h"
#include "launch/request.h"
#include "launch/start.h"
#include "launch/status.h"

#define SCRIPT_LEVELS 4 /* whose interpreter is a script: the kernel's own bound */

/* -------------------------------------------------------------- messages ---- */

static int cannot_execute(const char *what, int error)
{
	say("%s: %s", what, strerror(error));
	return error == ENOENT ? WP_STATUS_NOT_FOUND : WP_STATUS_NOT_EXECUTABLE;
}

/* -------------------------------------------------------------- settings ---- */

/* Where the setting that @line begins with came from; the length of it, 0 = unknown. */
static size_t find_origin(const char *origins, const char *line, const char **origin)
{
	size_t name = strcspn(line, "=");
	size_t length = 0;

	while (origins && *origins) {
		size_t end = strcspn(origins, "\n");

		if (end > name && !strncmp(origins, line, name + 1)) {
			*origin = origins + name + 1;
			length = end - name - 1;
		}
		origins += end + (origins[end] == '\n');
	}
	return length;
}

static void complain(const char *line, void *opaque)
{
	const struct request *request = opaque;
	const char *origin = NULL;
	size_t length = find_origin(request->origins, line, &origin);

	if (length)
		say("%.*s: %s", (int)length, origin, line);
	else
		say("%s", line);
}

/* A device that is not there would leave its settings without effect, in silence. */
static int check_devices(struct request *request, const struct conf_devices *devices)
{
	int result = 0;

	for (uint64_t i = 0; i < devices->count; i++) {
		const char *what = devices->list[i].what;
		char line[WP_CONF_LINE_BYTES];
		uint64_t number;
		int error = locate_device(what, &number);

		if (!error)
			continue;
		snprintf(line, sizeof(line), "WRITEPACE_DEVICE=%s: %s", what,
			 strerror(-error));
		complain(line, request);
		result = WP_STATUS_REFUSED;
	}
	return result;
}

static int check_settings(struct request *request)
{
	conf_defaults(&request->conf);
	if (conf_read(&request->conf, environ, complain, request))
		return WP_STATUS_REFUSED;
	return check_devices(request, &request->conf.devices);
}

/* --------------------------------------------------------------- library ---- */

static int check_library(const struct request *request)
{
	char is[WP_ELF_TARGET_BYTES];
	char wanted[WP_ELF_TARGET_BYTES];
	const char *library = request->library;
	struct elf_facts facts;
	int result = elf_read(library, &facts);

	if (strpbrk(library, ": \t\n")) {
		say("%s: a library whose path has ':' or a blank cannot be preloaded; "
		    "install it elsewhere",
		    library);
		return WP_STATUS_REFUSED;
	}
	if (result == -ENOEXEC || (result == 0 && facts.type != ET_DYN)) {
		say("%s: not a shared library; install writepace again", library);
		return WP_STATUS_REFUSED;
	}
	if (result != 0) {
		say("%s: %s; install writepace again", library, strerror(-result));
		return WP_STATUS_REFUSED;
	}
	if (elf_same_target(&facts, &request->ours))
		return 0;
	elf_describe(&facts, is);
	elf_describe(&request->ours, wanted);
	say("%s: the library is built for %s, not for %s; install writepace again",
	    library, is, wanted);
	return WP_STATUS_REFUSED;
}

/* --------------------------------------------------------------- program ---- */

static int check_file(struct request *request, const char *path, int level);

static int check_command(struct request *request, const char *command, int level)
{
	char path[PATH_MAX];
	int result = find_command(command, path);

	if (result != 0)
		return cannot_execute(result == -EACCES ? path : command, -result);
	return check_file(request, path, level);
}

static int check_script(struct request *request, const char *path,
			const struct script *script, int level)
{
	char found[PATH_MAX];
	char wanted[WP_SCRIPT_LINE_BYTES + 2];
	char command[WP_SCRIPT_LINE_BYTES];
	int result;

	/* The kernel does not search PATH for an interpreter. */
	snprintf(wanted, sizeof(wanted), "%s%s",
		 strchr(script->interpreter, '/') ? "" : "./", script->interpreter);
	result = find_command(wanted, found);
	if (result != 0) {
		say("%s: its interpreter %s: %s", path, script->interpreter,
		    strerror(-result));
		return result == -ENOENT ? WP_STATUS_NOT_FOUND : WP_STATUS_NOT_EXECUTABLE;
	}
	result = check_file(request, found, level);
	if (result == 0 && !strcmp(find_name(found), "env") &&
	    find_env_command(script->argument, command))
		result = check_command(request, command, level);
	return result;
}

/* A file that is neither a script nor ELF, or that cannot be read, is left to exec. */
static int check_file(struct request *request, const char *path, int level)
{
	struct elf_facts facts;
	struct script script;

	if (level > SCRIPT_LEVELS)
		return 0;
	if (find_script(path, &script))
		return check_script(request, path, &script, level + 1);
	if (elf_read(path, &facts) != 0)
		return 0;
	return reach_check(request, path, &facts);
}

/* ---------------------------------------------------------------- helper ---- */

static void see_to_helper(const struct request *request)
{
	const struct conf *conf = &request->conf;

	if (request->helper && conf->helper == CONF_HELPER_AUTO && !conf->disable)
		start_helper(request->helper, conf->segment, request->pid);
}

/* ------------------------------------------------------------------ main ---- */

static void print_front(const struct request *request)
{
	if (request->inside)
		puts("inside");
	else if (request->any)
		puts("any");
	else if (*request->first)
		puts(request->first);
}

static bool read_arguments(struct request *request, char **argv)
{
	for (argv++; *argv && !strncmp(*argv, "--", 2); argv++) {
		if (!strcmp(*argv, "--best-effort"))
			request->best_effort = true;
		else if (!strcmp(*argv, "--verbose"))
			request->verbose = true;
		else if (!strcmp(*argv, "--quiet"))
			request->quiet = true;
		else if (!strcmp(*argv, "--origins") && argv[1])
			request->origins = *++argv;
		else if (!strcmp(*argv, "--pid") && argv[1])
			request->pid = strtoul(*++argv, NULL, 10) & INT_MAX;
		else if (!strcmp(*argv, "--helper") && argv[1])
			request->helper = *++argv;
		else
			return false;
	}
	if (!argv[0] || !argv[1] || strcmp(argv[1], "--") != 0 || !argv[2])
		return false;
	request->library = argv[0];
	request->command = argv[2];
	return true;
}

int main(int argc, char **argv)
{
	struct request request = { 0 };
	int result;

	(void)argc;
	if (!read_arguments(&request, argv)) {
		say("usage: writepace-check [--best-effort] [--verbose] [--quiet] "
		    "[--origins TEXT] [--pid PID --helper WRITEPACED] "
		    "LIBRARY -- COMMAND [ARGUMENT...]");
		return WP_STATUS_REFUSED;
	}
	result = elf_read("/proc/self/exe", &request.ours);
	if (result != 0) {
		say("/proc/self/exe: %s; is /proc mounted?", strerror(-result));
		return WP_STATUS_REFUSED;
	}
	result = check_settings(&request);
	request.inside = inside_any();
	request.any = request.inside || request.conf.front == CONF_FRONT_ANY;
	if (!request.any) {
		result = result ? result : check_library(&request);
		result = result ? result : check_filter();
	}
	result = result ? result : check_command(&request, request.command, 0);
	if (result == 0)
		print_front(&request);
	if (result == 0)
		see_to_helper(&request);
	return result;
}
