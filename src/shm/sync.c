/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/sync.h"

#include "base/order.h"
#include "base/stamp.h"

static void note(struct wp_device *device, uint64_t process, uint64_t now_ns)
{
	uint64_t last_ns = word_read(&device->sync_ns);
	uint64_t last = word_exchange(&device->sync_process, process);

	if (last != process)
		word_write(&device->sync_other_ns, last_ns);
	word_write(&device->sync_ns, now_ns);
	word_add(&device->syncs, 1);
}

/* Others have gone on for less than they were held. Longer than any hold is damage. */
static bool is_early(const struct wp_device *device, uint64_t now_ns)
{
	uint64_t begin_ns = word_read(&device->hold_begin_ns);
	uint64_t end_ns = word_read(&device->hold_end_ns);
	uint64_t held_ns = min_u64(sub_u64(end_ns, begin_ns), SYNC_HOLD_MAX_NS);

	return stamp_age_ns(end_ns, now_ns) < held_ns;
}

void sync_begins(struct wp_device *device, uint64_t process, uint64_t hold_ns,
		 uint64_t now_ns)
{
	note(device, process, now_ns);
	if (sync_holds(device, now_ns) || is_early(device, now_ns))
		return;
	word_write(&device->hold_begin_ns, now_ns);
	word_write(&device->hold_end_ns, now_ns + hold_ns);
}

void sync_ends(struct wp_device *device, uint64_t now_ns)
{
	uint64_t end_ns = word_read(&device->hold_end_ns);

	if (end_ns > now_ns)
		word_replace(&device->hold_end_ns, end_ns, now_ns);
}

bool sync_holds(const struct wp_device *device, uint64_t now_ns)
{
	uint64_t end_ns = word_read(&device->hold_end_ns);

	return end_ns > now_ns && end_ns - now_ns <= SYNC_HOLD_MAX_NS;
}

uint64_t sync_others_ns(const struct wp_device *device, uint64_t process)
{
	uint64_t sync_ns = word_read(&device->sync_process) == process ?
				   word_read(&device->sync_other_ns) :
				   word_read(&device->sync_ns);

	return max_u64(sync_ns, word_read(&device->stranger_ns));
}
