/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a visit starts of its file: what is due, what can not wait. */
#include "base/fixed.h"
#include "base/order.h"
#include "host/kernel.h"
#include "pace/slow.h"
#include "shm/file.h"

#define BURST_UNIT_BYTES WP_MIB(1) /* what is let go starts in units of this */

uint64_t slow_service_ns(const struct slow *slow, uint64_t bytes)
{
	return bytes_to_ns(bytes, bandwidth_likely_bps(&slow->control.bandwidth));
}

/*
 * The kernel refuses to start anything (a filter, a strange file system): nobody waits for what
 * nobody starts. The helper may be allowed to; where there is none the speed that is known has
 * to do.
 */
static void give_up_starting(struct slow *slow)
{
	struct wp_device *device = slow->flush.device;

	/* Another thread may have closed it. */
	if (!kernel_still(slow->flush.fd, &slow->handle->backing))
		return;
	word_write(&slow->process->refused_ns, slow->now_ns);
	if (slow->flush.file)
		file_abandon(slow->flush.file, device, slow->now_ns);
	word_write(&device->unseen_ns, slow->now_ns);
	slow->flush.file = NULL;
	slow->hidden = true;
	slow->dirty_bytes = 0;
}

void slow_start_due(struct slow *slow, const struct flush_pace *pace)
{
	if (slow->dirty_bytes && flush_start(&slow->flush, slow->dirty_bytes, pace) < 0)
		give_up_starting(slow);
}

void slow_push(struct slow *slow, uint64_t bytes)
{
	struct flush_pace pace = flush_pace_of(&slow->control, slow->now_ns);

	bytes = min_u64(bytes, slow->dirty_bytes);
	pace.forced = true;
	/* Why: less than a unit takes no more than its part of the turn. */
	pace.interval_ns = mul_div(pace.interval_ns, min_u64(bytes, pace.unit_bytes),
				   pace.unit_bytes);
	if (slow->flush.file)
		flush_start(&slow->flush, bytes, &pace);
}

void slow_let_go(struct slow *slow)
{
	uint64_t until_ns = slow->now_ns + slow->bounds.drain_ns;
	struct flush_pace pace = flush_pace_of(&slow->control, slow->now_ns);
	uint64_t left_bytes = slow->dirty_bytes;

	pace.forced = true;
	pace.unit_bytes = BURST_UNIT_BYTES;
	pace.interval_ns = slow_service_ns(slow, pace.unit_bytes);
	while (left_bytes && kernel_now_ns() < until_ns) {
		int64_t started = flush_start(
			&slow->flush, min_u64(left_bytes, pace.unit_bytes), &pace);

		if (started <= 0)
			return;
		left_bytes = sub_u64(left_bytes, (uint64_t)started);
	}
}
