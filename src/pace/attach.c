/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/order.h"
#include "core/limits.h"
#include "host/kernel.h"
#include "host/locate.h"
#include "host/sys.h"
#include "pace/pace.h"

/* The number behind "NAME " at the start of a line of @text, 0 where there is none. */
static uint64_t vmstat_value(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	uint64_t value = 0;

	if (!at)
		return 0;
	for (at += strlen(name); *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

static uint64_t read_kernel_limit_bytes(void)
{
	char text[8192];
	int fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return 0;
	got = read(fd, text, sizeof(text) - 1);
	sys_call(SYS_close, fd);
	if (got < 0)
		return 0;
	text[got] = '\0';
	return limits_kernel_bytes(
		vmstat_value(text, "\nnr_dirty_threshold ") * WP_PAGE_BYTES,
		vmstat_value(text, "\nnr_dirty_background_threshold ") * WP_PAGE_BYTES);
}

/*
 * Fork: a page of its own that a fork child finds zeroed, so that the child knows itself
 * whatever made it; a vfork child finds its parent's pid.
 */
static uint64_t *map_life(void)
{
	size_t bytes = (size_t)getpagesize();
	uint64_t *life = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (life == MAP_FAILED)
		return NULL;
	if (madvise(life, bytes, MADV_WIPEONFORK)) {
		munmap(life, bytes);
		return NULL;
	}
	*life = (uint64_t)sys_call(SYS_getpid);
	return life;
}

/* What is not there has no settings; the wrapper has said so. */
static void resolve_devices(struct conf_devices *devices)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < devices->count; i++) {
		struct conf_device *device = &devices->list[i];

		if (!locate_device(device->what, &device->number))
			devices->list[count++] = *device;
	}
	devices->count = count;
}

void pace_attach(struct pace_process *process, const struct conf *conf)
{
	int saved_errno = errno;
	struct stat st;

	process->conf = *conf;
	resolve_devices(&process->conf.devices);
	process->start_ns = kernel_boot_ns();
	process->life = map_life();
	process->weight = conf->weight ? conf->weight : kernel_weight(0);
	process->penalty = (enum limits_penalty)conf->task_limit;
	process->kernel_limit_bytes = read_kernel_limit_bytes();
	process->dirtied_before_bytes = kernel_process_dirtied_bytes();
	if (!stat("/proc/self/ns/pid", &st))
		process->namespace_id = st.st_ino;
	segment_attach(&process->segment, conf->segment);
	errno = saved_errno;
}

void pace_task_begin(struct pace_task *task)
{
	struct kernel_io io = kernel_thread_io();

	task->dirtied_bytes = io.dirtied_bytes;
	task->read_bytes = io.read_bytes;
}

/* A fork child has no dirt, no debt and no slots yet. */
static void forget_parent(struct pace_process *process, struct pace_task *task)
{
	struct pace_task fresh = PACE_TASK_INIT;

	/* Its own, charged before it came here for the first time. */
	fresh.held_bytes = task->charged_bytes;
	*task = fresh;
	process->start_ns = kernel_boot_ns();
	process->dirtied_before_bytes = 0;
	process->aside_bytes = 0;
	process->totals = (struct totals){ 0 };
	if (process->forked)
		process->forked();
}

/* Signal: any number of threads may find out at once; one forgets. */
bool pace_own(struct pace_process *process, struct pace_task *task)
{
	uint64_t pid;
	uint64_t seen;

	if (!process->life)
		return true;
	pid = (uint64_t)sys_call(SYS_getpid);
	seen = word_read(process->life);
	if (!seen && word_replace(process->life, 0, pid))
		forget_parent(process, task);
	return !seen || seen == pid;
}

static void note_device(struct totals *totals, uint64_t device_number)
{
	for (int i = 0; i < WP_TOTALS_DEVICES; i++) {
		uint64_t *word = &totals->devices[i];

		if (word_read(word) == device_number ||
		    word_replace(word, 0, device_number))
			return;
	}
}

void pace_note_device(struct pace_process *process, uint64_t device_number)
{
	note_device(&process->totals, device_number);
}

static void add_totals(struct totals *sum, const struct totals *own)
{
	word_add(&sum->charged_bytes, own->charged_bytes);
	word_add(&sum->dirtied_bytes, own->dirtied_bytes);
	word_add(&sum->uncovered_bytes, own->uncovered_bytes);
	word_add(&sum->sleeps, own->sleeps);
	word_add(&sum->slept_ns, own->slept_ns);
	word_add(&sum->processes, 1);
	for (int i = 0; i < WP_TOTALS_DEVICES && own->devices[i]; i++)
		note_device(sum, own->devices[i]);
}

void pace_finish(struct pace_process *process, struct pace_task *task)
{
	struct totals *totals = &process->totals;

	if (!pace_own(process, task))
		return;
	totals->dirtied_bytes =
		sub_u64(kernel_process_dirtied_bytes(),
			process->dirtied_before_bytes + process->aside_bytes);
	/* Threads that never came by are in the first, what rewriting hides in the second. */
	totals->uncovered_bytes =
		max_u64(sub_u64(totals->dirtied_bytes, totals->charged_bytes),
			totals->uncovered_bytes);
	if (process->shared_totals)
		add_totals(process->shared_totals, totals);
}
