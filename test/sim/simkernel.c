/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "simkernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "host/kernel.h"

struct simkernel simkernel;

/* ------------------------------------------------------------------------ ranges -- */

static void insert(struct simranges *ranges, unsigned at, uint64_t begin, uint64_t end)
{
	if (ranges->count == SIM_RANGES) {
		simkernel.broken =
			"more ranges than the page cache of the simulation holds";
		return;
	}
	memmove(&ranges->at[at + 1], &ranges->at[at],
		(ranges->count - at) * sizeof(ranges->at[0]));
	ranges->at[at].begin = begin;
	ranges->at[at].end = end;
	ranges->count++;
}

static void erase(struct simranges *ranges, unsigned at)
{
	ranges->count--;
	memmove(&ranges->at[at], &ranges->at[at + 1],
		(ranges->count - at) * sizeof(ranges->at[0]));
}

uint64_t simranges_remove(struct simranges *ranges, uint64_t begin, uint64_t end)
{
	uint64_t removed = 0;

	for (unsigned i = 0; i < ranges->count;) {
		uint64_t old_begin = ranges->at[i].begin;
		uint64_t old_end = ranges->at[i].end;

		if (old_end <= begin || old_begin >= end) {
			i++;
			continue;
		}
		removed += min_u64(end, old_end) - max_u64(begin, old_begin);
		erase(ranges, i);
		if (old_end > end)
			insert(ranges, i, end, old_end);
		if (old_begin < begin)
			insert(ranges, i++, old_begin, begin);
	}
	return removed;
}

uint64_t simranges_add(struct simranges *ranges, uint64_t begin, uint64_t end)
{
	uint64_t bytes = end - begin;
	unsigned at = 0;

	for (unsigned i = 0; i < ranges->count;) {
		if (ranges->at[i].end < begin || ranges->at[i].begin > end) {
			i++;
			continue;
		}
		/* neighbours and what it covers become one with it */
		bytes -= sub_u64(min_u64(end, ranges->at[i].end),
				 max_u64(begin, ranges->at[i].begin));
		begin = min_u64(begin, ranges->at[i].begin);
		end = max_u64(end, ranges->at[i].end);
		erase(ranges, i);
	}
	while (at < ranges->count && ranges->at[at].begin < begin)
		at++;
	insert(ranges, at, begin, end);
	return bytes;
}

uint64_t simranges_bytes(const struct simranges *ranges, uint64_t begin, uint64_t end)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < ranges->count; i++)
		bytes += sub_u64(min_u64(end, ranges->at[i].end),
				 max_u64(begin, ranges->at[i].begin));
	return bytes;
}

/* -------------------------------------------------------------- page cache, disk -- */

static void complete(const struct simdisk_command *command)
{
	struct simfile *file = command->owner;
	uint64_t bytes =
		simranges_remove(&file->flight, command->begin_bytes, command->end_bytes);

	simkernel.outstanding_bytes -= bytes;
	simkernel.flight_bytes -= bytes;
}

void simkernel_set_clock(uint64_t now_ns)
{
	simkernel.now_ns = max_u64(simkernel.now_ns, now_ns);
	simdisk_advance(&simkernel.disk, simkernel.now_ns, complete);
}

void simkernel_write(unsigned number, uint64_t begin_bytes, uint64_t bytes)
{
	struct simfile *file = &simkernel.files[number];
	uint64_t begin = begin_bytes / WP_PAGE_BYTES * WP_PAGE_BYTES;
	uint64_t end =
		(begin_bytes + bytes + WP_PAGE_BYTES - 1) / WP_PAGE_BYTES * WP_PAGE_BYTES;
	uint64_t new_bytes = simranges_add(&file->dirty, begin, end);

	file->size_bytes = max_u64(file->size_bytes, begin_bytes + bytes);
	simkernel.outstanding_bytes += new_bytes;
	simkernel.dirtied_bytes[simkernel.task] += new_bytes;
}

static void start(struct simfile *file, uint64_t begin, uint64_t end)
{
	struct simdisk_command command = {
		.owner = file,
		.begin_bytes = begin,
		.end_bytes = end,
		.submit_ns = simkernel.now_ns,
	};

	if (!simdisk_submit(&simkernel.disk, &command)) {
		simkernel.broken = "more commands than the disk of the simulation queues";
		return;
	}
	simranges_remove(&file->dirty, begin, end);
	simkernel.flight_bytes += simranges_add(&file->flight, begin, end);
}

