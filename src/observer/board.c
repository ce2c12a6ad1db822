/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observer/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observer/tell.h"

#define FILE_NAME_BYTES 32

/* ---------------------------------------------------------------------- folder -- */

/* Never closed: the lock goes with the process, however it ends. */
static bool lock(const char *folder)
{
	char path[PUBLISH_PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/lock", folder);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		tell("cannot open %s: %m", path);
		return false;
	}
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return true;
	tell("another observer is running (%s)", path);
	return false;
}

/* What an observer that was killed left behind. */
static void clear(const char *folder)
{
	DIR *stream = opendir(folder);
	const struct dirent *entry;

	if (!stream)
		return;
	while ((entry = readdir(stream))) {
		if (!strncmp(entry->d_name, "tasks.", 6) ||
		    !strncmp(entry->d_name, ".tasks.", 7))
			unlinkat(dirfd(stream), entry->d_name, 0);
	}
	closedir(stream);
}

bool board_begin(struct board *board, const char *folder, uint64_t now_ns)
{
	*board = (struct board){ .folder = folder, .start_ns = now_ns };
	if (mkdir(folder, 0755) && errno != EEXIST) {
		tell("cannot make %s: %m", folder);
		return false;
	}
	if (!lock(folder))
		return false;
	clear(folder);
	if (publish_begin(&board->devices, folder, "devices", 0444, 0,
			  sizeof(struct wp_published_device), WP_PUBLISHED_DEVICES))
		return true;
	tell("cannot write to %s: %m", folder);
	return false;
}

void board_end(struct board *board)
{
	publish_end(&board->devices);
	for (size_t i = 0; i < BOARD_USERS; i++) {
		if (board->users[i].used)
			publish_end(&board->users[i].file);
	}
}

/* --------------------------------------------------------------------- publish -- */

static struct wp_published_set set_of(const struct board *board, uint32_t count,
				      uint64_t now_ns)
{
	return (struct wp_published_set){
		.heartbeat_ns = now_ns,
		.start_ns = board->start_ns,
		.pid = (uint64_t)getpid(),
		.entries = count,
	};
}

/* Why once: a full /run stays full for a while, and readers see that nothing is fresh. */
static void say_failed(void)
{
	static bool said;

	if (!said)
		tell("cannot write the numbers: %m");
	said = true;
}

void board_devices(struct board *board, const struct gathered_devices *gathered,
		   uint64_t lost, uint64_t now_ns)
{
	struct wp_published_set set = set_of(board, gathered->count, now_ns);

	set.lost = lost;
	if (!publish(&board->devices, &set, gathered->devices))
		say_failed();
}

/* The file of this user, made for its first task; NULL where there is no place. */
static struct board_user *user_of(struct board *board, uint32_t uid)
{
	char name[FILE_NAME_BYTES];

	snprintf(name, sizeof(name), "tasks.%u", uid);
	for (size_t i = 0; i < BOARD_USERS; i++) {
		struct board_user *user = &board->users[i];

		if (user->used && user->uid == uid)
			return user;
		if (user->used)
			continue;
		if (!publish_begin(&user->file, board->folder, name, 0400, uid,
				   sizeof(struct wp_published_task), WP_PUBLISHED_TASKS))
			return NULL;
		user->uid = uid;
		user->used = true;
		return user;
	}
	return NULL;
}

static void publish_tasks(struct board *board, const struct wp_published_task *tasks,
			  uint32_t count, uint64_t now_ns)
{
	struct wp_published_set set = set_of(board, count, now_ns);
	struct board_user *user = user_of(board, tasks->uid);

	if (!user || !publish(&user->file, &set, tasks))
		say_failed();
	if (user)
		user->current = true;
}

/* All of a user's tasks may have been forgotten. */
static void empty_others(struct board *board, uint64_t now_ns)
{
	struct wp_published_set none = set_of(board, 0, now_ns);

	for (size_t i = 0; i < BOARD_USERS; i++) {
		struct board_user *user = &board->users[i];

		if (user->used && !user->current && !publish(&user->file, &none, NULL))
			say_failed();
		user->current = false;
	}
}

/* They are sorted by user: one run of them after the other. */
void board_tasks(struct board *board, const struct gathered_tasks *gathered,
		 uint64_t now_ns)
{
	const struct wp_published_task *tasks = gathered->tasks;
	uint32_t first = 0;

	for (uint32_t i = 1; i <= gathered->count; i++) {
		if (i < gathered->count && tasks[i].uid == tasks[first].uid)
			continue;
		publish_tasks(board, &tasks[first], i - first, now_ns);
		first = i;
	}
	empty_others(board, now_ns);
}
