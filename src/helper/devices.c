/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/devices.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "helper/bdi.h"
#include "helper/holder.h"
#include "helper/overlay.h"
#include "helper/read.h"
#include "shm/device.h"

#define NEVER_LOOKED UINT64_MAX
#define KEY_SLOT_SHIFT 56 /* of a file's key: the device's slot + 1, the inode below it */
#define KEY_INODE_MASK ((UINT64_C(1) << KEY_SLOT_SHIFT) - 1)

static void folder_of(char *path, const struct helper *helper, uint64_t number)
{
	snprintf(path, READ_PATH_BYTES, "%s/sys/dev/block/%u:%u", helper->root,
		 major(number), minor(number));
}

/* --------------------------------------------------------- what it stands for -- */

/* Why word 0 first: a step under way that has not claimed it yet gives up. */
static void forget_learned(struct wp_device *device)
{
	for (size_t i = 0; i < WP_CONTROL_WORDS; i++)
		word_write(&device->control[i], 0);
}

/* Another medium under an old number is another device. */
static void set_identity(struct wp_device *device, uint64_t identity)
{
	uint64_t known = word_read(&device->identity);

	if (!identity || identity == known)
		return;
	word_write(&device->identity, identity);
	if (known)
		forget_learned(device);
}

/* @number: of the device that @slot stands for; its own for itself. Returns that one's slot. */
static int set_alias(const struct helper *helper, int slot, uint64_t number)
{
	int real = device_slot(helper->map, number);

	if (real < 0)
		real = slot;
	word_write(&helper->map->devices[slot].alias,
		   real == slot ? 0 : (uint64_t)real + 1);
	return real;
}

static void look_at_block(const struct helper *helper, int slot, uint64_t number)
{
	char folder[READ_PATH_BYTES];
	char text[32];
	uint64_t disk = number;
	uint64_t identity;
	int real;

	folder_of(folder, helper, number);
	/* The folder of a partition is inside that of its disk; the link's target counts. */
	if (read_number("%s/partition", folder)) {
		if (!read_text(text, sizeof(text), "%s/../dev", folder) ||
		    !read_device_number(text, &disk))
			return;
		folder_of(folder, helper, disk);
	}
	identity = read_number("%s/diskseq", folder);
	real = set_alias(helper, slot, disk);
	set_identity(&helper->map->devices[slot], identity);
	set_identity(&helper->map->devices[real], identity);
}

void devices_set_btrfs(struct devices *devices, const struct helper *helper, int slot,
		       const struct btrfs *btrfs)
{
	uint64_t number = device_number(&helper->map->devices[slot]);
	int real = set_alias(helper, slot, btrfs->number ? btrfs->number : number);

	memcpy(devices->uuid[real], btrfs->uuid, sizeof(btrfs->uuid));
	set_identity(&helper->map->devices[slot], btrfs_identity(btrfs->uuid));
	set_identity(&helper->map->devices[real], btrfs_identity(btrfs->uuid));
}

static void set_upper(struct devices *devices, const struct helper *helper, int slot,
		      uint64_t number);

static bool is_on(const struct wp_file *file, int slot)
{
	return (int)(word_read_relaxed(&file->key) >> KEY_SLOT_SHIFT) - 1 == slot;
}

/* Whoever has a file of @slot's device open leads to its mount. */
static bool ask_holders(const struct helper *helper, int slot, struct btrfs *btrfs)
{
	for (size_t i = 0; i < WP_FILES; i++) {
		const struct wp_file *file = &helper->map->files[i];
		struct holder holder;

		if (is_on(file, slot) && holder_find(helper, file, &holder) &&
		    btrfs_of(helper->root, &holder, btrfs))
			return true;
	}
	return false;
}

/* The device below the upper file of an overlay; false when it is hidden. */
static bool ask_upper(const struct helper *helper, const struct wp_file *file,
		      const struct holder *holder, uint64_t *number)
{
	uint64_t inode = word_read(&file->key) & KEY_INODE_MASK;
	int fd = overlay_open_upper(helper->root, holder, inode);
	struct stat st;

	if (fd < 0)
		return false;
	fstat(fd, &st);
	close(fd);
	*number = st.st_dev;
	return true;
}

/*
 * An overlay stands for what its upper directory's device stands for; where no file's upper one is
 * to be found, it is marked as hidden. False: it is no overlay that anybody has a file of open.
 */
static bool look_at_overlay(struct devices *devices, const struct helper *helper,
			    int slot)
{
	struct wp_device *device = &helper->map->devices[slot];
	bool hidden = false;

	for (size_t i = 0; i < WP_FILES; i++) {
		const struct wp_file *file = &helper->map->files[i];
		struct holder holder;
		uint64_t number;

		if (!is_on(file, slot) || !word_read(&file->unseen) ||
		    !holder_find(helper, file, &holder))
			continue;
		if (ask_upper(helper, file, &holder, &number)) {
			set_upper(devices, helper, slot, number);
			return true;
		}
		hidden = true;
	}
	if (hidden && !word_read(&device->alias))
		word_write(&device->alias, (uint64_t)slot + 1);
	return hidden;
}

