/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "publish/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 8

/* ---------------------------------------------------------------------- places -- */

static off_t set_offset(uint64_t generation, uint32_t entry_bytes, uint32_t room)
{
	uint64_t set_bytes =
		sizeof(struct wp_published_set) + (uint64_t)entry_bytes * room;

	return (off_t)(sizeof(struct wp_published_head) + (generation % 2) * set_bytes);
}

static off_t entries_offset(off_t set)
{
	return set + (off_t)sizeof(struct wp_published_set);
}

/* ---------------------------------------------------------------------- writer -- */

static bool write_at(int fd, const void *bytes, size_t count, off_t offset)
{
	ssize_t written = count ? pwrite(fd, bytes, count, offset) : 0;

	if (written >= 0 && (size_t)written != count)
		errno = ENOSPC;
	return written >= 0 && (size_t)written == count;
}

static bool make(const struct publication *publication, mode_t mode, uid_t uid)
{
	struct wp_published_head head = {
		.magic = WP_PUBLISHED_MAGIC,
		.version = WP_PUBLISHED_VERSION,
		.entry_bytes = publication->entry_bytes,
		.entries = publication->room,
	};
	struct wp_published_set none = { 0 };

	return write_at(publication->fd, &none, sizeof(none),
			set_offset(0, publication->entry_bytes, publication->room)) &&
	       write_at(publication->fd, &head, sizeof(head), 0) &&
	       !fchmod(publication->fd, mode) && !fchown(publication->fd, uid, (gid_t)-1);
}

bool publish_begin(struct publication *publication, const char *folder, const char *name,
		   mode_t mode, uid_t uid, uint32_t entry_bytes, uint32_t entries)
{
	char new_path[PUBLISH_PATH_BYTES];
	int saved;

	*publication =
		(struct publication){ .entry_bytes = entry_bytes, .room = entries };
	snprintf(publication->path, sizeof(publication->path), "%s/%s", folder, name);
	snprintf(new_path, sizeof(new_path), "%s/.%s.new", folder, name);
	unlink(new_path); /* of an observer that was killed between the two names */
	publication->fd =
		open(new_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (publication->fd < 0)
		return false;
	if (make(publication, mode, uid) && !rename(new_path, publication->path))
		return true;
	saved = errno;
	unlink(new_path);
	close(publication->fd);
	publication->fd = -1;
	errno = saved;
	return false;
}

/* Order: the generation moves after all that it leads to is written. */
bool publish(struct publication *publication, const struct wp_published_set *set,
	     const void *entries)
{
	uint64_t generation = publication->generation + 1;
	off_t offset =
		set_offset(generation, publication->entry_bytes, publication->room);

	if (set->entries > publication->room ||
	    !write_at(publication->fd, entries, set->entries * publication->entry_bytes,
		      entries_offset(offset)) ||
	    !write_at(publication->fd, set, sizeof(*set), offset) ||
	    !write_at(publication->fd, &generation, sizeof(generation),
		      offsetof(struct wp_published_head, generation)))
		return false;
	publication->generation = generation;
	return true;
}

void publish_end(struct publication *publication)
{
	if (publication->fd < 0)
		return;
	unlink(publication->path);
	close(publication->fd);
	publication->fd = -1;
}

/* ---------------------------------------------------------------------- reader -- */

static bool read_at(int fd, void *bytes, size_t count, off_t offset)
{
	return pread(fd, bytes, count, offset) == (ssize_t)count;
}

static bool read_head(int fd, struct wp_published_head *head, uint32_t entry_bytes)
{
	return read_at(fd, head, sizeof(*head), 0) && head->magic == WP_PUBLISHED_MAGIC &&
	       head->version == WP_PUBLISHED_VERSION && head->entry_bytes == entry_bytes;
}

static bool read_set(int fd, const struct wp_published_head *head,
		     struct wp_published_set *set, void *entries, uint32_t room)
{
	off_t offset = set_offset(head->generation, head->entry_bytes, head->entries);
	uint64_t count;

	if (!read_at(fd, set, sizeof(*set), offset))
		return false;
	count = min_u64(min_u64(set->entries, head->entries), room);
	set->entries = count;
	return read_at(fd, entries, count * head->entry_bytes, entries_offset(offset));
}

static bool try_read(int fd, struct wp_published_set *set, void *entries,
		     uint32_t entry_bytes, uint32_t room)
{
	struct wp_published_head before;
	struct wp_published_head after;

	for (int tries = 0; tries < TRIES; tries++) {
		if (!read_head(fd, &before, entry_bytes))
			return false;
		if (read_set(fd, &before, set, entries, room) &&
		    read_head(fd, &after, entry_bytes) &&
		    after.generation == before.generation)
			return true;
	}
	return false;
}

bool published_read(const char *folder, const char *name, struct wp_published_set *set,
		    void *entries, uint32_t entry_bytes, uint32_t room)
{
	char path[PUBLISH_PATH_BYTES];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = try_read(fd, set, entries, entry_bytes, room);
	close(fd);
	return done;
}
