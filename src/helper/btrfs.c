/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/btrfs.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "helper/mounts.h"
#include "helper/read.h"

#define FOLDER "%s/sys/fs/btrfs"

static bool is_btrfs(const struct mount *mount)
{
	return !strcmp(mount->type, "btrfs");
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

static void name_btrfs(const char *root, const struct mount *mount, struct btrfs *btrfs)
{
	char name[NAME_MAX + 1];

	memset(btrfs, 0, sizeof(*btrfs));
	if (!is_btrfs(mount))
		return;
	btrfs->number = mount->number;
	name_of(mount->source, name, sizeof(name));
	find_uuid(root, name, btrfs->uuid);
}

bool btrfs_of(const char *root, const struct holder *holder, struct btrfs *btrfs)
{
	struct mount mount;

	if (!mounts_of(root, holder, &mount))
		return false;
	name_btrfs(root, &mount, btrfs);
	return true;
}

/* Is it the subvolume that is mounted there? */
static bool is_mounted_at(const struct mount *mount, uint64_t number)
{
	struct stat st;

	return !stat(mount->point, &st) && st.st_dev == number;
}

bool btrfs_with(const char *root, uint64_t number, struct btrfs *btrfs)
{
	struct mounts mounts;
	struct mount mount;
	struct mount found;
	unsigned candidates = 0;
	bool sure = false;

	if (!mounts_open(&mounts, root, "self"))
		return false;
	while (!sure && mounts_next(&mounts, &mount)) {
		sure = mount.number == number ||
		       (is_btrfs(&mount) && is_mounted_at(&mount, number));
		if (!sure &&
		    (!is_btrfs(&mount) || (candidates && found.number == mount.number)))
			continue;
		candidates++;
		found = mount;
	}
	mounts_close(&mounts);
	/* A number that no mount shows is a subvolume's: of the only btrfs there is. */
	if (!sure && candidates != 1)
		return false;
	name_btrfs(root, &found, btrfs);
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
