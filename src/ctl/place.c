/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/place.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/foreign.h"
#include "helper/blockstat.h"
#include "helper/mounts.h"
#include "helper/read.h"
#include "host/locate.h"

#define BDI_FOLDER "/sys/kernel/debug/bdi"

static void put_name(char *name, const char *text)
{
	struct text out = text_on(name, PLACE_NAME_BYTES);

	text_add_foreign(&out, text, PLACE_NAME_BYTES - 5);
}

/* ----------------------------------------------------------------- block ---- */

static uint64_t disk_of(uint64_t number)
{
	uint64_t disk = number;
	char text[32];

	if (read_number("/sys/dev/block/%u:%u/partition", major(number), minor(number)) &&
	    read_text(text, sizeof(text), "/sys/dev/block/%u:%u/../dev", major(number),
		      minor(number)))
		read_device_number(text, &disk);
	return disk;
}

static void name_block(struct place *place)
{
	char text[1024];
	char *name;

	if (!read_text(text, sizeof(text), "/sys/dev/block/%s/uevent", place->id))
		return;
	name = strstr(text, "DEVNAME=");
	if (!name)
		return;
	name += strlen("DEVNAME=");
	name[strcspn(name, "\n")] = '\0';
	put_name(place->name, name);
}

/* ---------------------------------------------------------------- mounts ---- */

/*
 * Why two numbers: a file on btrfs has the one of its subvolume, mountinfo that of the file
 * system. Why not asked of others: a stat may wait for a server that is gone.
 */
static bool is_of(const struct mount *mount, const struct place *place)
{
	struct stat st;

	if (mount->number == place->number || disk_of(mount->number) == place->disk)
		return true;
	if (strcmp(mount->type, "btrfs") != 0)
		return false;
	if (!stat(mount->source, &st) && S_ISBLK(st.st_mode) &&
	    disk_of(st.st_rdev) == place->disk)
		return true;
	return !stat(mount->point, &st) && st.st_dev == place->number;
}

static bool each_mount(bool (*each)(const struct mount *mount, void *opaque),
		       void *opaque)
{
	struct mounts mounts;
	struct mount mount;
	bool more = true;

	if (!mounts_open(&mounts, "", "self"))
		return true;
	while (more && mounts_next(&mounts, &mount))
		more = each(&mount, opaque);
	mounts_close(&mounts);
	return more;
}

static void name_btrfs(struct place *place, const char *source)
{
	char link[PLACE_NAME_BYTES];
	char real[PATH_MAX];
	char path[PATH_MAX + 64];
	ssize_t length;
	glob_t found;

	if (!realpath(source, real))
		return;
	snprintf(path, sizeof(path), "/sys/fs/btrfs/*/devices/%s", basename(real));
	if (glob(path, GLOB_NOSORT, NULL, &found))
		return;
	/* /sys/fs/btrfs/UUID/devices/NAME */
	if (sscanf(found.gl_pathv[0], "/sys/fs/btrfs/%39[^/]", place->uuid) == 1) {
		snprintf(path, sizeof(path), "/sys/fs/btrfs/%s/bdi", place->uuid);
		length = readlink(path, link, sizeof(link) - 1);
		link[length > 0 ? length : 0] = '\0';
		if (*link)
			put_name(place->bdi, basename(link));
	}
	globfree(&found);
}

static bool take_first(const struct mount *mount, void *opaque)
{
	struct place *place = opaque;

	if (!is_of(mount, place))
		return true;
	snprintf(place->mount, sizeof(place->mount), "%s", mount->point);
	if (!major(place->number))
		put_name(place->name, mount->type);
	if (!strcmp(mount->type, "btrfs"))
		name_btrfs(place, mount->source);
	return false;
}

void place_of(uint64_t number, struct place *place)
{
	memset(place, 0, sizeof(*place));
	place->number = number;
	place->disk = disk_of(number);
	snprintf(place->id, sizeof(place->id), "%u:%u", major(number), minor(number));
	snprintf(place->bdi, sizeof(place->bdi), "%u:%u", major(place->disk),
		 minor(place->disk));
	put_name(place->name, place->id);
	name_block(place);
	each_mount(take_first, place);
}

int place_find(const char *what, struct place *place)
{
	uint64_t number;
	int error = locate_device(what, &number);

	if (!error)
		place_of(number, place);
	return error;
}

struct walk {
	const struct place *place;
	bool (*each)(const char *point, void *opaque);
	void *opaque;
};

static bool walk_mount(const struct mount *mount, void *opaque)
{
	const struct walk *walk = opaque;

	return !is_of(mount, walk->place) || walk->each(mount->point, walk->opaque);
}

void place_each_mount(const struct place *place,
		      bool (*each)(const char *point, void *opaque), void *opaque)
{
	struct walk walk = { place, each, opaque };

	each_mount(walk_mount, &walk);
}

/* ----------------------------------------------------- the kernel's count ---- */

bool place_dirty_bytes(const struct place *place, uint64_t *bytes)
{
	char text[1024];

	if (!read_text(text, sizeof(text), BDI_FOLDER "/%s/stats", place->bdi))
		return false;
	*bytes = WP_KIB(read_value(text, "BdiWriteback:") +
			read_value(text, "BdiReclaimable:"));
	return true;
}

bool place_written_bytes(const struct place *place, uint64_t *bytes)
{
	struct blockstat stat = { 0 };
	char folder[READ_PATH_BYTES];
	bool known;

	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u", major(place->disk),
		 minor(place->disk));
	known = *place->uuid ? btrfs_stat("", place->uuid, &stat) :
			       blockstat_add(&stat, folder);
	*bytes = stat.written_bytes;
	return known;
}

uint64_t place_all_dirty_bytes(void)
{
	char text[16384];

	if (!read_text(text, sizeof(text), "/proc/vmstat"))
		return 0;
	return (read_value(text, "\nnr_dirty ") + read_value(text, "\nnr_writeback ")) *
	       (uint64_t)getpagesize();
}
