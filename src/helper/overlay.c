/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/overlay.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "helper/mounts.h"

bool overlay_is(int fd)
{
	struct statfs statfs;

	return !fstatfs(fd, &statfs) &&
	       (unsigned long)statfs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* "/" adds nothing. */
static const char *part(const char *path)
{
	return strcmp(path, "/") ? path : "";
}

/* mounted at /mnt, open as /mnt/a/b -> upper directory/a/b */
static bool upper_path(const char *root, const struct holder *holder, char *path)
{
	struct mount mount;
	char link[64];
	char name[PATH_MAX];
	const char *point;
	ssize_t got;

	if (!mounts_of(root, holder, &mount) || mount.upper[0] != '/')
		return false;
	snprintf(link, sizeof(link), "/proc/%u/fd/%u", holder->pid, holder->fd);
	got = readlink(link, name, sizeof(name) - 1);
	if (got <= 0)
		return false;
	name[got] = '\0';
	point = part(mount.point);
	if (strncmp(name, point, strlen(point)))
		return false;
	got = snprintf(path, PATH_MAX, "%s%s%s", mount.upper, part(mount.top),
		       name + strlen(point));
	return got < PATH_MAX;
}

static bool is_inode(const struct stat *st, uint64_t inode)
{
	return S_ISREG(st->st_mode) && st->st_ino == inode;
}

int overlay_open_upper(const char *root, const struct holder *holder, uint64_t inode)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	/* Why looked at first: nothing else may be opened, as in holder.h. */
	if (!upper_path(root, holder, path) || lstat(path, &st) || !is_inode(&st, inode))
		return -1;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !is_inode(&st, inode) || overlay_is(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}