/* --------------------------------------------------------- host/kernel.h, whole -- */

uint64_t kernel_now_ns(void)
{
	return simkernel.now_ns;
}

uint64_t kernel_boot_ns(void)
{
	return simkernel.now_ns;
}

uint64_t kernel_spent_ns(void)
{
	return 0;
}

bool kernel_sleep_ns(uint64_t span_ns)
{
	simkernel.sleep(simkernel.now_ns + span_ns + SIM_SLACK_NS);
	return true;
}

bool kernel_block_signals(uint64_t *mask)
{
	*mask = 0;
	return true;
}

void kernel_unblock_signals(uint64_t mask)
{
	(void)mask;
}

bool kernel_sleep_open_ns(uint64_t span_ns, uint64_t mask)
{
	(void)mask;
	return kernel_sleep_ns(span_ns);
}

uint64_t kernel_signals_pending(void)
{
	return 0;
}

uint64_t kernel_thread_dirtied_bytes(void)
{
	return simkernel.dirtied_bytes[simkernel.task];
}

struct kernel_io kernel_thread_io(void)
{
	return (struct kernel_io){ .dirtied_bytes = kernel_thread_dirtied_bytes() };
}

uint64_t kernel_process_dirtied_bytes(void)
{
	return kernel_thread_dirtied_bytes();
}

int kernel_cachestat(int fd, uint64_t offset_bytes, uint64_t length_bytes,
		     struct kernel_pages *pages)
{
	const struct simfile *file = &simkernel.files[fd];
	uint64_t end = length_bytes ? offset_bytes + length_bytes : UINT64_MAX;

	pages->dirty_bytes = simranges_bytes(&file->dirty, offset_bytes, end);
	pages->writeback_bytes = simranges_bytes(&file->flight, offset_bytes, end);
	pages->cached_bytes = sub_u64(min_u64(end, file->size_bytes), offset_bytes);
	return 0;
}

int kernel_start_writeback(int fd, uint64_t offset_bytes, uint64_t length_bytes)
{
	struct simfile *file = &simkernel.files[fd];
	uint64_t end = offset_bytes + length_bytes;

	for (unsigned i = 0; i < file->dirty.count && !simkernel.broken;) {
		uint64_t from = max_u64(offset_bytes, file->dirty.at[i].begin);
		uint64_t to = min_u64(end, file->dirty.at[i].end);

		if (from >= to) {
			i++;
			continue;
		}
		start(file, from, to);
		i = 0;
	}
	return 0;
}

void kernel_backing(int fd, struct backing *backing)
{
	*backing = (struct backing){
		.kind = BACKING_FILE,
		.device = SIM_DEVICE,
		.inode = (uint64_t)fd + 1,
		.size_bytes = simkernel.files[fd].size_bytes,
	};
}

void kernel_backing_as(int fd, int flags, struct backing *backing)
{
	(void)flags;
	kernel_backing(fd, backing);
}

bool kernel_named(int folder, const char *path, struct backing *backing)
{
	(void)folder;
	(void)path;
	(void)backing;
	return false; /* no names here */
}

bool kernel_still_raw(int fd, struct backing *backing)
{
	return kernel_still(fd, backing);
}

bool kernel_still(int fd, struct backing *backing)
{
	backing->size_bytes = simkernel.files[fd].size_bytes;
	return true;
}

uint64_t kernel_position(int fd)
{
	(void)fd;
	return 0; /* as of one that only uses pwrite() */
}

int kernel_open_flags(int fd)
{
	(void)fd;
	return O_WRONLY;
}

int kernel_wake(uint32_t *word)
{
	(*word)++; /* there is no helper here to be woken */
	return 0;
}

void kernel_close_from(int first_fd)
{
	(void)first_fd;
}

uint64_t kernel_weight(uint64_t thread)
{
	(void)thread;
	return 100;
}

int kernel_reserve(int fd, uint64_t bytes)
{
	(void)fd;
	(void)bytes;
	return -ENOSYS;
}

uint64_t kernel_process_id(void)
{
	return kernel_task_id() >> 32;
}

uint64_t kernel_task_id(void)
{
	return (uint64_t)1 << 32 | (simkernel.task + 1);
}
