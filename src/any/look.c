/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/look.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"
#include "host/sys.h"

#define PATH_BYTES 64
#define KNOWN_DEVICES 64   /* of which it is remembered whether they are remote */
#define NUMBERS 64         /* of descriptors that are looked through */
#define KNOWN_NS WP_SEC(1) /* a number is given to another mount soon */

/* ---------------------------------------------------------------------- texts -- */

__attribute__((format(printf, 2, 3))) static int open_path(int flags, const char *format,
							   ...)
{
	char path[PATH_BYTES];
	va_list list;

	va_start(list, format);
	vsnprintf(path, sizeof(path), format, list);
	va_end(list);
	return open(path, flags | O_CLOEXEC);
}

/* All that one read gives; the end is marked. */
static bool read_text(int fd, char *text, size_t bytes)
{
	ssize_t got = fd < 0 ? -1 : pread(fd, text, bytes - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static bool read_of(pid_t id, const char *what, char *text, size_t bytes)
{
	int fd = open_path(O_RDONLY, "/proc/%d/%s", id, what);
	bool got = read_text(fd, text, bytes);

	if (fd >= 0)
		close(fd);
	return got;
}

/* The number behind "NAME" at the start of a line. */
static bool value_of(const char *text, const char *name, int base, uint64_t *value)
{
	const char *at = strstr(text, name);

	if (!at)
		return false;
	*value = strtoull(at + strlen(name), NULL, base);
	return true;
}

pid_t look_process(pid_t thread)
{
	char text[4096];
	uint64_t process = 0;

	if (!read_of(thread, "status", text, sizeof(text)) ||
	    !value_of(text, "\nTgid:", 10, &process))
		return 0;
	return (pid_t)process;
}

void look_name(pid_t process, char name[LOOK_NAME_BYTES])
{
	char text[4096];
	const char *slash;

	if (!read_of(process, "cmdline", text, sizeof(text)))
		read_of(process, "comm", text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	slash = strrchr(text, '/');
	snprintf(name, LOOK_NAME_BYTES, "%.63s", slash ? slash + 1 : text);
}

int look_descriptors(pid_t thread)
{
	return open_path(O_PATH | O_DIRECTORY, "/proc/%d/fd", thread);
}

int look_counts(pid_t process, pid_t thread)
{
	return open_path(O_RDONLY, "/proc/%d/task/%d/io", process, thread);
}

uint64_t look_process_bytes(pid_t process)
{
	int counts = open_path(O_RDONLY, "/proc/%d/io", process);
	struct kernel_io io = { 0 };

	look_io(counts, &io);
	if (counts >= 0)
		close(counts);
	return io.dirtied_bytes;
}

int look_io(int counts, struct kernel_io *io)
{
	char text[512];

	errno = EBADF;
	if (!read_text(counts, text, sizeof(text)))
		return -errno;
	value_of(text, "\nread_bytes:", 10, &io->read_bytes);
	value_of(text, "\ncancelled_write_bytes:", 10, &io->cancelled_bytes);
	return value_of(text, "\nwrite_bytes:", 10, &io->dirtied_bytes) ? 0 : -EBADF;
}

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

bool look_has_signal(pid_t thread)
{
	char text[4096];
	uint64_t own = 0, shared = 0, blocked = 0, caught = 0;
	/* Why: nobody needs them at once, and the runtime of Go sends one to all its threads. */
	const uint64_t patient =
		BIT(SIGURG) | BIT(SIGCHLD) | BIT(SIGWINCH) | BIT(SIGCONT);

	return read_of(thread, "status", text, sizeof(text)) &&
	       value_of(text, "\nSigPnd:", 16, &own) &&
	       value_of(text, "\nShdPnd:", 16, &shared) &&
	       value_of(text, "\nSigBlk:", 16, &blocked) &&
	       value_of(text, "\nSigCgt:", 16, &caught) &&
	       ((own | shared) & caught & ~blocked & ~patient);
}

/* ---------------------------------------------------------------------- files -- */

struct name {
	char digits[16];
};

/* Why not printf: one is wanted for each call. */
static const char *name_of(int number, struct name *name)
{
	struct text text = text_on(name->digits, sizeof(name->digits));

	text_add_u64(&text, (unsigned)number);
	return name->digits;
}

bool look_at(int descriptors, int number, struct look_file *file)
{
	struct name name;
	struct statx stx;

	/* Why not stat: a network's or a program's file system would be asked. */
	if (statx(descriptors, name_of(number, &name), AT_STATX_DONT_SYNC,
		  STATX_TYPE | STATX_INO, &stx))
		return false;
	file->pacable = S_ISREG(stx.stx_mode) || S_ISBLK(stx.stx_mode);
	file->inode = stx.stx_ino;
	file->device = S_ISBLK(stx.stx_mode) ?
			       makedev(stx.stx_rdev_major, stx.stx_rdev_minor) :
			       makedev(stx.stx_dev_major, stx.stx_dev_minor);
	return true;
}

struct details {
	int flags; /* -1 = unknown */
	bool leased;
};

/* What else is told of a descriptor of another process. */
static struct details details_of(pid_t thread, int number)
{
	char text[4096];
	uint64_t flags;
	int fd = open_path(O_RDONLY, "/proc/%d/fdinfo/%d", thread, number);
	bool known =
		read_text(fd, text, sizeof(text)) && value_of(text, "flags:", 8, &flags);

	if (fd >= 0)
		close(fd);
	return (struct details){
		.flags = known ? (int)flags : -1,
		.leased = known && strstr(text, ": LEASE "),
	};
}

static bool is_writable(int flags)
{
	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

int look_nth_writable(pid_t thread, int descriptors, int nth)
{
	struct look_file file;

	for (int number = STDERR_FILENO + 1; number < NUMBERS; number++) {
		if (look_at(descriptors, number, &file) && file.pacable &&
		    is_writable(details_of(thread, number).flags) && !nth--)
			return number;
	}
	return -1;
}

static bool is_remote_type(const char *type)
{
	static const char *const remote[] = { "fuse",  "nfs",   "cifs",     "smb",
					      "9p",    "ceph",  "afs",      "virtiofs",
					      "gfs2",  "ocfs2", "orangefs", "coda",
					      "lustre" };

	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++) {
		if (!strncmp(type, remote[i], strlen(remote[i])))
			return true;
	}
	return false;
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELD...] - TYPE SOURCE OPTIONS */
static bool line_is_remote(const char *line, uint64_t device)
{
	unsigned int major_number, minor_number;
	const char *type = strstr(line, " - ");

	return type && sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) == 2 &&
	       makedev(major_number, minor_number) == device && is_remote_type(type + 3);
}

static bool find_remote(pid_t thread, uint64_t device)
{
	char path[PATH_BYTES];
	char *line = NULL;
	size_t room = 0;
	bool remote = false;
	FILE *mounts;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)thread);
	mounts = fopen(path, "re");
	while (mounts && !remote && getline(&line, &room, mounts) > 0)
		remote = line_is_remote(line, device);
	free(line);
	if (mounts)
		fclose(mounts);
	return remote;
}

