/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/btrfs.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"
#include "helper/read.h"

#define FOLDER "%s/sys/fs/btrfs"

/* 36 35 0:48 /subvolume /mnt rw,noatime shared:1 - btrfs /dev/sda1 rw */
struct mount {
	uint64_t number;
	char type[32];
	char source[PATH_MAX];
};

static bool parse_mount(const char *line, uint64_t id, struct mount *mount)
{
	const char *rest = strstr(line, " - ");
	unsigned long long line_id;
	unsigned major;
	unsigned minor;

	if (sscanf(line, "%llu %*u %u:%u", &line_id, &major, &minor) != 3 ||
	    line_id != id || !rest ||
	    sscanf(rest, " - %31s %4095s", mount->type, mount->source) != 2)
		return false;
	mount->number = makedev(major, minor);
	return true;
}

/* Mount @id, in the view of that process: it may live in a mount namespace of its own. */
static bool find_mount(const char *root, uint32_t pid, uint64_t id, struct mount *mount)
{
	char path[READ_PATH_BYTES];
	char *line = NULL;
	size_t line_bytes = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/%u/mountinfo", root, pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &line_bytes, file) > 0)
		found = parse_mount(line, id, mount);
	free(line);
	fclose(file);
	return found;
}

/* The last part of the node's name, links followed: /dev/mapper/data is dm-3. */
static void name_of(const char *source, char *name, size_t bytes)
{
	char real[PATH_MAX];
	const char *path = realpath(source, real) ? real : source;
	const char *slash = strrchr(path, '/');

	struct text text = text_on(name, bytes);

	text_add(&text, slash ? slash + 1 : path);
}

/* The UUID of the file system that one of whose disks is called @name. */
static void find_uuid(const char *root, const char *name, char *uuid)
{
	char path[READ_PATH_BYTES];
	struct dirent *entry;
	DIR *folder;

	uuid[0] = '\0';
	snprintf(path, sizeof(path), FOLDER, root);
	folder = opendir(path);
	while (folder && !*uuid && (entry = readdir(folder))) {
		if (strlen(entry->d_name) >= BTRFS_UUID_BYTES)
			continue;
		snprintf(path, sizeof(path), FOLDER "/%s/devices/%s", root, entry->d_name,
			 name);
		if (!access(path, F_OK))
			snprintf(uuid, BTRFS_UUID_BYTES, "%s", entry->d_name);
	}
	if (folder)
		closedir(folder);
}

bool btrfs_of(const char *root, const struct holder *holder, struct btrfs *btrfs)
{
	struct mount mount;
	char text[512];
	char name[NAME_MAX + 1];
	uint64_t id;

	memset(btrfs, 0, sizeof(*btrfs));
	if (!read_text(text, sizeof(text), "%s/proc/%u/fdinfo/%u", root, holder->pid,
		       holder->fd))
		return false;
	id = read_value(text, "mnt_id:");
	if (!find_mount(root, holder->pid, id, &mount))
		return false;
	if (strcmp(mount.type, "btrfs") != 0)
		return true;
	btrfs->number = mount.number;
	name_of(mount.source, name, sizeof(name));
	find_uuid(root, name, btrfs->uuid);
	return true;
}

/* Its random digits, as many as fit. */
uint64_t btrfs_identity(const char *uuid)
{
	uint64_t identity = 0;
	char digit[2] = "";

	for (; *uuid; uuid++) {
		digit[0] = *uuid;
		if (*uuid != '-')
			identity = identity * 31 + strtoull(digit, NULL, 16);
	}
	return identity;
}

bool btrfs_stat(const char *root, const char *uuid, struct blockstat *sum)
{
	char path[READ_PATH_BYTES];
	struct dirent *entry;
	bool any = false;
	DIR *folder;

	snprintf(path, sizeof(path), FOLDER "/%s/devices", root, uuid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), FOLDER "/%s/devices/%s", root, uuid,
			 entry->d_name);
		any |= blockstat_add(sum, path);
	}
	if (folder)
		closedir(folder);
	return any;
}
