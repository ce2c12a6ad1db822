/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/device.h"

#include <writepace/published.h>

#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "core/ceiling.h"

#define BELIEF_BYTES WP_GIB(1024) /* more outstanding than this is damage */

#define CEILING_TRIES 64
#define WATCH_MAX_NS WP_MS(100)
#define STAT_FRESH_NS WP_SEC(1)
#define CREDIT_NS WP_SEC(2)
#define ORPHAN_LIFE_NS WP_SEC(35)

_Static_assert(CONTROL_WORDS <= WP_CONTROL_WORDS, "struct control outgrew its place");

int device_slot(struct wp_segment *segment, uint64_t device_number)
{
	uint64_t key = device_number + 1;
	uint64_t start = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 56;

	for (uint64_t i = 0; i < DEVICE_SLOTS; i++) {
		uint64_t slot = (start + i) % DEVICE_SLOTS;
		uint64_t *word = &segment->devices[slot].key;
		uint64_t seen = word_read(word);

		if (!seen && word_replace(word, 0, key))
			return (int)slot;
		if (seen == key || word_read(word) == key)
			return (int)slot;
	}
	return -1;
}

int device_find(const struct wp_segment *segment, uint64_t device_number)
{
	uint64_t key = device_number + 1;
	uint64_t start = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 56;

	for (uint64_t i = 0; i < DEVICE_SLOTS; i++) {
		uint64_t slot = (start + i) % DEVICE_SLOTS;
		uint64_t seen = word_read(&segment->devices[slot].key);

		if (seen == key)
			return (int)slot;
		if (!seen)
			break;
	}
	return -1;
}

int device_real_slot(const struct wp_segment *segment, int slot)
{
	uint64_t alias = word_read(&segment->devices[slot].alias);

	return alias && alias <= DEVICE_SLOTS ? (int)alias - 1 : slot;
}

uint64_t device_number(const struct wp_device *device)
{
	return word_read(&device->key) - 1;
}

uint64_t device_outstanding_bytes(const struct wp_device *device)
{
	return min_u64(word_level(&device->outstanding_bytes), BELIEF_BYTES);
}

uint64_t device_inflight_bytes(const struct wp_device *device)
{
	return min_u64(word_level(&device->inflight_bytes), BELIEF_BYTES);
}

void device_dirtied(struct wp_device *device, uint64_t bytes)
{
	word_add(&device->dirtied_bytes, bytes);
	word_add(&device->outstanding_bytes, bytes);
}

void device_completed(struct wp_device *device, uint64_t bytes, uint64_t now_ns)
{
	if (!bytes)
		return;
	word_add(&device->written_bytes, bytes);
	word_add(&device->outstanding_bytes, -bytes);
	word_write(&device->progress_ns, now_ns);
}

void device_cancelled(struct wp_device *device, uint64_t bytes)
{
	word_add(&device->outstanding_bytes, -bytes);
}

/* Does the helper keep the device's own statistics fresh? */
static bool is_measured(const struct wp_device *device, uint64_t now_ns)
{
	return stamp_age_ns(word_read(&device->stat_ns), now_ns) < STAT_FRESH_NS;
}

/*
 * And did it when orphans were last drained, not long ago? Why not where files are unseen: nobody
 * starts what they leave behind, so nothing would show.
 */
