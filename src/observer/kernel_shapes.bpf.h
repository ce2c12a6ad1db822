/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The few fields of the kernel's structs that the programs read. Where they are is found out when
 * the programs are loaded (CO-RE); here only names and types count. A name with three underscores
 * is the same struct in another kernel's shape.
 */
#ifndef WP_OBSERVER_KERNEL_SHAPES_BPF_H
#define WP_OBSERVER_KERNEL_SHAPES_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct backing_dev_info {
	char dev_name[64]; /* as in debugfs */
};

struct gendisk {
	int major;
	int first_minor;
	struct backing_dev_info *bdi; /* 5.16 and later */
};

struct block_device {
	struct gendisk *bd_disk; /* partitions: their disk's */
};

struct super_block {
	unsigned int s_dev;
	unsigned long s_magic;
	struct block_device *s_bdev; /* none: btrfs, NFS, FUSE ... */
	struct backing_dev_info *s_bdi;
};

struct inode {
	struct super_block *i_sb;
};

/* What a block device's own inode sits in. */
struct bdev_inode {
	struct block_device bdev;
	struct inode vfs_inode;
};

struct address_space {
	struct inode *host;
};

/* Exists in the kernel where the count of a large folio's pages is a field (64 bits). */
struct folio {
	unsigned int _nr_pages;
	unsigned long _flags_1; /* 6.6 and later: its last byte is the order */
};

struct folio___6_14 {
	unsigned int _folio_nr_pages;
};

struct folio___6_5 {
	unsigned char _folio_order;
};

/* Why twice: 6.18 wrapped the flags into a struct. */
struct folio___plain {
	unsigned long flags;
};

struct folio___wrapped {
	struct {
		unsigned long f;
	} flags;
};

struct page;

struct request_queue {
	struct gendisk *disk; /* 5.15 and later */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
};

struct request_queue___5_15 {
	struct backing_dev_info *backing_dev_info;
};

struct gendisk___5_15 {
	struct request_queue___5_15 *queue;
};

struct request___5_16 {
	struct gendisk *rq_disk;
};

struct bdi_writeback {
	struct backing_dev_info *bdi;
	unsigned long dirty_ratelimit; /* pages a second */
};

struct writeback_control {
	long nr_to_write; /* that are left to write */
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct {
	int tgid; /* of the process */
	struct files_struct *files;
};

/* The end of a file's name in tracefs: the arguments of any system call. */
struct trace_event_raw_sys_enter {
	unsigned long args[6];
};

enum pageflags {
	PG_head = 6,
};

#pragma clang attribute pop

#endif
