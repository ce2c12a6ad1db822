/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/kernel.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/order.h"
#include "host/sys.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* one number on every architecture */
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define ZFS_SUPER_MAGIC 0x2fc12fc1

struct cachestat_range {
	uint64_t offset;
	uint64_t length;
};

struct cachestat {
	uint64_t cache;
	uint64_t dirty;
	uint64_t writeback;
	uint64_t evicted;
	uint64_t recently_evicted;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	/* Order: the vdso answers; it knows no errno but for a bad clock. */
	clock_gettime(clock, &t);
	return WP_SEC(t.tv_sec) + (uint64_t)t.tv_nsec;
}

uint64_t kernel_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t kernel_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

uint64_t kernel_spent_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int kernel_cachestat(int fd, uint64_t offset_bytes, uint64_t length_bytes,
		     struct kernel_pages *pages)
{
	struct cachestat_range range = { .offset = offset_bytes, .length = length_bytes };
	struct cachestat stat = { 0 };
	uint64_t page_bytes = (uint64_t)getpagesize();
	long result = sys_call(SYS_cachestat, fd, &range, &stat, 0);

	pages->dirty_bytes = stat.dirty * page_bytes;
	pages->writeback_bytes = stat.writeback * page_bytes;
	pages->cached_bytes = stat.cache * page_bytes;
	return (int)result;
}

int kernel_start_writeback(int fd, uint64_t offset_bytes, uint64_t length_bytes)
{
	return (int)sys_call(SYS_sync_file_range, fd, SYS_WIDE(offset_bytes),
			     SYS_WIDE(length_bytes), SYNC_FILE_RANGE_WRITE);
}

#ifdef SYS_fstatfs64
static long ask_file_system(int fd, struct statfs *statfs)
{
	return sys_call(SYS_fstatfs64, fd, sizeof(*statfs), statfs);
}
#else
static long ask_file_system(int fd, struct statfs *statfs)
{
	return sys_call(SYS_fstatfs, fd, statfs);
}
#endif

/* File systems whose pages are never written back, or not through the page cache we can ask. */
static enum backing_kind file_kind(int fd, struct backing *backing)
{
	struct statfs statfs;

	if (ask_file_system(fd, &statfs) < 0)
		return BACKING_NONE;
	switch ((unsigned long)statfs.f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case HUGETLBFS_MAGIC:
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case DEVPTS_SUPER_MAGIC:
	case SECURITYFS_MAGIC:
	case PIPEFS_MAGIC:
	case ANON_INODE_FS_MAGIC:
		return BACKING_NONE;
	case ZFS_SUPER_MAGIC:
		return BACKING_ASIDE;
	case OVERLAYFS_SUPER_MAGIC:
		backing->unseen = true;
		return BACKING_FILE;
	case BTRFS_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
		backing->reflinks = true;
		return BACKING_FILE;
	default:
		return BACKING_FILE;
	}
}

/* Why errno is saved: this one goes through libc, whose struct stat is the one we know. */
static bool identify(int fd, struct stat *st)
{
	int saved_errno = errno;
	bool known = !fstat(fd, st) && (S_ISREG(st->st_mode) || S_ISBLK(st->st_mode));

	errno = saved_errno;
	return known;
}

static uint64_t device_of(const struct stat *st)
{
	return S_ISBLK(st->st_mode) ? st->st_rdev : st->st_dev;
}

#ifdef SYS__llseek
uint64_t kernel_position(int fd)
{
	int64_t position = 0;

	if (sys_call(SYS__llseek, fd, 0, 0, &position, SEEK_CUR) || position < 0)
		return 0;
	return (uint64_t)position;
}
#else
uint64_t kernel_position(int fd)
{
	long position = sys_call(SYS_lseek, fd, 0, SEEK_CUR);

	return position > 0 ? (uint64_t)position : 0;
}
#endif

int kernel_open_flags(int fd)
{
	return (int)sys_call(SYS_fcntl, fd, F_GETFL);
}

