/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/reach.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launch/find.h"

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

/* A processor of 64 bits runs programs of 32, too, and the filter knows their calls. */
static bool is_narrow_kin(const struct elf_facts *facts, const struct elf_facts *ours)
{
	return ours->machine == EM_X86_64 && facts->machine == EM_386;
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
	if (is_narrow_kin(facts, &request->ours))
		return out_of_reach(request, path, reason, instead);
	return refuse(request, path, reason, "--best-effort runs it unpaced");
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
int reach_check(struct request *request, const char *path, const struct elf_facts *facts)
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
