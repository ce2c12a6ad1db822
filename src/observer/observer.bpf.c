/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The programs in the kernel: thin entry points; what an event does to the sums stands in
 * aggregate.bpf.h. Nothing is sent to user space, the observer reads the maps.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "observer/kernel_shapes.bpf.h"
#include "observer/place.bpf.h"
#include "observer/sums.h"

#define OP_MASK 0xff
#define OP_WRITE 1

#define SUM_SHARED(word, amount) __sync_fetch_and_add(&(word), amount)
#define RUN_SELDOM __noinline

/* Why GPL: the kernel's tracing helpers ask for it; the LGPL allows it. */
char LICENSE[] SEC("license") = "GPL";

const volatile uint64_t page_bytes = 4096; /* both are set before loading */
const volatile uint64_t tick_ns = 4000000; /* what the kernel counts pauses in */

uint64_t lost = 0; /* events without room in a map */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, SUMS_DEVICES);
	__type(key, uint32_t);
	__type(value, struct device_sums);
} devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct dirt_run);
} runs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SUMS_TASKS);
	__type(key, struct task_key);
	__type(value, struct task_sums);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SUMS_DEVICES);
	__type(key, struct bdi_name);
	__type(value, uint32_t);
} names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SUMS_SYNCS);
	__type(key, uint64_t);
	__type(value, struct sync_begin);
} syncs SEC(".maps");

/* ------------------------------------------------------------------------ sums -- */

static __noinline struct device_sums *new_device(uint32_t device)
{
	struct device_sums empty = {};

	bpf_map_update_elem(&devices, &device, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&devices, &device);
}

static struct device_sums *device_sums(uint32_t device)
{
	struct device_sums *sums = bpf_map_lookup_elem(&devices, &device);

	if (sums)
		return sums;
	sums = new_device(device);
	if (!sums)
		SUM_SHARED(lost, 1);
	return sums;
}

static __noinline struct task_sums *new_task(struct task_key *key)
{
	struct task_sums empty = {};

	if (!key)
		return 0;
	empty.uid = (uint32_t)bpf_get_current_uid_gid();
	bpf_get_current_comm(empty.name, sizeof(empty.name));
	bpf_map_update_elem(&tasks, key, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&tasks, key);
}

static struct task_sums *task_sums(uint32_t device)
{
	struct task_key key = {
		.pid = (uint32_t)(bpf_get_current_pid_tgid() >> 32),
		.device = device,
	};
	struct task_sums *sums = bpf_map_lookup_elem(&tasks, &key);

	if (sums)
		return sums;
	sums = new_task(&key);
	if (!sums)
		SUM_SHARED(lost, 1);
	return sums;
}

static struct task_sums *known_task_sums(uint32_t pid, uint32_t device)
{
	struct task_key key = { .pid = pid, .device = device };

	return bpf_map_lookup_elem(&tasks, &key);
}

#include "observer/aggregate.bpf.h"

/* ----------------------------------------------------------- dirtied, completed -- */

static __always_inline uint64_t folio_bytes(const struct folio *folio)
{
	const struct folio___wrapped *wrapped = (const void *)folio;
	const struct folio___plain *plain = (const void *)folio;
	const struct folio___6_14 *counted = (const void *)folio;
	const struct folio___6_5 *ordered = (const void *)folio;
	uint64_t flags;

	if (bpf_core_field_exists(wrapped->flags.f))
		flags = wrapped->flags.f;
	else
		flags = plain->flags;
	if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return page_bytes;
	if (bpf_core_field_exists(folio->_nr_pages))
		return folio->_nr_pages * page_bytes;
	if (bpf_core_field_exists(counted->_folio_nr_pages))
		return counted->_folio_nr_pages * page_bytes;
	if (bpf_core_field_exists(ordered->_folio_order))
		return page_bytes << ordered->_folio_order;
	return page_bytes << (folio->_flags_1 & 0xff);
}

/* Once for each device and CPU. */
static __always_inline int learn_name(const struct backing_dev_info *bdi, uint32_t device)
{
	struct bdi_name name = {};

	bpf_probe_read_kernel_str(name.text, sizeof(name.text), &bdi->dev_name);
	bpf_map_update_elem(&names, &name, &device, BPF_ANY);
	return 0;
}

static RUN_SELDOM int begin_run(struct dirt_run *run, const struct address_space *mapping,
				uint32_t pid)
{
	const struct inode *inode = mapping ? mapping->host : 0;
	const struct super_block *sb;
	struct device_sums *sums;
	uint32_t device;
	bool is_node;

	if (!run || !inode)
		return 0;
	sb = inode->i_sb;
	is_node = sb->s_magic == BDEV_MAGIC;
	device = device_of(sb, inode);
	sums = run_begin(run, is_node ? (uint64_t)mapping : (uint64_t)sb, pid, device);
	if (!sums || sums->named)
		return 0;
	learn_name(is_node ? queue_of_node(inode) : sb->s_bdi, device);
	sums->named = 1;
	return 0;
}

/* Once a page: nothing is looked up here but this CPU's run, and no more asked than needed. */
static __always_inline int dirtied(const struct address_space *mapping, uint32_t pid,
				   uint64_t bytes)
{
	struct dirt_run *run;
	uint32_t first = 0;

	run = bpf_map_lookup_elem(&runs, &first);
	if (!run || !mapping)
		return 0;
	if (!run_goes_on(run, (uint64_t)mapping->host->i_sb, (uint64_t)mapping, pid))
		begin_run(run, mapping, pid);
	on_dirtied(run, bytes);
	return 0;
}

SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(dirtied_folio, struct folio *folio, struct address_space *mapping)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return dirtied(mapping, (uint32_t)task->tgid, folio_bytes(folio));
}

/* Before folios, and on some of those kernels there is no such short way to the task. */
SEC("tp_btf/writeback_dirty_page")
int BPF_PROG(dirtied_page, struct page *page, struct address_space *mapping)
{
	return dirtied(mapping, (uint32_t)(bpf_get_current_pid_tgid() >> 32), page_bytes);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(completed, struct request *request, int error, unsigned int bytes)
{
	const struct gendisk *disk;

	if ((request->cmd_flags & OP_MASK) != OP_WRITE)
		return 0;
	disk = disk_of(request);
	if (disk)
		on_completed(number_of(disk), bytes);
	return 0;
}

/* ----------------------------------------------------------------------- pauses -- */

/* Dirtying comes before throttling, so the queue's name is known. */
static __always_inline const uint32_t *device_of_queue(const struct bdi_writeback *wb)
{
	struct bdi_name name = {};

	bpf_probe_read_kernel_str(name.text, sizeof(name.text), wb->bdi->dev_name);
	return bpf_map_lookup_elem(&names, &name);
}

static __always_inline int paused(const struct bdi_writeback *wb, long ticks)
{
	const uint32_t *device = ticks > 0 ? device_of_queue(wb) : 0;

	if (device)
		on_pause(*device, ticks, tick_ns);
	return 0;
}

SEC("tp_btf/balance_dirty_pages")
int BPF_PROG(paused_8, struct bdi_writeback *wb, void *control, unsigned long base,
	     unsigned long rate, unsigned long dirty, unsigned long period, long ticks)
{
	return paused(wb, ticks);
}

/* 6.16 and before: the limits one by one. */
SEC("tp_btf/balance_dirty_pages")
int BPF_PROG(paused_12, struct bdi_writeback *wb, unsigned long limit,
	     unsigned long background, unsigned long global, unsigned long wb_limit,
	     unsigned long wb_dirty, unsigned long base, unsigned long rate,
	     unsigned long dirty, unsigned long period, long ticks)
{
	return paused(wb, ticks);
}

SEC("tp_btf/bdi_dirty_ratelimit")
int BPF_PROG(limited, struct bdi_writeback *wb)
{
	const uint32_t *device = device_of_queue(wb);

	if (device)
		on_rate(*device, wb->dirty_ratelimit * page_bytes, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/writeback_single_inode")
int BPF_PROG(visited, struct inode *inode, struct writeback_control *control,
	     unsigned long asked)
{
	long pages = (long)asked - control->nr_to_write;

	on_visit(device_of(inode->i_sb, inode), pages * (long)page_bytes);
	return 0;
}

/* ------------------------------------------------------------------------ syncs -- */

static __always_inline uint32_t device_of_descriptor(uint32_t fd)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	const struct file *file = 0;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	return device_of_file(file);
}

static __always_inline int sync_begins(uint32_t device)
{
	uint64_t thread = bpf_get_current_pid_tgid();
	struct sync_begin begin = {
		.begin_ns = bpf_ktime_get_ns(),
		.device = device,
	};

	bpf_map_update_elem(&syncs, &thread, &begin, BPF_ANY);
	return 0;
}

static __always_inline int sync_ends(void)
{
	uint64_t thread = bpf_get_current_pid_tgid();
	struct sync_begin *begin = bpf_map_lookup_elem(&syncs, &thread);

	if (!begin)
		return 0;
	if (begin->device)
		on_synced((uint32_t)begin->device, bpf_ktime_get_ns() - begin->begin_ns);
	bpf_map_delete_elem(&syncs, &thread);
	return 0;
}

/*
 * ext4 alone tells of both ends. Why without BTF: ext4 may be a module, and a module's can be had
 * from Linux 5.11 on and by the system's administrator alone.
 */
SEC("raw_tp/ext4_sync_file_enter")
int ext4_begins(const struct bpf_raw_tracepoint_args *arguments)
{
	return sync_begins(device_of_file((const void *)arguments->args[0]));
}

SEC("raw_tp/ext4_sync_file_exit")
int ext4_ends(const void *arguments)
{
	return sync_ends();
}

/*
 * Of all file systems, on demand: while a program is attached to any system call, every call of
 * every process takes the kernel's longer way.
 */
SEC("tracepoint/syscalls/sys_enter_fsync")
int fsync_begins(const struct trace_event_raw_sys_enter *call)
{
	return sync_begins(device_of_descriptor((uint32_t)call->args[0]));
}

SEC("tracepoint/syscalls/sys_exit_fsync")
int fsync_ends(const void *call)
{
	return sync_ends();
}

SEC("tracepoint/syscalls/sys_enter_fdatasync")
int fdatasync_begins(const struct trace_event_raw_sys_enter *call)
{
	return sync_begins(device_of_descriptor((uint32_t)call->args[0]));
}

SEC("tracepoint/syscalls/sys_exit_fdatasync")
int fdatasync_ends(const void *call)
{
	return sync_ends();
}
