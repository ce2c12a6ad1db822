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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <gelf.h>

#include "conf/conf.h"
#include "host/inside.h"
#include "host/locate.h"
#include "launch/elf.h"
#include "launch/filter.h"
#include "launch/find.h"
#include "launch/start.h"
#include "launch/status.h"

#define SCRIPT_LEVELS 4 /* whose interpreter is a script: the kernel's own bound */

struct request {
	bool best_effort;
	bool verbose;
	bool quiet;
	const char *origins;
	const char *helper;
	uint64_t pid;
	bool any;    /* the second front end is to pace it */
	bool inside; /* and does so already */
	struct conf conf;
	const char *library;
	const char *command;
	struct elf_facts ours; /* this program: what the library can be loaded into */
	char first[WP_ELF_NAME_BYTES];
};

/* -------------------------------------------------------------- messages ---- */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[2 * PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	dprintf(STDERR_FILENO, "writepace: %s\n", line);
}

/* The library would not reach @path: refuse, or with --best-effort only say so. */
static int refuse(const struct request *request, const char *path, const char *reason,
		  const char *instead)
{
	if (!request->best_effort) {
		say("%s: %s; not started (%s)", path, reason, instead);
		return WP_STATUS_REFUSED;
	}
	if (!request->quiet)
		say("warning: %s: %s; it runs unpaced", path, reason);
	return 0;
}

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

/* Programs that start their command without our environment. */
struct dropper {
	const char *name;
	bool always; /* whoever calls it */
	const char *instead;
};

static const struct dropper droppers[] = {
	{ "sudo", true, "run: sudo writepace CMD" },
	{ "doas", true, "run: doas writepace CMD" },
	{ "pkexec", true, "run: pkexec writepace CMD" },
	{ "su", false, "run: su -c 'writepace CMD'" },
	{ "ssh", false, "run: ssh HOST writepace CMD" },
	{ "systemd-run", false, "run: systemd-run writepace CMD" },
	{ "docker", false, "run writepace inside the container" },
	{ "podman", false, "run writepace inside the container" },
	{ "flatpak", false, "run writepace inside the sandbox" },
	{ "snap", false, "run writepace inside the sandbox" },
};

static const struct dropper *find_dropper(const char *path)
{
	for (size_t i = 0; i < sizeof(droppers) / sizeof(droppers[0]); i++)
		if (!strcmp(droppers[i].name, find_name(path)))
			return &droppers[i];
	return NULL;
}

/*
 * What no library reaches: the other front end does, if the user leaves the choice to us, and is
 * named if not.
 */
static int out_of_reach(struct request *request, const char *path, const char *reason,
			const char *instead)
{
	if (request->conf.front != CONF_FRONT_AUTO)
		return refuse(request, path, reason, instead);
	if (request->verbose)
		say("note: %s: %s; --any is taken", path, reason);
	request->any = true;
	return 0;
}

/* Why the dynamic loader will take it for a privileged program; NULL = it will not. */
static const char *why_privileged(const char *path)
{
	struct statvfs mount;
	struct stat status;

	if (stat(path, &status) != 0 ||
	    (statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID)))
		return NULL;
	if ((status.st_mode & S_ISUID) && status.st_uid != getuid())
		return "a set-uid program, into which no library is preloaded";
	if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
	    status.st_gid != getgid())
		return "a set-gid program, into which no library is preloaded";
	if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return "a program with capabilities, into which no library is preloaded";
	return NULL;
}

static int refuse_target(struct request *request, const char *path,
			 const struct elf_facts *facts, const char *instead)
{
	char reason[2 * WP_ELF_TARGET_BYTES + 64];
	char is[WP_ELF_TARGET_BYTES];
	char wanted[WP_ELF_TARGET_BYTES];

	elf_describe(facts, is);
	elf_describe(&request->ours, wanted);
	snprintf(reason, sizeof(reason), "a program for %s, but the library is for %s",
		 is, wanted);
	return out_of_reach(request, path, reason, instead);
}

static int refuse_loader(struct request *request, const char *path,
			 const struct elf_facts *facts, const char *instead)
{
	char reason[WP_ELF_NAME_BYTES];

	snprintf(reason, sizeof(reason),
		 "a program of another C library (its loader is %.100s)", facts->loader);
	return out_of_reach(request, path, reason, instead);
}

/* Does it make calls that the filter knows? */
static bool has_known_calls(const struct elf_facts *facts)
{
	switch (facts->machine) {
	case EM_X86_64: /* not x32 */
	case EM_AARCH64:
		return facts->bits == ELFCLASS64;
	case EM_ARM:
		return false;
	default: /* the other one of the processor, or one that an emulator runs */
		return true;
	}
}

static int check_elf_any(const struct request *request, const char *path,
			 const struct elf_facts *facts)
{
	const struct dropper *dropper = find_dropper(path);

	if (!has_known_calls(facts))
		return refuse(request, path,
			      "a program whose system calls are not watched",
			      "--best-effort runs it unpaced");
	if (geteuid() != 0 && why_privileged(path))
		return refuse(request, path,
			      "under --any nothing gets the rights of a set-uid program",
			      dropper ? dropper->instead : "run it without --any");
	return 0;
}

/*
 * Why only the loader's name is compared: it tells C library and architecture; another
 * copy of the same loader (a package store, a merged /usr) does not matter.
 */
static int check_elf(struct request *request, const char *path,
		     const struct elf_facts *facts)
{
	const struct dropper *dropper = find_dropper(path);
	const char *privileged = why_privileged(path);
	const char *instead = dropper ? dropper->instead :
					"--any paces it, --best-effort runs it unpaced";

	if (request->any)
		return check_elf_any(request, path, facts);
	if (!elf_same_target(facts, &request->ours))
		return refuse_target(request, path, facts, instead);
	if (privileged)
		return refuse(request, path, privileged,
			      dropper ? dropper->instead :
					"--best-effort runs it unpaced");
	if (!*facts->loader)
		return out_of_reach(request, path,
				    "a static program, which loads no library", instead);
	if (strcmp(find_name(facts->loader), find_name(request->ours.loader)) != 0)
		return refuse_loader(request, path, facts, instead);
	if (facts->go)
		return out_of_reach(request, path,
				    "a Go program, whose writes pass no library",
				    instead);
	if (dropper && dropper->always)
		return refuse(request, path,
			      "starts its command with a clean environment", instead);
	if (dropper && request->verbose)
		say("note: %s may start its command without the library; %s", path,
		    instead);
	if (*facts->sanitizer)
		strcpy(request->first, facts->sanitizer);
	return 0;
}

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
	return check_elf(request, path, &facts);
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