/*
 * A number that no block device has. Why not by the holders alone: small files are open for so
 * short that none may be at any look.
 */
static void look_at_anonymous(struct devices *devices, const struct helper *helper,
			      int slot, uint64_t number)
{
	struct btrfs btrfs;

	if (look_at_overlay(devices, helper, slot))
		return;
	if (ask_holders(helper, slot, &btrfs) || btrfs_with(helper->root, number, &btrfs))
		devices_set_btrfs(devices, helper, slot, &btrfs);
}

static void look_at_number(struct devices *devices, const struct helper *helper, int slot,
			   uint64_t number)
{
	if (major(number))
		look_at_block(helper, slot, number);
	else
		look_at_anonymous(devices, helper, slot, number);
}

/* The overlay of @slot is written to device @number, which nobody need have paced yet. */
static void set_upper(struct devices *devices, const struct helper *helper, int slot,
		      uint64_t number)
{
	int upper = device_slot(helper->map, number);

	if (upper < 0 || upper == slot)
		return;
	look_at_number(devices, helper, upper, number);
	word_write(&helper->map->devices[slot].alias,
		   (uint64_t)device_real_slot(helper->map, upper) + 1);
}

void devices_begin(struct devices *devices)
{
	memset(devices, 0, sizeof(*devices));
	for (size_t slot = 0; slot < WP_DEVICES; slot++)
		devices->dirtied_bytes[slot] = NEVER_LOOKED;
}

/* Why its real device's count: dirt of a partition is charged to the disk. */
static bool was_written_to(struct devices *devices, const struct helper *helper, int slot)
{
	int real = device_real_slot(helper->map, slot);
	uint64_t bytes = word_read(&helper->map->devices[real].dirtied_bytes);
	bool changed = bytes != devices->dirtied_bytes[slot];

	devices->dirtied_bytes[slot] = bytes;
	return changed;
}

/* The kernel's limit of the real device; a btrfs has a backing device of its own. */
static void look_at_limit(const struct devices *devices, const struct helper *helper,
			  int slot)
{
	struct wp_device *device = &helper->map->devices[slot];
	uint64_t number = device_number(device);
	char folder[READ_PATH_BYTES];

	if (*devices->uuid[slot])
		snprintf(folder, sizeof(folder), "%s/sys/fs/btrfs/%s/bdi", helper->root,
			 devices->uuid[slot]);
	else
		snprintf(folder, sizeof(folder), "%s/sys/class/bdi/%u:%u", helper->root,
			 major(number), minor(number));
	word_write(&device->kernel_limit_bytes, bdi_limit_bytes(helper->root, folder));
}

static void look(struct devices *devices, const struct helper *helper, int slot)
{
	const struct wp_device *device = &helper->map->devices[slot];
	uint64_t number = device_number(device);

	if (!word_read(&device->key) || !was_written_to(devices, helper, slot))
		return;
	look_at_number(devices, helper, slot, number);
	look_at_limit(devices, helper, device_real_slot(helper->map, slot));
}

void devices_look(struct devices *devices, const struct helper *helper)
{
	for (int slot = 0; slot < (int)WP_DEVICES; slot++)
		look(devices, helper, slot);
}

void devices_meet(struct devices *devices, const struct helper *helper)
{
	for (int slot = 0; slot < (int)WP_DEVICES; slot++) {
		if (devices->dirtied_bytes[slot] == NEVER_LOOKED)
			look(devices, helper, slot);
	}
}

/* ----------------------------------------------------------------- statistics -- */

static bool ask(const struct devices *devices, const struct helper *helper, int slot,
		struct blockstat *stat)
{
	char folder[READ_PATH_BYTES];

	if (*devices->uuid[slot])
		return btrfs_stat(helper->root, devices->uuid[slot], stat);
	folder_of(folder, helper, device_number(&helper->map->devices[slot]));
	return blockstat_add(stat, folder);
}

void devices_measure(struct devices *devices, const struct helper *helper,
		     uint64_t now_ns)
{
	for (int slot = 0; slot < (int)WP_DEVICES; slot++) {
		struct wp_device *device = &helper->map->devices[slot];
		struct blockstat stat = { 0 };

		if (!word_read(&device->key) || !device_outstanding_bytes(device) ||
		    !ask(devices, helper, slot, &stat))
			continue;
		word_write(&device->stat_written_bytes, stat.written_bytes);
		word_write(&device->stat_reads, stat.reads);
		word_write(&device->stat_flushes, stat.flushes);
		word_write(&device->stat_inflight, stat.inflight);
		word_write(&device->stat_ns, now_ns);
		stranger_see(&devices->strangers[slot], device, &stat,
			     word_read(&helper->map->header.read_bytes), now_ns);
	}
}
