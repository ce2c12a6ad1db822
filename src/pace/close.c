/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is outstanding of a file that is being closed would burst when somebody calls sync, or
 * when the kernel's 30 s are over, and hold up everybody's fsync then. So it goes first, through
 * the window, as long as that takes but no longer than the drain target.
 */
#include "base/order.h"
#include "host/kernel.h"
#include "pace/pace.h"
#include "pace/slow.h"
#include "shm/device.h"
#include "shm/file.h"

/*
 * Within the user's credit for bursts nobody waits. It is started all the same: unstarted, it
 * would stay until the kernel's 30 s are over, while the account takes it for written.
 */
static bool may_go(const struct slow *slow)
{
	return control_credit_bytes(&slow->control, &slow->bounds,
				    device_outstanding_bytes(slow->flush.device));
}

static void drain(struct slow *slow)
{
	uint64_t until_ns = slow->now_ns + slow->bounds.drain_ns;
	uint64_t window_bytes = window_kept_bytes(&slow->control.window);

	if (slow->manner == PACE_NO_SLEEP)
		return;
	if (word_read(&slow->flush.file->accounted_bytes) > window_bytes)
		word_add(&slow->process->totals.sleeps, 1);
	while (word_read(&slow->flush.file->accounted_bytes) > window_bytes &&
	       slow->now_ns < until_ns) {
		if (!slow_sleep(slow, until_ns))
			return;
		slow_tick(slow, 0);
	}
}

void pace_close(struct pace_process *process, struct pace_task *task,
		struct pace_handle *handle, int fd)
{
	struct slow slow = {
		.process = process,
		.task = task,
		.handle = handle,
		.flush = { .fd = fd },
		.manner = PACE_SLEEP,
	};

	if (!slow_enter(&slow))
		return;
	if (pace_has_dirt(handle) && slow_locate(&slow) && slow.flush.device) {
		slow_take_dirt(&slow);
		slow_tick(&slow, 0);
		if (slow.flush.file) {
			if (may_go(&slow))
				slow_let_go(&slow);
			else
				drain(&slow);
			slow_wait_ceiling(&slow, 0);
			file_abandon(slow.flush.file, slow.flush.device, slow.now_ns);
		}
	}
	word_write(&handle->charged_bytes, 0);
	word_write(&handle->slots, 0);
	slow_leave(&slow);
}
