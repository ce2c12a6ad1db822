/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/devices.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "helper/holder.h"
#include "helper/read.h"
#include "shm/device.h"

#define NEVER_LOOKED UINT64_MAX

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

/* Whoever has a file of @slot's device open leads to its mount. */
static bool ask_holders(const struct helper *helper, int slot, struct btrfs *btrfs)
{
	for (size_t i = 0; i < WP_FILES; i++) {
		const struct wp_file *file = &helper->map->files[i];
		struct holder holder;

		if ((int)(word_read_relaxed(&file->key) >> 56) - 1 == slot &&
		    holder_find(helper, file, &holder) &&
		    btrfs_of(helper->root, &holder, btrfs))
			return true;
	}
	return false;
}

/*
 * A number that no block device has. Why not by the holders alone: small files are open for so
 * short that none may be at any look.
 */
static void look_at_anonymous(struct devices *devices, const struct helper *helper,
			      int slot, uint64_t number)
{
	struct btrfs btrfs;

	if (ask_holders(helper, slot, &btrfs) || btrfs_with(helper->root, number, &btrfs))
		devices_set_btrfs(devices, helper, slot, &btrfs);
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

static void look(struct devices *devices, const struct helper *helper, int slot)
{
	const struct wp_device *device = &helper->map->devices[slot];
	uint64_t number = device_number(device);

	if (!word_read(&device->key) || !was_written_to(devices, helper, slot))
		return;
	if (major(number))
		look_at_block(helper, slot, number);
	else
		look_at_anonymous(devices, helper, slot, number);
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
		stranger_see(&devices->strangers[slot], device, &stat, now_ns);
	}
}
