/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/orphan.h"

#include <writepace/published.h>

#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "shm/device.h"

#define CREDIT_NS WP_SEC(2)
#define ORPHAN_LIFE_NS WP_SEC(35)

/*
 * And did it when orphans were last drained, not long ago? Why not where files are unseen: nobody
 * starts what they leave behind, so nothing would show.
 */
static bool has_statistics(const struct wp_device *device, uint64_t now_ns)
{
	return device_is_measured(device, now_ns) &&
	       word_read(&device->orphan_stat_bytes) &&
	       stamp_age_ns(word_read(&device->orphan_ns), now_ns) < CREDIT_NS &&
	       stamp_age_ns(word_read(&device->unseen_ns), now_ns) > ORPHAN_LIFE_NS;
}

void device_orphaned(struct wp_device *device, uint64_t bytes, uint64_t now_ns)
{
	if (!bytes)
		return;
	if (!word_level(&device->orphan_bytes) && !has_statistics(device, now_ns)) {
		word_write(&device->orphan_ns, now_ns);
		word_write(&device->orphan_written_bytes,
			   word_read(&device->written_bytes));
		word_write(&device->orphan_stat_bytes,
			   word_read(&device->stat_written_bytes));
	}
	word_add(&device->orphan_bytes, bytes);
}

static bool is_observed(const struct wp_device *device, uint64_t now_ns)
{
	return stamp_age_ns(word_read(&device->observed_ns), now_ns) <
	       WP_PUBLISHED_FRESH_NS;
}

enum wp_source device_source(const struct wp_device *device, uint64_t now_ns)
{
	if (is_observed(device, now_ns))
		return WP_SOURCE_OBSERVER;
	return device_is_measured(device, now_ns) ? WP_SOURCE_STATISTICS : WP_SOURCE_RATE;
}

/*
 * Orphans that the kernel has no room for any more: all that was outstanding when it was counted
 * and became so since, without what files account for.
 */
static uint64_t observed_gone_bytes(const struct wp_device *device, uint64_t orphan_bytes)
{
	uint64_t since_bytes = sub_u64(word_read(&device->dirtied_bytes),
				       word_read(&device->observed_dirtied_bytes));
	uint64_t present_bytes =
		min_u64(word_read(&device->observed_bytes), DEVICE_BELIEF_BYTES) +
		min_u64(since_bytes, DEVICE_BELIEF_BYTES);
	uint64_t files_bytes = sub_u64(device_outstanding_bytes(device), orphan_bytes);

	return sub_u64(orphan_bytes, sub_u64(present_bytes, files_bytes));
}

/* One drain: what happened since the last one. */
struct drain {
	uint64_t span_ns;
	uint64_t own_bytes;     /* completions that were seen */
	uint64_t bandwidth_bps; /* what it could have written, where it is not measured */
	bool measured;
};

/*
 * What the device wrote of nobody that we know. Why also of the last two seconds: a file's bytes
 * become orphans when its writer has been silent for one, and may be written by then; nothing
 * would confirm them any more.
 */
static uint64_t unclaimed_bytes(struct wp_device *device, const struct drain *drain)
{
	uint64_t stat_bytes = word_read(&device->stat_written_bytes);
	uint64_t before_bytes = word_exchange(&device->orphan_stat_bytes, stat_bytes);
	uint64_t credit_bytes = word_exchange(&device->orphan_credit_bytes, 0);

	if (!drain->measured)
		return sub_u64(ns_to_bytes(drain->span_ns, drain->bandwidth_bps),
			       drain->own_bytes);
	credit_bytes = min_u64(credit_bytes, DEVICE_BELIEF_BYTES);
	credit_bytes =
		sub_u64(credit_bytes, mul_div(credit_bytes, drain->span_ns, CREDIT_NS));
	return sub_u64(sub_u64(stat_bytes, before_bytes), drain->own_bytes) +
	       credit_bytes;
}

/*
 * What nobody confirms is dropped after 35 s, the kernel's own expiry: at each turn what was
 * there at the last one already.
 */
static uint64_t expired_bytes(struct wp_device *device, uint64_t orphan_bytes,
			      uint64_t now_ns)
{
	uint64_t turn_ns = word_read(&device->orphan_turn_ns);

	if (stamp_age_ns(turn_ns, now_ns) < ORPHAN_LIFE_NS ||
	    !word_replace(&device->orphan_turn_ns, turn_ns, now_ns))
		return 0;
	return min_u64(orphan_bytes,
		       word_exchange(&device->orphan_old_bytes, orphan_bytes));
}

void device_drop_orphans(struct wp_device *device, uint64_t bytes)
{
	uint64_t old_bytes = word_read(&device->orphan_old_bytes);

	bytes = min_u64(bytes, word_level(&device->orphan_bytes));
	word_write(&device->orphan_old_bytes, sub_u64(old_bytes, bytes));
	word_add(&device->orphan_bytes, -bytes);
	word_add(&device->outstanding_bytes, -bytes);
}

