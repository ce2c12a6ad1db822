/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/observed.h"

#include <stdio.h>

#include "base/fixed.h"
#include "base/stamp.h"
#include "helper/read.h"
#include "publish/publish.h"
#include "shm/device.h"

/*
 * What we had dirtied when the observer looked, which was between our last look and this one: as
 * if it had come at a steady rate.
 */
static uint64_t own_bytes_at(const struct observed_device *observed, uint64_t own_bytes,
			     uint64_t heartbeat_ns, uint64_t now_ns)
{
	uint64_t span_ns = sub_u64(now_ns, observed->look_ns);
	uint64_t part_ns = min_u64(sub_u64(heartbeat_ns, observed->look_ns), span_ns);

	if (!observed->look_ns || !span_ns)
		return own_bytes;
	return observed->look_own_bytes +
	       mul_div(sub_u64(own_bytes, observed->look_own_bytes), part_ns, span_ns);
}

/*
 * Why signed: the kernel counts a page at once, a paced program tells of it at its next look; what
 * seemed to be others' for that long is ours again then.
 */
static uint64_t others_bytes(const struct observed_device *old,
			     const struct observed_device *new)
{
	int64_t dirtied_bytes =
		(int64_t)(new->all_dirtied_bytes - old->all_dirtied_bytes) -
		(int64_t)(new->own_dirtied_bytes - old->own_dirtied_bytes);
	uint64_t written_bytes = min_u64(new->completed_bytes - old->completed_bytes,
					 old->outstanding_bytes);
	int64_t left_bytes =
		(int64_t)(old->others_bytes - mul_div(written_bytes, old->others_bytes,
						      old->outstanding_bytes)) +
		dirtied_bytes;

	return left_bytes > 0 ? min_u64((uint64_t)left_bytes, new->outstanding_bytes) : 0;
}

void observed_see(struct observed_device *observed, struct wp_device *device,
		  const struct wp_published_set *set,
		  const struct wp_published_device *entry, uint64_t now_ns)
{
	uint64_t own_bytes = word_read(&device->dirtied_bytes);
	struct observed_device new = {
		.heartbeat_ns = set->heartbeat_ns,
		.start_ns = set->start_ns,
		.all_dirtied_bytes = entry->dirtied_bytes,
		.own_dirtied_bytes =
			own_bytes_at(observed, own_bytes, set->heartbeat_ns, now_ns),
		.look_ns = now_ns,
		.look_own_bytes = own_bytes,
		.completed_bytes = entry->completed_bytes,
		.outstanding_bytes = entry->outstanding_bytes,
	};

	if (new.heartbeat_ns == observed->heartbeat_ns)
		return;
	if (observed->heartbeat_ns && observed->start_ns == new.start_ns)
		new.others_bytes = others_bytes(observed, &new);
	else /* at first ours is what we believe it is */
		new.others_bytes =
			sub_u64(new.outstanding_bytes, device_outstanding_bytes(device));
	*observed = new;
	/* Order: who finds it fresh finds words that are at least of that time. */
	word_write(&device->observed_dirtied_bytes, new.own_dirtied_bytes);
	word_write(&device->observed_bytes, new.outstanding_bytes - new.others_bytes);
	word_write(&device->observed_ns, new.heartbeat_ns);
}

void observed_copy(struct observed *observed, const struct helper *helper,
		   uint64_t now_ns)
{
	static struct wp_published_device entries[WP_PUBLISHED_DEVICES];
	struct wp_published_set set;
	char folder[READ_PATH_BYTES];

	if (helper->alone)
		return;
	snprintf(folder, sizeof(folder), "%s" WP_PUBLISHED_FOLDER, helper->root);
	if (!published_read(folder, "devices", &set, entries, sizeof(entries[0]),
			    WP_PUBLISHED_DEVICES) ||
	    stamp_age_ns(set.heartbeat_ns, now_ns) > WP_PUBLISHED_FRESH_NS)
		return;
	for (uint64_t i = 0; i < set.entries; i++) {
		int slot = device_find(helper->map, entries[i].number);

		if (slot < 0 || !(entries[i].flags & WP_PUBLISHED_QUEUE))
			continue;
		observed_see(&observed->devices[slot], &helper->map->devices[slot], &set,
			     &entries[i], now_ns);
	}
}
