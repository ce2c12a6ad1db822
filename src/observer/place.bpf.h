/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which device something of the kernel's belongs to, in any kernel's shape.
 */
#ifndef WP_OBSERVER_PLACE_BPF_H
#define WP_OBSERVER_PLACE_BPF_H

#include <stdint.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "observer/kernel_shapes.bpf.h"

#define BDEV_MAGIC 0x62646576 /* file system of block devices' own inodes */
#define MINOR_BITS 20

static __always_inline uint32_t number_of(const struct gendisk *disk)
{
	return (uint32_t)BPF_CORE_READ(disk, major) << MINOR_BITS |
	       (uint32_t)BPF_CORE_READ(disk, first_minor);
}

/* A write to a block device itself: its inode sits beside the device. */
static __always_inline const struct gendisk *disk_of_node(const struct inode *inode)
{
	const struct bdev_inode *node =
		(const void *)((const char *)inode -
			       bpf_core_field_offset(struct bdev_inode, vfs_inode));

	return BPF_CORE_READ(node, bdev.bd_disk);
}

static __always_inline const struct backing_dev_info *queue_of_node(
	const struct inode *inode)
{
	const struct gendisk *disk = disk_of_node(inode);
	const struct gendisk___5_15 *older = (const void *)disk;

	if (bpf_core_field_exists(disk->bdi))
		return BPF_CORE_READ(disk, bdi);
	return BPF_CORE_READ(older, queue, backing_dev_info);
}

/* What has a writeback queue of its own: the disk, or what the file system is mounted as. */
static __always_inline uint32_t device_of(const struct super_block *sb,
					  const struct inode *inode)
{
	const struct block_device *device = sb->s_bdev;

	if (sb->s_magic == BDEV_MAGIC)
		return number_of(disk_of_node(inode));
	if (!device)
		return sb->s_dev;
	return number_of(device->bd_disk);
}

static __always_inline const struct gendisk *disk_of(const struct request *request)
{
	const struct request___5_16 *older = (const void *)request;

	if (bpf_core_field_exists(older->rq_disk))
		return BPF_CORE_READ(older, rq_disk);
	return request->q->disk;
}

static __always_inline uint32_t device_of_file(const struct file *file)
{
	const struct super_block *sb = BPF_CORE_READ(file, f_inode, i_sb);
	const struct block_device *device = BPF_CORE_READ(sb, s_bdev);

	if (!device)
		return BPF_CORE_READ(sb, s_dev);
	return number_of(BPF_CORE_READ(device, bd_disk));
}

#endif
