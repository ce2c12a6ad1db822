/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/holder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/overlay.h"
#include "helper/read.h"
#include "shm/device.h"
#include "shm/file.h"

#define PATH_BYTES 64

static void path_of(char *path, const struct holder *holder)
{
	snprintf(path, PATH_BYTES, "/proc/%u/fd/%u", holder->pid, holder->fd);
}

/* Is @number that of @slot's device, or of one that stands for the same? */
static bool is_of_slot(const struct wp_segment *map, int slot, uint64_t number)
{
	for (int i = 0; i < (int)WP_DEVICES; i++) {
		if (word_read(&map->devices[i].key) == number + 1)
			return device_real_slot(map, i) == device_real_slot(map, slot);
	}
	return false;
}

/* Is it the file of this entry? Its key holds the device's slot and most of the inode. */
static bool is_the_file(const struct helper *helper, const struct wp_file *file,
			const struct stat *st)
{
	int slot = (int)(word_read(&file->key) >> 56) - 1;
	uint64_t number = S_ISBLK(st->st_mode) ? st->st_rdev : st->st_dev;

	return slot >= 0 && slot < (int)WP_DEVICES &&
	       (S_ISREG(st->st_mode) || S_ISBLK(st->st_mode)) &&
	       is_of_slot(helper->map, slot, number) &&
	       file_is(helper->map, (int)(file - helper->map->files), slot, st->st_ino);
}

bool holder_find(const struct helper *helper, const struct wp_file *file,
		 struct holder *holder)
{
	uint64_t word = word_read(&file->holder);
	char path[PATH_BYTES];
	struct stat st;

	if (!word ||
	    !read_process_lives("", word >> 32, word_read(&file->holder_start_ns)))
		return false;
	holder->pid = (uint32_t)(word >> 32);
	holder->fd = (uint32_t)word;
	path_of(path, holder);
	return !stat(path, &st) && is_the_file(helper, file, &st);
}

int holder_open(const struct helper *helper, const struct wp_file *file,
		uint64_t *size_bytes)
{
	struct holder holder;
	char path[PATH_BYTES];
	struct stat st;
	int fd;

	if (!holder_find(helper, file, &holder))
		return -1;
	path_of(path, &holder);
	/* Why not blocking: the descriptor may have become a pipe since the look. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && overlay_is(fd)) {
		close(fd);
		fd = overlay_open_upper(helper->root, &holder, st.st_ino);
	}
	if (fd < 0 || fstat(fd, &st) || !is_the_file(helper, file, &st)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*size_bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return fd;
}
