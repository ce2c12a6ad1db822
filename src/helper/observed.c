/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/observed.h"

#include <stdio.h>

#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "helper/read.h"
#include "publish/publish.h"
#include "shm/device.h"
#include "shm/orphan.h"

#define AHEAD_BYTES ((int64_t)WP_MIB(4)) /* more is no matter of who tells when */

/*
 * What we had dirtied when the observer looked, which was between our last look and this one: as
 * if it had come at a steady rate. On an average right, so for what is others'.
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
 * The same, but no more than we had: what was dirtied after the observer looked must not be taken
 * for what it counted, a burst is over in less than a look. The second to last look: counted and
 * published take their time.
 */
static uint64_t own_bytes_before(const struct observed_device *observed,
				 uint64_t own_bytes, uint64_t heartbeat_ns,
				 uint64_t now_ns)
{
	if (heartbeat_ns >= now_ns)
		return own_bytes;
	return heartbeat_ns >= observed->look_ns ? observed->look_own_bytes :
						   observed->before_own_bytes;
}

/* What of others' bytes is left when so much of all was written. */
static int64_t left_of(int64_t others_bytes, uint64_t written_bytes,
		       uint64_t outstanding_bytes)
{
	uint64_t size = (uint64_t)(others_bytes < 0 ? -others_bytes : others_bytes);
	int64_t gone_bytes = (int64_t)mul_div(written_bytes, size, outstanding_bytes);

	return others_bytes < 0 ? others_bytes + gone_bytes : others_bytes - gone_bytes;
}

/*
 * Why signed: the kernel counts a page at once, a paced program tells of it at its next look. What
 * seemed to be others' for that long is ours again then, and what we seemed to have ahead of
 * the kernel is made up for.
 */
static int64_t others_bytes(const struct observed_device *old,
			    const struct observed_device *new)
{
	int64_t dirtied_bytes =
		(int64_t)(new->all_dirtied_bytes - old->all_dirtied_bytes) -
		(int64_t)(new->own_dirtied_bytes - old->own_dirtied_bytes);
	uint64_t written_bytes = min_u64(new->completed_bytes - old->completed_bytes,
					 old->outstanding_bytes);
	int64_t left_bytes =
		left_of(old->others_bytes, written_bytes, old->outstanding_bytes) +
		dirtied_bytes;
	int64_t most_bytes = (int64_t) new->outstanding_bytes;

	if (left_bytes > most_bytes)
		return most_bytes;
	return left_bytes < -AHEAD_BYTES ? -AHEAD_BYTES : left_bytes;
}

/* @own_bytes: of what we dirtied so much is in it, at least. */
static void publish_count(struct wp_device *device, const struct observed_device *new,
			  uint64_t own_bytes)
{
	uint64_t others_bytes = new->others_bytes > 0 ? (uint64_t) new->others_bytes : 0;

	/* Order: who finds it fresh finds words that are at least of that time. */
	word_write(&device->observed_dirtied_bytes, own_bytes);
	word_write(&device->observed_bytes,
		   sub_u64(new->outstanding_bytes, others_bytes));
	word_write(&device->observed_inflight_bytes, new->inflight_bytes);
	word_write(&device->observed_ns, new->heartbeat_ns);
}

/* Orphans that had left by estimate before anybody counted, and are there. */
static void find_lost(struct wp_device *device, uint64_t now_ns)
{
	uint64_t lost_bytes = sub_u64(word_read(&device->observed_bytes),
				      device_outstanding_bytes(device));

	word_add(&device->outstanding_bytes, lost_bytes);
	device_orphaned(device, lost_bytes, now_ns);
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
		.inflight_bytes = entry->inflight_bytes,
	};

	if (new.heartbeat_ns == observed->heartbeat_ns)
		return;
	new.before_own_bytes = observed->look_own_bytes;
	if (!observed->heartbeat_ns || observed->start_ns != new.start_ns) {
		/* At first ours is all that can be; what we had then is not known. */
		new.others_bytes = (int64_t)sub_u64(
			new.outstanding_bytes,
			sub_u64(own_bytes, word_read(&device->written_bytes)));
		publish_count(device, &new, 0);
		find_lost(device, now_ns);
	} else {
		new.others_bytes = others_bytes(observed, &new);
		publish_count(
			device, &new,
			own_bytes_before(observed, own_bytes, set->heartbeat_ns, now_ns));
	}
	*observed = new;
}

bool observed_copy(struct observed *observed, const struct helper *helper,
		   uint64_t now_ns)
{
	static struct wp_published_device entries[WP_PUBLISHED_DEVICES];
	struct wp_published_set set;
	char folder[READ_PATH_BYTES];

	if (helper->alone)
		return false;
	snprintf(folder, sizeof(folder), "%s" WP_PUBLISHED_FOLDER, helper->root);
	if (!published_read(folder, "devices", &set, entries, sizeof(entries[0]),
			    WP_PUBLISHED_DEVICES) ||
	    stamp_age_ns(set.heartbeat_ns, now_ns) > WP_PUBLISHED_FRESH_NS)
		return false;
	for (uint64_t i = 0; i < set.entries; i++) {
		int slot = device_find(helper->map, entries[i].number);

		if (slot < 0 || !(entries[i].flags & WP_PUBLISHED_QUEUE))
			continue;
		observed_see(&observed->devices[slot], &helper->map->devices[slot], &set,
			     &entries[i], now_ns);
	}
	return true;
}