static void describe(int fd, const struct stat *st, int flags, struct backing *backing)
{
	if (flags < 0 || (flags & O_PATH))
		return;
	backing->device = device_of(st);
	backing->inode = st->st_ino;
	if (S_ISBLK(st->st_mode))
		backing->kind = BACKING_BLOCK;
	else
		backing->kind = file_kind(fd, backing);
	if (backing->kind == BACKING_FILE)
		backing->size_bytes = (uint64_t)st->st_size;
	backing->unlinked = !st->st_nlink;
	backing->synced = flags & (O_DSYNC | O_SYNC);
	if (backing->kind && (backing->synced || (flags & O_DIRECT)))
		backing->kind = BACKING_ASIDE;
}

void kernel_backing(int fd, struct backing *backing)
{
	struct stat st;

	*backing = (struct backing){ .kind = BACKING_NONE };
	if (identify(fd, &st))
		describe(fd, &st, kernel_open_flags(fd), backing);
}

void kernel_backing_as(int fd, int flags, struct backing *backing)
{
	struct stat st;

	*backing = (struct backing){ .kind = BACKING_NONE };
	if (identify(fd, &st))
		describe(fd, &st, flags, backing);
}

#ifdef STATX_BASIC_STATS
/* Raw, of what is asked for below; false also where the kernel, or a filter, has no such call. */
static bool identify_raw(int fd, struct stat *st)
{
	struct statx stx;

	if (sys_call(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx))
		return false;
	*st = (struct stat){
		.st_mode = stx.stx_mode,
		.st_ino = stx.stx_ino,
		.st_nlink = stx.stx_nlink,
		.st_size = (off_t)stx.stx_size,
		.st_dev = makedev(stx.stx_dev_major, stx.stx_dev_minor),
		.st_rdev = makedev(stx.stx_rdev_major, stx.stx_rdev_minor),
	};
	return S_ISREG(st->st_mode) || S_ISBLK(st->st_mode);
}
#else /* musl before 1.2.4, for which there are no such sanitizers either */
#define identify_raw identify
#endif

static bool is_still(const struct stat *st, struct backing *backing)
{
	if (device_of(st) != backing->device || st->st_ino != backing->inode)
		return false;
	if (S_ISREG(st->st_mode))
		backing->size_bytes = (uint64_t)st->st_size;
	backing->unlinked = !st->st_nlink;
	return true;
}

bool kernel_still(int fd, struct backing *backing)
{
	struct stat st;

	return identify(fd, &st) && is_still(&st, backing);
}

bool kernel_still_raw(int fd, struct backing *backing)
{
	struct stat st;

	return identify_raw(fd, &st) && is_still(&st, backing);
}

bool kernel_named(int folder, const char *path, struct backing *backing)
{
	struct stat st;
	int saved_errno = errno;
	bool known =
		!fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);

	errno = saved_errno;
	if (!known)
		return false;
	*backing = (struct backing){
		.kind = BACKING_FILE,
		.device = st.st_dev,
		.inode = st.st_ino,
		.size_bytes = (uint64_t)st.st_size,
		.unlinked = st.st_nlink < 2,
	};
	return true;
}

int kernel_wake(uint32_t *word)
{
	word32_bump(word);
	return (int)sys_call(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void kernel_close_from(int first_fd)
{
	struct rlimit most;

	if (!sys_call(SYS_close_range, first_fd, ~0u, 0) ||
	    sys_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &most))
		return;
	/* Why a bound: the limit may be a thousand millions. */
	for (int fd = first_fd; fd < (int)min_u64(most.rlim_cur, 65536); fd++)
		sys_call(SYS_close, fd);
}

uint64_t kernel_weight(uint64_t thread)
{
	long priority = sys_call(SYS_ioprio_get, 1 /* a process */, thread);
	long nice = 20 - sys_call(SYS_getpriority, PRIO_PROCESS, thread);
	long level = priority & 0xff;

	if (priority < 0)
		return 100;
	switch (priority >> 13) {
	case 1:
		return 200;
	case 3:
		return 10;
	case 0:
		level = (nice + 20) / 5;
		break;
	default:
		break;
	}
	return (uint64_t)(8 - (level & 7)) * 25;
}

int kernel_reserve(int fd, uint64_t bytes)
{
	return (int)sys_call(SYS_fallocate, fd, 0, SYS_WIDE(0), SYS_WIDE(bytes));
}
