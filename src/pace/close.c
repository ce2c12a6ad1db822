/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is outstanding of a file that is being closed would burst when somebody calls sync, or
 * when the kernel's 30 s are over, and hold up everybody's fsync then. So it goes first, through
 * the window, as long as that takes but no longer than the drain target.
 *
 * A file without a name is not worth it, its dirt goes with it. Nor are the files of a program
 * that unlinks most of what it writes.
 */
#include "base/order.h"
#include "host/kernel.h"
#include "pace/pace.h"
#include "pace/slow.h"
#include "shm/device.h"
#include "shm/file.h"

#define CUT_NS WP_MS(200)   /* for so long after a signal a close does not wait */
#define YOUNG_NS WP_SEC(30) /* the kernel would not have written it by itself yet */

/*
 * Within the user's credit for bursts nobody waits. It is started all the same: unstarted, it
 * would stay until the kernel's 30 s are over, while the account takes it for written.
 */
static bool may_go(const struct slow *slow)
{
	return control_credit_bytes(&slow->control, &slow->bounds,
				    device_outstanding_bytes(slow->flush.device));
}

/* More than a window is left, and somebody sees it go; of a file that nobody sees, is started. */
static bool must_wait(const struct slow *slow)
{
	uint64_t left_bytes = slow->flush.blind ? slow->dirty_bytes :
						  word_read(&slow->file->accounted_bytes);

	return left_bytes > window_kept_bytes(&slow->control.window) &&
	       !file_is_silent(slow->file, slow->now_ns);
}

/* Signal: Ctrl-C cut the pause before, its handler closes what is open and wants to be gone. */
static bool was_cut(const struct slow *slow)
{
	return slow->task->cut_ns && slow->now_ns < slow->task->cut_ns + CUT_NS;
}

static void drain(struct slow *slow)
{
	uint64_t until_ns = slow->now_ns + slow->bounds.drain_ns;

	if (slow->manner == PACE_NO_SLEEP || was_cut(slow))
		return;
	if (must_wait(slow))
		slow_count_sleep(slow);
	while (must_wait(slow) && slow->now_ns < until_ns) {
		if (!slow_sleep(slow, until_ns))
			return;
		slow_tick(slow, 0);
	}
	/* Why: what is left nobody could start any more, and many files' would add up. */
	slow_push(slow,
		  min_u64(slow->dirty_bytes, window_kept_bytes(&slow->control.window)));
}

/* One visit for the handle's sake; false when there is nothing to be done. */
static bool arrive(struct slow *slow)
{
	return pace_has_dirt(slow->handle) && slow_locate(slow) && slow->flush.device;
}

static void drain_now(struct slow *slow)
{
	slow_take_dirt(slow);
	slow_tick(slow, 0);
	if (slow->file && !may_go(slow))
		drain(slow);
	else if (slow->flush.file)
		slow_let_go(slow);
	/* Why here: who closes many small files is never due at a write. */
	if (slow->task->owed_bytes >= slow->task->poll_bytes)
		slow_pay(slow);
	slow_wait_ceiling(slow, 0);
}

static bool is_temporary(const struct slow *slow)
{
	return slow->handle->backing.unlinked ||
	       2 * word_read(&slow->process->files_unlinked) >
		       word_read(&slow->process->files_closed);
}

static void close_file(struct slow *slow)
{
	if (is_temporary(slow)) {
		slow_take_dirt(slow);
		slow_settle(slow);
	} else {
		drain_now(slow);
	}
	word_add(&slow->process->files_closed, 1);
	if (!slow->file)
		return;
	file_abandon(slow->file, slow->flush.device, slow->now_ns);
	if (slow->handle->backing.unlinked)
		file_vanished(slow->file, slow->flush.device);
}

void pace_close(struct pace_process *process, struct pace_task *task,
		struct pace_handle *handle, int fd)
{
	struct slow slow = SLOW(process, task, handle, fd, PACE_SLEEP);

	if (!slow_enter(&slow))
		return;
	if (arrive(&slow))
		close_file(&slow);
	pace_take_charged(process, handle);
	word_write(&handle->slots, 0);
	slow_leave(&slow);
}

void pace_drain(struct pace_process *process, struct pace_task *task,
		struct pace_handle *handle, int fd)
{
	struct slow slow = SLOW(process, task, handle, fd, PACE_SLEEP);

	if (!slow_enter(&slow))
		return;
	if (arrive(&slow))
		drain_now(&slow);
	slow_leave(&slow);
}

void pace_settle(struct pace_process *process, struct pace_task *task,
		 struct pace_handle *handle, int fd)
{
	struct slow slow = SLOW(process, task, handle, fd, PACE_SLEEP);

	if (!slow_enter(&slow))
		return;
	if (arrive(&slow)) {
		slow_take_dirt(&slow);
		slow_settle(&slow);
	}
	slow_leave(&slow);
}

void pace_cancel(struct pace_process *process, struct pace_task *task,
		 struct pace_handle *handle, int fd)
{
	struct slow slow = SLOW(process, task, handle, fd, PACE_SLEEP);

	if (!slow_enter(&slow))
		return;
	if (arrive(&slow) && slow.flush.file)
		flush_cancelled(&slow.flush);
	slow_leave(&slow);
}

bool pace_has_outstanding(struct pace_process *process)
{
	return segment_ready(&process->segment) &&
	       (word_read(&process->totals.devices[0]) ||
		word_read(&process->segment.map->header.outstanding_bytes));
}

void pace_vanished(struct pace_process *process, const struct backing *backing)
{
	struct wp_segment *map = process->segment.map;
	int device = device_find(map, backing->device);
	int slot = device < 0 ? -1 : file_find(map, device, backing->inode);
	struct wp_file *file;

	if (slot < 0)
		return;
	file = &map->files[slot];
	device = device_real_slot(map, device);
	if (kernel_now_ns() < word_read(&file->seen_ns) + YOUNG_NS)
		word_add(&process->files_unlinked, 1);
	file_vanished(file, &map->devices[device]);
}