void device_orphans_started(struct wp_device *device, uint64_t bytes)
{
	word_add(&device->orphan_started_bytes, bytes);
}

uint64_t device_orphans_inflight_bytes(const struct wp_device *device, uint64_t now_ns)
{
	return is_observed(device, now_ns) ?
		       min_u64(word_level(&device->orphan_started_bytes),
			       word_level(&device->orphan_bytes)) :
		       0;
}

/*
 * How many orphans are gone by what the device wrote, or could have, of nobody that we know. Moves
 * the marks, so that it can be asked at any time.
 */
static uint64_t written_gone_bytes(struct wp_device *device, struct drain *drain,
				   uint64_t orphan_bytes)
{
	uint64_t written_bytes = word_read(&device->written_bytes);
	uint64_t unclaimed;
	uint64_t gone_bytes;

	drain->own_bytes = written_bytes -
			   word_exchange(&device->orphan_written_bytes, written_bytes);
	unclaimed = unclaimed_bytes(device, drain);
	/* Nor can it be more than the device could write until then. */
	gone_bytes = max_u64(
		unclaimed,
		sub_u64(orphan_bytes, ns_to_bytes(ORPHAN_LIFE_NS, drain->bandwidth_bps)));
	gone_bytes = min_u64(orphan_bytes, gone_bytes);
	if (drain->measured)
		word_write(&device->orphan_credit_bytes, sub_u64(unclaimed, gone_bytes));
	return gone_bytes;
}

/* What was started and is under writeback no more has landed. */
static void see_landed(struct wp_device *device)
{
	uint64_t landed_bytes = sub_u64(word_level(&device->orphan_started_bytes),
					word_read(&device->observed_inflight_bytes));

	word_add(&device->orphan_started_bytes, -landed_bytes);
	word_add(&device->orphan_landed_bytes, landed_bytes);
}

/*
 * What landed and is gone was written. Why no more than there are: it was a guess that there was
 * something to be started, and what is truncated later was not written.
 */
static uint64_t take_written(struct wp_device *device, uint64_t gone_bytes)
{
	uint64_t landed_bytes = word_level(&device->orphan_landed_bytes);
	uint64_t written_bytes = min_u64(landed_bytes, gone_bytes);
	uint64_t kept_bytes =
		min_u64(landed_bytes - written_bytes, word_level(&device->orphan_bytes));

	word_add(&device->orphan_landed_bytes, kept_bytes - landed_bytes);
	return written_bytes;
}

/*
 * By the kernel's count, which is believed alone: what it still has does not leave for its age.
 * Returns what of it was written.
 */
static uint64_t drain_observed(struct wp_device *device, uint64_t orphan_bytes,
			       uint64_t now_ns)
{
	uint64_t gone_bytes = observed_gone_bytes(device, orphan_bytes);
	uint64_t written_bytes;

	see_landed(device);
	device_drop_orphans(device, gone_bytes);
	written_bytes = take_written(device, gone_bytes);
	if (written_bytes) {
		word_add(&device->written_bytes, written_bytes);
		word_write(&device->progress_ns, now_ns);
	}
	return written_bytes;
}

/* By what was written, and by age. */
static void drain_estimated(struct wp_device *device, uint64_t gone_bytes,
			    uint64_t now_ns)
{
	device_drop_orphans(device, gone_bytes);
	device_drop_orphans(
		device, expired_bytes(device, word_level(&device->orphan_bytes), now_ns));
}

uint64_t device_drain_orphans(struct wp_device *device, uint64_t bandwidth_bps,
			      uint64_t now_ns)
{
	uint64_t stamp_ns = word_read(&device->orphan_ns);
	uint64_t age_ns = stamp_age_ns(stamp_ns, now_ns);
	uint64_t orphan_bytes = word_level(&device->orphan_bytes);
	bool observed = is_observed(device, now_ns);
	struct drain since = {
		.span_ns = sub_u64(now_ns, stamp_ns),
		.bandwidth_bps = bandwidth_bps,
		.measured = has_statistics(device, now_ns),
	};
	/* Why: statistics come ten times a second, and what is our own of them must be taken
	 * from the same span. */
	bool told = !since.measured || age_ns >= DEVICE_STAT_FRESH_NS ||
		    word_read(&device->stat_written_bytes) !=
			    word_read(&device->orphan_stat_bytes);
	uint64_t gone_bytes = 0;

	if (age_ns < WP_MS(10) || (!told && !observed) ||
	    (!orphan_bytes && !device_is_measured(device, now_ns)))
		return 0;
	/* Order: who moves the stamp drains for the time between. */
	if (!word_replace(&device->orphan_ns, stamp_ns, now_ns))
		return 0;
	if (told)
		gone_bytes = written_gone_bytes(device, &since, orphan_bytes);
	if (observed)
		return drain_observed(device, orphan_bytes, now_ns);
	drain_estimated(device, gone_bytes, now_ns);
	return 0;
}
