/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepacectl doctor: why pacing works or does not, here, on a path's device and for a command;
 * advice in one line each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "ctl/human.h"
#include "ctl/imports.h"
#include "ctl/table.h"
#include "ctl/view.h"
#include "helper/memory.h"
#include "helper/read.h"
#include "host/kernel.h"
#include "launch/elf.h"
#include "launch/find.h"

#define TEXT_BYTES 512
#define ZFS_MAGIC 0x2fc12fc1

enum mark { MARK_OK, MARK_NOTE, MARK_BAD };

static const char *const mark_names[] = { "ok", "note", "bad" };

struct doctor {
	struct table *table; /* NULL = lines for people */
	enum mark worst;
};

__attribute__((format(printf, 5, 6))) static void find(struct doctor *doctor,
						       enum mark mark, const char *what,
						       const char *advice,
						       const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (mark > doctor->worst)
		doctor->worst = mark;
	if (!doctor->table) {
		printf("%-4s  %-14s %s%s%s\n", mark_names[mark], what, text,
		       *advice ? "; " : "", advice);
		return;
	}
	table_row(doctor->table);
	table_text(doctor->table, what);
	table_text(doctor->table, mark_names[mark]);
	table_text(doctor->table, text);
	table_text(doctor->table, advice);
}

/* --------------------------------------------------------------- machine ---- */

static void check_cachestat(struct doctor *doctor)
{
	struct kernel_pages pages;
	struct utsname name;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int result = fd < 0 ? -errno : kernel_cachestat(fd, 0, 1, &pages);

	uname(&name);
	if (fd >= 0)
		close(fd);
	if (result != -ENOSYS)
		find(doctor, MARK_OK, "cachestat", "", "Linux %s has it", name.release);
	else
		find(doctor, MARK_NOTE, "cachestat",
		     "Linux 6.5 has it; until then --rate",
		     "missing in Linux %s: what is written is guessed from the device",
		     name.release);
}

static void check_proc(struct doctor *doctor)
{
	char text[4096];

	if (read_text(text, sizeof(text), "/proc/pressure/memory"))
		find(doctor, MARK_OK, "memory", "", "pressure is known (PSI)");
	else
		find(doctor, MARK_NOTE, "memory", "boot with psi=1",
		     "no PSI: judged by what is available");
	if (read_text(text, sizeof(text), "/proc/self/io"))
		find(doctor, MARK_OK, "accounting", "",
		     "the kernel counts tasks' writes");
	else
		find(doctor, MARK_BAD, "accounting",
		     "a kernel with CONFIG_TASK_IO_ACCOUNTING",
		     "no /proc/self/io: what tasks dirty is not counted");
}

static void check_limits(struct doctor *doctor)
{
	char text[HUMAN_BYTES];
	uint64_t bytes = memory_kernel_limit_bytes("");

	if (!bytes)
		find(doctor, MARK_NOTE, "kernel limits", "is /proc mounted?",
		     "not known");
	else if (bytes < WP_MIB(4))
		find(doctor, MARK_NOTE, "kernel limits",
		     "root may raise vm.dirty_background_bytes",
		     "only %s may be dirty before the kernel throttles by itself",
		     human_bytes(text, bytes));
	else
		find(doctor, MARK_OK, "kernel limits", "", "ours stay below %s",
		     human_bytes(text, bytes));
}

