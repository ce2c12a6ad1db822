/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Syncs of paced programs. Others' writers leave the device room from then on, and while one is
 * under way nobody starts new writeback there.
 */
#include "shm/sync.h"
#include "base/order.h"
#include "pace/pace.h"
#include "pace/slow.h"

struct wp_device *pace_sync_begin(struct pace_process *process, struct pace_task *task,
				  struct pace_handle *handle, int fd)
{
	struct slow slow = SLOW(process, task, handle, fd, PACE_NO_SLEEP);

	if (!slow_enter(&slow))
		return NULL;
	if (slow_locate(&slow) && slow.flush.device)
		sync_begins(slow.flush.device, slow.process_id,
			    process->conf.sync_hold_ns, slow.now_ns);
	slow_leave(&slow);
	return slow.flush.device;
}

void pace_sync_end(struct wp_device *device)
{
	if (device)
		sync_ends(device, kernel_now_ns());
}
