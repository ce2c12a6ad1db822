/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls on whole files: what is cut off or loses its last name was never written, what replaces
 * another file is all written at once.
 */
#include <fcntl.h>

#include "export.h"
#include "gate.h"
#include "real.h"

/*
 * Where a file system can not reserve blocks, libc writes a byte into each of them: charged is
 * what that dirtied.
 */
#define POSIX_FALLOCATE(name, type)                                            \
	WP_EXPORT int name(int fd, type at, type n)                            \
	{                                                                      \
		uint64_t before_bytes;                                         \
		int r;                                                         \
                                                                               \
		if (!gate_open(fd, PACE_SLEEP))                                \
			return real_call(name)(fd, at, n);                     \
		before_bytes = kernel_thread_dirtied_bytes();                  \
		r = real_call(name)(fd, at, n);                                \
		gate_charge(fd, kernel_thread_dirtied_bytes() - before_bytes); \
		return r;                                                      \
	}

POSIX_FALLOCATE(posix_fallocate, off_t)
POSIX_FALLOCATE(posix_fallocate64, off64_t)

/* Before a file is cut: a descriptor of it that is to be told after, or -1. */
static int cut_before(int fd)
{
	if (fd < 0 || !gate_is_paced(fd))
		return -1;
	pace_settle(&gate_process, &gate_task, &gate_entry(fd)->handle, fd);
	return fd;
}

static void cut_after(int fd)
{
	if (fd >= 0)
		pace_cancel(&gate_process, &gate_task, &gate_entry(fd)->handle, fd);
}

static bool named(int folder, const char *path, struct backing *backing)
{
	return !gate_inert && pace_has_outstanding(&gate_process) &&
	       kernel_named(folder, path, backing);
}

#define FTRUNCATE(name, type)                       \
	WP_EXPORT int name(int fd, type bytes)      \
	{                                           \
		int cut = cut_before(fd);           \
		int r = real_call(name)(fd, bytes); \
                                                    \
		cut_after(cut);                     \
		return r;                           \
	}
#define TRUNCATE(name, type)                                            \
	WP_EXPORT int name(const char *path, type bytes)                \
	{                                                               \
		struct backing backing;                                 \
		bool known = named(AT_FDCWD, path, &backing);           \
		int cut = known ? cut_before(gate_find(&backing)) : -1; \
		int r = real_call(name)(path, bytes);                   \
                                                                        \
		cut_after(cut);                                         \
		if (known && !r && !bytes)                              \
			pace_vanished(&gate_process, &backing);         \
		return r;                                               \
	}

FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)
TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, off64_t)

/* Is @path the last name of a file? */
static bool last_name(int folder, const char *path, struct backing *backing)
{
	return named(folder, path, backing) && backing->unlinked;
}

#define UNLINK(name, parameters, arguments, folder, path)       \
	WP_EXPORT int name parameters                           \
	{                                                       \
		struct backing backing;                         \
		bool last = last_name(folder, path, &backing);  \
		int r = real_call(name) arguments;              \
                                                                \
		if (last && !r)                                 \
			pace_vanished(&gate_process, &backing); \
		return r;                                       \
	}

UNLINK(unlink, (const char *path), (path), AT_FDCWD, path)
UNLINK(remove, (const char *path), (path), AT_FDCWD, path)
UNLINK(unlinkat, (int folder, const char *path, int flags), (folder, path, flags), folder,
       path)

/* Before @from takes the place of @to; true when @to is gone with it, as @backing. */
static bool replaces(int from_folder, const char *from, int to_folder, const char *to,
		     struct backing *backing)
{
	struct backing written;
	int fd;

	if (!named(to_folder, to, backing))
		return false;
	fd = named(from_folder, from, &written) ? gate_find(&written) : -1;
	if (fd >= 0)
		pace_drain(&gate_process, &gate_task, &gate_entry(fd)->handle, fd);
	return backing->unlinked;
}

#define RENAME(name, parameters, arguments, from_folder, from, to_folder, to, plainly) \
	WP_EXPORT int name parameters                                                  \
	{                                                                              \
		struct backing backing;                                                \
		bool gone = (plainly) &&                                               \
			    replaces(from_folder, from, to_folder, to, &backing);      \
		int r = real_call(name) arguments;                                     \
                                                                                       \
		if (gone && !r)                                                        \
			pace_vanished(&gate_process, &backing);                        \
		return r;                                                              \
	}

RENAME(rename, (const char *from, const char *to), (from, to), AT_FDCWD, from, AT_FDCWD,
       to, true)
RENAME(renameat, (int from_folder, const char *from, int to_folder, const char *to),
       (from_folder, from, to_folder, to), from_folder, from, to_folder, to, true)
RENAME(renameat2,
       (int from_folder, const char *from, int to_folder, const char *to,
	unsigned int flags),
       (from_folder, from, to_folder, to, flags), from_folder, from, to_folder, to,
       !flags)
