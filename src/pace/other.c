/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that writes several files in turn (a database and its journal) pauses with one in its
 * hand while what is outstanding is in another. Only its own descriptors can start that, so the
 * pause looks after the other file, too: else the device runs idle until the pause is over, and
 * its speed is learned far too low.
 */
#include "base/order.h"
#include "host/kernel.h"
#include "pace/slow.h"
#include "shm/device.h"
#include "shm/file.h"

uint64_t pace_outstanding_bytes(const struct pace_process *process,
				const struct pace_handle *handle)
{
	uint64_t file = (word_read(&handle->slots) & UINT32_MAX) - 1;

	return file < WP_FILES ?
		       word_read(&process->segment.map->files[file].accounted_bytes) :
		       0;
}

/* The file with most outstanding on this device, not the one in hand. */
static bool find(struct slow *slow)
{
	struct wp_segment *map = slow->process->segment.map;
	struct pace_handle *handle;
	struct backing backing;
	uint64_t slot;
	int fd = slow->process->other ? slow->process->other(slow->handle, &handle) : -1;

	if (fd < 0)
		return false;
	backing = handle->backing;
	slot = (word_read(&handle->slots) & UINT32_MAX) - 1;
	if (backing.unseen || !kernel_still_raw(fd, &backing) || slot >= WP_FILES ||
	    &map->files[slot] == slow->file)
		return false;
	slow->other = (struct flush_file){
		.fd = fd,
		.size_bytes = backing.size_bytes,
		.file = &map->files[slot],
		.device = slow->flush.device,
	};
	return true;
}

void slow_leave_other(struct slow *slow)
{
	if (!slow->other.file)
		return;
	file_release(slow->other.file, slow->other.device);
	slow->other.file = NULL;
}

void slow_tend_other(struct slow *slow, const struct flush_pace *pace, bool wanted)
{
	struct file_look look = { .now_ns = slow->now_ns, .may_rest = true };
	bool idle = wanted && !device_inflight_bytes(slow->flush.device);
	int64_t dirty;

	if (!slow->other.file && !(idle && find(slow)))
		return;
	dirty = flush_look(&slow->other, &look);
	slow_count_completed(slow, look.completed_bytes);
	if (dirty > 0 && wanted)
		flush_start(&slow->other, (uint64_t)dirty, pace);
	if (dirty < 0 || !look.present_bytes)
		slow_leave_other(slow);
}