static bool is_ours(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static void check_segment(struct doctor *doctor)
{
	char path[64];
	char text[HUMAN_BYTES];
	const char *folder = path;
	struct statvfs room;

	snprintf(path, sizeof(path), "/run/user/%u", geteuid());
	if (!is_ours(path)) {
		snprintf(path, sizeof(path), "/dev/shm/writepace-%u", geteuid());
		if (!access(path, F_OK) && !is_ours(path)) {
			find(doctor, MARK_BAD, "segment", "remove it",
			     "%s is somebody else's: each program paces by itself", path);
			return;
		}
		folder = is_ours(path) ? path : "/dev/shm";
	}
	if (access(folder, W_OK) || statvfs(folder, &room))
		find(doctor, MARK_BAD, "segment", "a writable tmpfs there",
		     "%s: %s; each program paces by itself", folder, strerror(errno));
	else if (room.f_bavail * room.f_frsize < sizeof(struct wp_segment))
		find(doctor, MARK_BAD, "segment", "make room there",
		     "%s has no room for %s; each program paces by itself", folder,
		     human_bytes(text, sizeof(struct wp_segment)));
	else
		find(doctor, MARK_OK, "segment", "", "in %s", path);
}

static void check_helper(struct doctor *doctor, const struct ctl *ctl)
{
	static struct sight sight;
	bool helped = false;

	view_find(&sight, ctl);
	for (size_t i = 0; i < sight.count; i++)
		helped = helped || view_is_helped(&sight, &sight.segments[i]);
	view_free(&sight);
	find(doctor, MARK_OK, "helper", "", "%s",
	     helped ? "runs" : "none now; the wrapper starts one");
}

/* ------------------------------------------------------------------ path ---- */

/* Why nothing on this file system is paced; NULL = it is. */
static const char *why_unpaced(const char *path, const char **advice)
{
	struct statfs fs;

	*advice = "";
	if (statfs(path, &fs))
		return NULL;
	switch ((unsigned long)fs.f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case HUGETLBFS_MAGIC:
		return "it lives in memory: nothing to pace";
	case OVERLAYFS_SUPER_MAGIC:
		*advice = "--device PATH:bandwidth=SPEED, or write to a volume";
		return "an overlay: paced where the helper sees its upper directory, "
		       "not in most containers";
	case ZFS_MAGIC:
		return "ZFS throttles by itself: not paced";
	default:
		return NULL;
	}
}

static void check_bdi(struct doctor *doctor, const struct place *place)
{
	char advice[TEXT_BYTES];
	char text[HUMAN_BYTES];

	if (read_number("/sys/class/bdi/%s/strict_limit", place->bdi)) {
		find(doctor, MARK_NOTE, "bdi", "that holds for us too",
		     "root limits it for everybody: strict_limit, max_bytes %s",
		     human_bytes(text,
				 read_number("/sys/class/bdi/%s/max_bytes", place->bdi)));
		return;
	}
	snprintf(advice, sizeof(advice),
		 "one for everybody, as root: echo 1 >/sys/class/bdi/%s/strict_limit; "
		 "echo 16777216 >/sys/class/bdi/%s/max_bytes",
		 place->bdi, place->bdi);
	find(doctor, MARK_OK, "bdi", advice, "no limit for those who are not paced");
}

static void check_path(struct doctor *doctor, const char *path)
{
	const char *advice;
	const char *reason = why_unpaced(path, &advice);
	struct place place;
	int error = place_find(path, &place);

	if (error) {
		find(doctor, MARK_BAD, "path", "", "%s: %s", path, strerror(-error));
		return;
	}
	if (reason) {
		find(doctor, MARK_NOTE, "device", advice, "%s: %s", path, reason);
		return;
	}
	find(doctor, MARK_OK, "device", "", "%s is on %s (%s%s%s%s)", path, place.name,
	     place.id, place.disk != place.number ? ", a partition" : "",
	     *place.uuid ? ", btrfs" : "",
	     *place.mount ? "" : ", mounted nowhere that is seen");
	check_bdi(doctor, &place);
}

/* --------------------------------------------------------------- command ---- */

/* What `writepace --dry-run COMMAND` says, in @text; its exit status. */
static int ask_wrapper(char **command, char *text, size_t bytes)
{
	char wrapper[PATH_MAX];
	size_t used = 0;
	int pipe_fds[2];
	ssize_t got;
	int status;
	pid_t pid;

	ctl_program("writepace", wrapper, sizeof(wrapper));
	if (pipe2(pipe_fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		const char *arguments[] = { wrapper, "--dry-run", "--verbose",
					    "--",    command[0],  NULL };

		dup2(pipe_fds[1], STDERR_FILENO);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
		execv(wrapper, (char **)(uintptr_t)arguments);
		dprintf(STDERR_FILENO, "writepace: %s: %s\n", wrapper, strerror(errno));
		_exit(127);
	}
	close(pipe_fds[1]);
	while (used < bytes - 1 &&
	       (got = read(pipe_fds[0], text + used, bytes - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	close(pipe_fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_imports(struct doctor *doctor, const char *path)
{
	struct imports imports;

	if (!imports_read(path, &imports))
		return;
	if (*imports.io_uring)
		find(doctor, MARK_NOTE, "io_uring", "see uncovered in writepacectl tasks",
		     "it has %s: such writes are seen late", imports.io_uring);
	if (imports.raw)
		find(doctor, MARK_NOTE, "raw calls", "",
		     "it uses syscall(): writes are paced, io_uring is seen late");
	if (imports.maps)
		find(doctor, MARK_NOTE, "mapped files", "",
		     "it maps memory: stores to files would be seen late");
	if (*imports.allocator)
		find(doctor, MARK_OK, "allocator", "", "%s; the library uses none",
		     imports.allocator);
}

static void check_sanitizer(struct doctor *doctor, const char *path)
{
	struct elf_facts facts;

	if (!elf_read(path, &facts) && *facts.sanitizer)
		find(doctor, MARK_NOTE, "sanitizer", "the wrapper loads it first",
		     "built with %s", facts.sanitizer);
}

static void check_command(struct doctor *doctor, char **command)
{
	char path[PATH_MAX] = "";
	char text[2048];
	struct script script;
	int status = ask_wrapper(command, text, sizeof(text));
	const char *said = strncmp(text, "writepace: ", 11) ? text : text + 11;
	bool found = !find_command(command[0], path);

	text[strcspn(text, "\n")] = '\0';
	if (status) {
		find(doctor, MARK_BAD, "command", "", "%s",
		     *said ? said : "the wrapper can not be asked");
		return;
	}
	if (!strncmp(said, "note: ", 6))
		find(doctor, MARK_NOTE, "command", "", "%s", said + 6);
	else
		find(doctor, MARK_OK, "command", "", "the library reaches %s", path);
	if (!found)
		return;
	if (find_script(path, &script)) {
		find(doctor, MARK_OK, "script", "", "run by %s", script.interpreter);
		strcpy(path, script.interpreter);
	}
	check_imports(doctor, path);
	check_sanitizer(doctor, path);
}

/* ------------------------------------------------------------------ main ---- */

static const struct table_column columns[] = {
	{ "CHECK", "check", TABLE_TEXT },
	{ "VERDICT", "verdict", TABLE_TEXT },
	{ "DETAIL", "detail", TABLE_TEXT },
	{ "ADVICE", "advice", TABLE_TEXT },
	{ 0 },
};

int run_doctor(struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "path", required_argument, NULL, 'p' },
		{ 0 },
	};
	struct doctor doctor = { 0 };
	const char *path = ".";

	while (ctl_option(ctl, argc, argv, options) != -1)
		path = optarg;
	if (ctl->json)
		doctor.table = table_new("doctor", columns, true);
	check_cachestat(&doctor);
	check_proc(&doctor);
	check_limits(&doctor);
	check_segment(&doctor);
	check_helper(&doctor, ctl);
	check_path(&doctor, path);
	if (optind < argc)
		check_command(&doctor, argv + optind);
	if (doctor.table) {
		table_print(doctor.table);
		table_free(doctor.table);
	}
	return doctor.worst == MARK_BAD ? CTL_FAILED : CTL_DONE;
}
