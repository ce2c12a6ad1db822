/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/order.h"
#include "base/stamp.h"
#include "base/text.h"
#include "host/kernel.h"
#include "host/sys.h"

#define PATH_BYTES 192
#define HELPER_FRESH_NS WP_SEC(5)

/* A directory that nobody else can write to: ours, and no bits for group and others. */
static bool directory_is_ours(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

/* /run/user/UID where it is there, else /dev/shm/writepace-UID, made where it is not. */
static void find_directory(char *path, size_t path_bytes)
{
	struct text text = text_on(path, path_bytes);

	text_add(&text, "/run/user/");
	text_add_u64(&text, geteuid());
	if (directory_is_ours(path))
		return;
	text = text_on(path, path_bytes);
	text_add(&text, "/dev/shm/writepace-");
	text_add_u64(&text, geteuid());
	mkdir(path, 0700);
}

bool segment_path(char *path, size_t path_bytes, const char *directory, const char *name)
{
	struct text text = text_on(path, path_bytes);

	text_add(&text, directory);
	text_add(&text, "/segment");
	if (WP_LAYOUT_VERSION != 1) {
		text_add(&text, "-v");
		text_add_u64(&text, WP_LAYOUT_VERSION);
	}
	if (*name) {
		text_add(&text, ".");
		text_add(&text, name);
	}
	return text_fits(&text);
}

static void *map_file(int fd)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 077) || st.st_size < (off_t)sizeof(struct wp_segment))
		return NULL;
	map = mmap(NULL, sizeof(struct wp_segment), PROT_READ | PROT_WRITE, MAP_SHARED,
		   fd, 0);
	return map == MAP_FAILED ? NULL : map;
}

static void *open_existing(const char *path)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	void *map;

	if (fd < 0)
		return NULL;
	map = map_file(fd);
	sys_call(SYS_close, fd);
	return map;
}

static void read_boot_id(uint8_t *id, size_t id_bytes)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(id, 0, id_bytes);
	if (fd < 0)
		return;
	if (read(fd, id, id_bytes - 1) < 0)
		memset(id, 0, id_bytes);
	sys_call(SYS_close, fd);
}

static void fill_header(struct wp_header *header)
{
	header->version = WP_LAYOUT_VERSION;
	header->word_bytes = (uint32_t)sizeof(void *);
	header->segment_bytes = sizeof(struct wp_segment);
	header->created_ns = kernel_boot_ns();
	read_boot_id(header->boot_id, sizeof(header->boot_id));
	word_write(&header->magic, WP_LAYOUT_MAGIC);
}

/*
 * A name that nobody else thinks of. Why not the pid alone: two pid namespaces have the same.
 * Why not without a name (O_TMPFILE): linking such a file takes a /proc, which need not be there.
 */
static bool temporary_path(char *temporary, const char *path)
{
	struct text text = text_on(temporary, PATH_BYTES);
	uint64_t random;

	if (sys_call(SYS_getrandom, &random, sizeof(random), GRND_NONBLOCK) !=
	    sizeof(random))
		random = kernel_now_ns();
	text_add(&text, path);
	text_add(&text, ".new.");
	text_add_u64(&text, (uint64_t)getpid());
	text_add(&text, ".");
	text_add_u64(&text, random);
	return text_fits(&text);
}

/*
 * Build under a temporary name, then link: nobody ever sees half a segment.
 * Why the blocks are reserved: a full /dev/shm must fail here, never as SIGBUS later.
 */
static void *create(const char *path)
{
	char temporary[PATH_BYTES];
	void *map = NULL;
	int fd;

	if (!temporary_path(temporary, path))
		return NULL;
	fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	if (!fchmod(fd, 0600) && !kernel_reserve(fd, sizeof(struct wp_segment)))
		map = map_file(fd);
	sys_call(SYS_close, fd);
	if (map)
		fill_header(&((struct wp_segment *)map)->header);
	if (map && link(temporary, path)) {
		munmap(map, sizeof(struct wp_segment));
		/* somebody was quicker: theirs is the one */
		map = open_existing(path);
	}
	sys_call(SYS_unlinkat, AT_FDCWD, temporary, 0);
	return map;
}

static void *map_anonymous(void)
{
	/* Why shared: children of a fork go on pacing together with this process. */
	void *map = mmap(NULL, sizeof(struct wp_segment), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

static void *attach_file(const char *directory, const char *name)
{
	char path[PATH_BYTES];
	void *map;

	if (!directory_is_ours(directory) ||
	    !segment_path(path, sizeof(path), directory, name))
		return NULL;
	map = open_existing(path);
	return map ? map : create(path);
}

void segment_attach_in(struct segment *segment, const char *directory, const char *name)
{
	int saved_errno = errno;

	segment->checked = false;
	segment->state = SEGMENT_SHARED;
	segment->map = attach_file(directory, name);
	if (!segment->map) {
		segment->map = map_anonymous();
		segment->state = segment->map ? SEGMENT_PRIVATE : SEGMENT_NONE;
	}
	errno = saved_errno;
}

void segment_attach(struct segment *segment, const char *name)
{
	char directory[PATH_BYTES];
	int saved_errno = errno;

	find_directory(directory, sizeof(directory));
	segment_attach_in(segment, directory, name);
	errno = saved_errno;
}

static bool header_is_ours(const struct wp_header *header)
{
	return word_read(&header->magic) == WP_LAYOUT_MAGIC &&
	       header->version == WP_LAYOUT_VERSION &&
	       header->segment_bytes == sizeof(struct wp_segment);
}

bool segment_ready(struct segment *segment)
{
	if (segment->checked)
		return segment->state != SEGMENT_NONE;
	if (segment->state == SEGMENT_SHARED && !header_is_ours(&segment->map->header)) {
		/* Why not unmapped: another thread may be using it. */
		segment->map = map_anonymous();
		segment->state = segment->map ? SEGMENT_PRIVATE : SEGMENT_NONE;
	}
	segment->checked = true;
	return segment->state != SEGMENT_NONE;
}

/* Of our size and yet not ours: other layouts have other names or sizes. */
static bool is_damaged(const char *path)
{
	struct wp_segment *map = open_existing(path);
	struct stat st;
	bool damaged;

	if (!map)
		return false;
	damaged = !lstat(path, &st) && st.st_size == (off_t)sizeof(*map) &&
		  !header_is_ours(&map->header);
	munmap(map, sizeof(*map));
	return damaged;
}

void segment_renew_in(struct segment *segment, const char *directory, const char *name)
{
	char path[PATH_BYTES];

	/* Why looked at again: another may have been quicker. */
	if (directory_is_ours(directory) &&
	    segment_path(path, sizeof(path), directory, name) && is_damaged(path))
		sys_call(SYS_unlinkat, AT_FDCWD, path, 0);
	if (segment->map)
		munmap(segment->map, sizeof(struct wp_segment));
	segment_attach_in(segment, directory, name);
}

void segment_renew(struct segment *segment, const char *name)
{
	char directory[PATH_BYTES];

	find_directory(directory, sizeof(directory));
	segment_renew_in(segment, directory, name);
}

bool segment_is_helped(const struct wp_segment *map, uint64_t now_ns)
{
	return stamp_age_ns(word_read(&map->header.helper_ns), now_ns) <= HELPER_FRESH_NS;
}