/* A file system behind which another machine or program stands, for whom we must not wait. */
static bool is_remote(pid_t thread, uint64_t device)
{
	static struct {
		uint64_t device;
		uint64_t until_ns;
		bool remote;
	} known[KNOWN_DEVICES];
	static size_t next;
	uint64_t now_ns = kernel_now_ns();

	for (size_t i = 0; i < KNOWN_DEVICES; i++) {
		if (known[i].device == device && now_ns < known[i].until_ns)
			return known[i].remote;
	}
	next = (next + 1) % KNOWN_DEVICES;
	known[next].remote = find_remote(thread, device);
	known[next].device = device;
	known[next].until_ns = now_ns + KNOWN_NS;
	return known[next].remote;
}

int look_open(pid_t thread, int descriptors, int number, const struct look_file *file,
	      struct backing *backing)
{
	struct details details;
	struct name name;
	int path_fd;
	int fd = -1;

	*backing = (struct backing){ .kind = BACKING_NONE };
	if (!file->pacable || is_remote(thread, file->device))
		return -1;
	/* Order: hold on to the file first; what it is does not change any more. */
	path_fd = openat(descriptors, name_of(number, &name), O_PATH | O_CLOEXEC);
	if (path_fd < 0)
		return -1;
	details = details_of(thread, number);
	kernel_backing_as(path_fd, details.flags, backing);
	/* Why the lease: who opens the file breaks it. */
	if (backing->device != file->device || backing->inode != file->inode ||
	    details.leased)
		*backing = (struct backing){ .kind = BACKING_NONE };
	if (backing->kind == BACKING_FILE || backing->kind == BACKING_BLOCK) {
		fd = open_path(O_RDONLY | O_NONBLOCK | O_NOCTTY, "/proc/self/fd/%d",
			       path_fd);
		if (fd < 0)
			backing->kind = BACKING_NONE;
	}
	close(path_fd);
	return fd;
}

int look_error_output(pid_t process)
{
	return open_path(O_PATH, "/proc/%d/fd/%d", process, STDERR_FILENO);
}

/* Why anew each time: a pipe that we hold open would not end with the command. */
void look_say(int error_output, const char *line, size_t bytes)
{
	int fd = open_path(O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY,
			   "/proc/self/fd/%d", error_output);

	if (fd < 0)
		return;
	sys_call(SYS_write, fd, line, bytes);
	close(fd);
}
