/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/device.h"

#include "base/fixed.h"
#include "base/order.h"
#include "base/stamp.h"
#include "core/ceiling.h"
#include "shm/orphan.h"

#define CEILING_TRIES 64
#define WATCH_MAX_NS WP_MS(100)
#define UNUSED_NS WP_SEC(600) /* its place may be another's, where there is no other */

_Static_assert(CONTROL_WORDS <= WP_CONTROL_WORDS, "struct control outgrew its place");

/*
 * Damage fills the table with devices that there never were, and none of them would ever go. Who
 * has been looked after by nobody for so long makes room, as if it had never been there.
 */
static int renewed_slot(struct wp_segment *segment, uint64_t key)
{
	uint64_t now_ns = word_read(&segment->header.sweep_ns);

	for (int slot = 0; slot < (int)DEVICE_SLOTS; slot++) {
		uint64_t *words = (uint64_t *)&segment->devices[slot];
		uint64_t seen = word_read(&segment->devices[slot].key);

		if (stamp_age_ns(word_read(&segment->devices[slot].look_ns), now_ns) <
			    UNUSED_NS ||
		    !word_replace(&segment->devices[slot].key, seen, key))
			continue;
		for (size_t i = 1; i < sizeof(struct wp_device) / sizeof(*words); i++)
			word_write(&words[i], 0);
		word_write(&segment->devices[slot].look_ns, now_ns);
		return slot;
	}
	return -1;
}

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
	return renewed_slot(segment, key);
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
	return min_u64(word_level(&device->outstanding_bytes), DEVICE_BELIEF_BYTES);
}

uint64_t device_inflight_bytes(const struct wp_device *device)
{
	return min_u64(word_level(&device->inflight_bytes), DEVICE_BELIEF_BYTES);
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

bool device_is_measured(const struct wp_device *device, uint64_t now_ns)
{
	return stamp_age_ns(word_read(&device->stat_ns), now_ns) < DEVICE_STAT_FRESH_NS;
}

void device_looked(struct wp_device *device, bool wanted, uint64_t patience_ns,
		   uint64_t now_ns)
{
	bool overdue = now_ns > word_read(&device->start_ns) + patience_ns;
	uint64_t last_ns = word_exchange(&device->look_ns, now_ns);

	if (!wanted || now_ns > last_ns + patience_ns ||
	    (overdue && !device_inflight_bytes(device) &&
	     !device_orphans_inflight_bytes(device, now_ns)))
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
	mend_sample(&control->fall.stamp_ns, &control->fall.written_bytes, sample->now_ns,
		    sample->written_bytes);
	mend_sample(&control->begin_ns, &control->begin_written_bytes, sample->now_ns,
		    sample->written_bytes);
	if (control->speed.begin_ns)
		mend_sample(&control->speed.begin_ns, &control->speed.begin_written_bytes,
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
		.late_ns = word_read(&device->late_ns),
		.others_bps = device_is_measured(device, now_ns) ?
				      word_read(&device->others_bps) :
				      0,
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