static bool has_statistics(const struct wp_device *device, uint64_t now_ns)
{
	return is_measured(device, now_ns) && word_read(&device->orphan_stat_bytes) &&
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
	return is_measured(device, now_ns) ? WP_SOURCE_STATISTICS : WP_SOURCE_RATE;
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
		min_u64(word_read(&device->observed_bytes), BELIEF_BYTES) +
		min_u64(since_bytes, BELIEF_BYTES);
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
	credit_bytes = min_u64(credit_bytes, BELIEF_BYTES);
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

/* By what was written, and by age. */
static void drain_estimated(struct wp_device *device, uint64_t gone_bytes,
			    uint64_t now_ns)
{
	device_drop_orphans(device, gone_bytes);
	device_drop_orphans(
		device, expired_bytes(device, word_level(&device->orphan_bytes), now_ns));
}

void device_drain_orphans(struct wp_device *device, uint64_t bandwidth_bps,
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
	bool told = !since.measured || age_ns >= STAT_FRESH_NS ||
		    word_read(&device->stat_written_bytes) !=
			    word_read(&device->orphan_stat_bytes);
	uint64_t gone_bytes = 0;

	if (age_ns < WP_MS(10) || (!told && !observed) ||
	    (!orphan_bytes && !is_measured(device, now_ns)))
		return;
	/* Order: who moves the stamp drains for the time between. */
	if (!word_replace(&device->orphan_ns, stamp_ns, now_ns))
		return;
	if (told)
		gone_bytes = written_gone_bytes(device, &since, orphan_bytes);
	/* The kernel's count is believed alone: what it still has does not leave for its age. */
	if (observed)
		device_drop_orphans(device, observed_gone_bytes(device, orphan_bytes));
	else
		drain_estimated(device, gone_bytes, now_ns);
}

void device_looked(struct wp_device *device, bool wanted, uint64_t patience_ns,
		   uint64_t now_ns)
{
	bool overdue = now_ns > word_read(&device->start_ns) + patience_ns;
	uint64_t last_ns = word_exchange(&device->look_ns, now_ns);

	if (!wanted || now_ns > last_ns + patience_ns ||
	    (overdue && !device_inflight_bytes(device)))
		word_write(&device->idle_ns, now_ns);
}

uint64_t device_ceiling_ns(struct wp_device *device, uint64_t bytes, uint64_t rate_bps,
			   uint64_t now_ns)
{
	uint64_t next_ns = now_ns;

	for (int try = 0; try < CEILING_TRIES; try++) {
		uint64_t clock_ns = word_read(&device->ceiling_ns);

		next_ns = ceiling_clock_ns(clock_ns, now_ns, bytes, rate_bps);
		if (word_replace(&device->ceiling_ns, clock_ns, next_ns))
			break;
	}
	return next_ns;
}

uint64_t device_watch(struct wp_device *device, uint64_t own_ns, uint64_t until_ns,
		      uint64_t now_ns)
{
	uint64_t seen_ns = word_read(&device->watch_ns);

	/* Why: a claim of the far future is damage. */
	if (seen_ns != own_ns && seen_ns > now_ns && seen_ns - now_ns < WATCH_MAX_NS)
		return 0;
	return word_replace(&device->watch_ns, seen_ns, until_ns) ? until_ns : 0;
}

void device_unwatch(struct wp_device *device, uint64_t own_ns)
{
	if (own_ns)
		word_replace(&device->watch_ns, own_ns, 0);
}

void device_control(const struct wp_device *device, struct control *control)
{
	uint64_t *words = (uint64_t *)control;

	for (size_t i = 0; i < CONTROL_WORDS; i++)
		words[i] = word_read(&device->control[i]);
}

/*
 * A start in the future, or more counted then than is counted now, is damage: nothing would be
 * learned until that is reached.
 */
static void mend_sample(uint64_t *stamp_ns, uint64_t *then_bytes, uint64_t now_ns,
			uint64_t bytes)
{
	if (!stamp_is_damaged(*stamp_ns, now_ns) && *then_bytes <= bytes)
		return;
	*stamp_ns = now_ns;
	*then_bytes = bytes;
}

static void mend_control(struct control *control, const struct control_sample *sample)
{
	mend_sample(&control->bandwidth_stamp_ns, &control->bandwidth_written_bytes,
		    sample->now_ns, sample->written_bytes);
	mend_sample(&control->base_stamp_ns, &control->base_dirtied_bytes, sample->now_ns,
		    sample->dirtied_bytes);
	mend_sample(&control->window.epoch_ns, &control->window.epoch_written_bytes,
		    sample->now_ns, sample->written_bytes);
	control->window.hold_ns = min_u64(control->window.hold_ns, WINDOW_HOLD_MAX_NS);
}

void device_step(struct wp_device *device, const struct bounds *bounds, uint64_t now_ns)
{
	struct control_sample sample = {
		.now_ns = now_ns,
		.written_bytes = word_read(&device->written_bytes),
		.dirtied_bytes = word_read(&device->dirtied_bytes),
		.outstanding_bytes = device_outstanding_bytes(device),
		.idle_ns = word_read(&device->idle_ns),
		.starts = word_read(&device->starts),
		.busy_starts = word_read(&device->busy_starts),
		.others_bps =
			is_measured(device, now_ns) ? word_read(&device->others_bps) : 0,
	};
	struct control old;
	struct control new;

	/* Why: no completion before that time would tell anything. */
	if (stamp_is_damaged(sample.idle_ns, now_ns)) {
		word_replace(&device->idle_ns, sample.idle_ns, 0);
		sample.idle_ns = 0;
	}
	device_control(device, &old);
	/* Why at once after idling: the first burst of a device may be over in 10 ms, and must
	 * fall into the sample that begins with it. */
	if (old.stamp_ns && stamp_age_ns(old.stamp_ns, now_ns) < CONTROL_INTERVAL_NS &&
	    sample.idle_ns <= old.bandwidth_stamp_ns)
		return;
	new = old;
	mend_control(&new, &sample);
	control_step(&new, &sample, bounds);
	/* Order: word 0, the stamp, is claimed; the winner replaces the others from the values it
	 * computed with, so one that was stopped in between and resumes later changes nothing. */
	for (size_t i = 0; i < CONTROL_WORDS; i++) {
		uint64_t before = ((uint64_t *)&old)[i];

		if (!word_replace(&device->control[i], before, ((uint64_t *)&new)[i]) &&
		    !i)
			return;
	}
}
