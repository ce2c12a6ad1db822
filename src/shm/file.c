/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/file.h"
#include "shm/orphan.h"

#include "base/order.h"
#include "base/stamp.h"
#include "shm/device.h"

#define INODE_MASK ((UINT64_C(1) << 56) - 1)
#define PROBES 16           /* slots looked at for one file */
#define SILENT_NS WP_SEC(1) /* design 5: every claim expires */
#define SWEEP_NS WP_SEC(1)
#define IN_USE_NS \
	WP_SEC(3) /* a device looked after so lately counts for the global limit */

static uint64_t key_of(int device_slot, uint64_t inode)
{
	return (uint64_t)(device_slot + 1) << 56 | (inode & INODE_MASK);
}

static uint64_t first_probe(uint64_t key)
{
	return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 51;
}

/* Below WP_DEVICES; -1: of none. */
static int key_device_slot(uint64_t key)
{
	return (int)(key >> 56) - 1;
}

bool file_is_silent(const struct wp_file *file, uint64_t now_ns)
{
	return stamp_age_ns(word_read(&file->seen_ns), now_ns) > SILENT_NS;
}

/* Nothing in it and nobody looking: the entry may serve another file. */
static bool is_idle(const struct wp_file *file, uint64_t now_ns)
{
	return !word_read(&file->accounted_bytes) && !word_read(&file->inflight_bytes) &&
	       file_is_silent(file, now_ns);
}

static void reset(struct wp_file *file)
{
	word_write(&file->lent_bytes, 0);
	word_write(&file->low_bytes, 0);
	word_write(&file->cursor_bytes, 0);
	word_write(&file->whole_ns, 0);
	word_write(&file->unseen, 0);
	word_write(&file->blind_bytes, 0);
	word_write(&file->blind_end_bytes, 0);
	word_write(&file->look_every_ns, 0);
}

int file_slot(struct wp_segment *segment, int device_slot, uint64_t inode)
{
	uint64_t key = key_of(device_slot, inode);
	uint64_t start = first_probe(key);
	uint64_t sweep_ns = word_read(&segment->header.sweep_ns);
	uint64_t idle_key = 0;
	int idle = -1;

	for (uint64_t i = 0; i < PROBES; i++) {
		uint64_t slot = (start + i) % WP_FILES;
		struct wp_file *file = &segment->files[slot];
		uint64_t seen = word_read(&file->key);

		if (seen == key)
			return (int)slot;
		if (idle < 0 && (!seen || is_idle(file, sweep_ns))) {
			idle = (int)slot;
			idle_key = seen;
		}
		if (!seen)
			break;
	}
	if (idle < 0)
		return -1;
	/* Why one try: a loser takes its file for one without an entry until its next look. */
	if (!word_replace(&segment->files[idle].key, idle_key, key))
		return -1;
	reset(&segment->files[idle]);
	return idle;
}

int file_find(const struct wp_segment *segment, int device_slot, uint64_t inode)
{
	uint64_t key = key_of(device_slot, inode);
	uint64_t start = first_probe(key);

	for (uint64_t i = 0; i < PROBES; i++) {
		uint64_t slot = (start + i) % WP_FILES;

		if (word_read(&segment->files[slot].key) == key)
			return (int)slot;
	}
	return -1;
}

bool file_is(const struct wp_segment *segment, int file_slot, int device_slot,
	     uint64_t inode)
{
	return file_slot >= 0 && file_slot < (int)WP_FILES &&
	       word_read(&segment->files[file_slot].key) == key_of(device_slot, inode);
}

/* What was lent while the file was silent is its own again, as far as it is still there. */
static void take_back(struct wp_file *file, struct wp_device *device,
		      uint64_t present_bytes)
{
	uint64_t accounted_bytes = word_read(&file->accounted_bytes);
	uint64_t orphan_bytes;
	uint64_t bytes;

	if (!word_read(&file->lent_bytes))
		return;
	bytes = min_u64(word_exchange(&file->lent_bytes, 0),
			sub_u64(present_bytes, accounted_bytes));
	/* Why no more than there are: the orphans they became may have been drained by estimate. */
	orphan_bytes = min_u64(bytes, word_level(&device->orphan_bytes));
	word_add(&file->accounted_bytes, bytes);
	word_add(&device->outstanding_bytes, bytes - orphan_bytes);
	word_add(&device->orphan_bytes, -orphan_bytes);
}

static void set_inflight(struct wp_file *file, struct wp_device *device, uint64_t bytes)
{
	uint64_t old = word_exchange(&file->inflight_bytes, bytes);

	word_add(&device->inflight_bytes, bytes - old);
}

/* What others charged is dirt as far as the file has more than is accounted for. */
static uint64_t found(const struct wp_file *file, const struct file_look *look)
{
	uint64_t known_bytes = word_read(&file->accounted_bytes) + look->dirtied_bytes;

	return min_u64(look->others_bytes, sub_u64(look->present_bytes, known_bytes));
}

void file_settle(struct wp_file *file, struct wp_device *device, struct file_look *look)
{
	uint64_t dirtied_bytes;
	uint64_t old;
	uint64_t new;

	word_write(&file->seen_ns, look->now_ns);
	take_back(file, device, look->present_bytes);
	look->found_bytes = found(file, look);
	dirtied_bytes = look->dirtied_bytes + look->found_bytes;
	device_dirtied(device, dirtied_bytes);
	for (int tries = 0; tries < 8; tries++) {
		old = word_read(&file->accounted_bytes);
		new = min_u64(old + dirtied_bytes, look->present_bytes);
		if (!word_replace(&file->accounted_bytes, old, new))
			continue;
		look->completed_bytes = old + dirtied_bytes - new;
		device_completed(device, look->completed_bytes, look->now_ns);
		break;
	}
	set_inflight(file, device, look->inflight_bytes);
}

void file_dirtied(struct wp_file *file, struct wp_device *device, uint64_t bytes,
		  uint64_t now_ns)
{
	device_dirtied(device, bytes);
	word_add(&file->accounted_bytes, bytes);
	word_write(&device->unseen_ns, now_ns);
}

void file_cancelled(struct wp_file *file, struct wp_device *device,
		    uint64_t present_bytes)
{
	word_write(&file->low_bytes, 0);
	word_write(&file->cursor_bytes, 0);
	for (int tries = 0; tries < 8; tries++) {
		uint64_t old = word_read(&file->accounted_bytes);

		if (old <= present_bytes)
			return;
		if (word_replace(&file->accounted_bytes, old, present_bytes)) {
			device_cancelled(device, old - present_bytes);
			return;
		}
	}
}

uint64_t file_vanished(struct wp_file *file, struct wp_device *device)
{
	uint64_t bytes = min_u64(word_exchange(&file->lent_bytes, 0),
				 word_level(&device->orphan_bytes));

	word_add(&device->orphan_bytes, -bytes);
	device_cancelled(device, bytes);
	return bytes;
}

void file_started(struct wp_file *file, struct wp_device *device, uint64_t bytes)
{
	word_add(&file->inflight_bytes, bytes);
	word_add(&device->inflight_bytes, bytes);
}

void file_release(struct wp_file *file, struct wp_device *device)
{
	set_inflight(file, device, 0);
}

void file_abandon(struct wp_file *file, struct wp_device *device, uint64_t now_ns)
{
	uint64_t bytes = word_exchange(&file->accounted_bytes, 0);

	device_orphaned(device, bytes, now_ns);
	set_inflight(file, device, 0);
	word_write(&file->lent_bytes, bytes);
	/* Why: whoever opens it next may well write it anew from its beginning. */
	word_write(&file->low_bytes, 0);
	word_write(&file->cursor_bytes, 0);
	word_write(&file->blind_bytes, 0);
	word_write(&file->blind_end_bytes, 0);
}

static void mend(uint64_t *sum, uint64_t *found_before, uint64_t found)
{
	/* Why twice: an addition may be under way between a file's word and the sum. */
	if (found && found == *found_before)
		word_add(sum, -found);
	*found_before = found;
}

/* Bytes of no file, or of one on no device, are damage: the entry would never be idle. */
static void forget_nobodys(struct wp_file *file)
{
	if (word_read_relaxed(&file->accounted_bytes))
		word_write(&file->accounted_bytes, 0);
	if (word_read_relaxed(&file->inflight_bytes))
		word_write(&file->inflight_bytes, 0);
}

/* One pass over the files: lend what is silent, add up what is not. */
static void sweep_files(struct wp_segment *segment, uint64_t now_ns)
{
	for (uint64_t slot = 0; slot < WP_FILES; slot++) {
		struct wp_file *file = &segment->files[slot];
		uint64_t key = word_read_relaxed(&file->key);
		int device_slot = key_device_slot(key);
		struct wp_device *device;

		if (device_slot < 0) {
			forget_nobodys(file);
			continue;
		}
		device = &segment->devices[device_real_slot(segment, device_slot)];
		if (file_is_silent(file, now_ns) && (word_read(&file->accounted_bytes) ||
						     word_read(&file->inflight_bytes)))
			file_abandon(file, device, now_ns);
		word_add(&device->sweep_accounted_bytes,
			 word_read(&file->accounted_bytes));
		word_add(&device->sweep_inflight_bytes, word_read(&file->inflight_bytes));
	}
}

static void mend_device(struct wp_device *device)
{
	uint64_t outstanding_bytes = word_read(&device->outstanding_bytes);
	uint64_t inflight_bytes = word_read(&device->inflight_bytes);

	mend(&device->outstanding_bytes, &device->outstanding_off,
	     outstanding_bytes - word_read(&device->orphan_bytes) -
		     word_exchange(&device->sweep_accounted_bytes, 0));
	mend(&device->inflight_bytes, &device->inflight_off,
	     inflight_bytes - word_exchange(&device->sweep_inflight_bytes, 0));
}

/* What all devices together hold and can do, for the global limit. */
static void sum_devices(struct wp_segment *segment, uint64_t now_ns)
{
	uint64_t in_use_bps = 0;
	uint64_t outstanding_bytes = 0;

	for (uint64_t slot = 0; slot < WP_DEVICES; slot++) {
		const struct wp_device *device = &segment->devices[slot];
		struct control control;

		if (!word_read(&device->key))
			continue;
		outstanding_bytes += device_outstanding_bytes(device);
		if (stamp_age_ns(word_read(&device->look_ns), now_ns) > IN_USE_NS)
			continue;
		device_control(device, &control);
		in_use_bps += control.bandwidth.avg_bps;
	}
	word_write(&segment->header.bandwidth_in_use_bps, in_use_bps);
	word_write(&segment->header.outstanding_bytes, outstanding_bytes);
}

void file_sweep(struct wp_segment *segment, uint64_t now_ns)
{
	uint64_t last_ns = word_read(&segment->header.sweep_ns);

	/* Why not with the usual slack: a sweep too many costs little, none for that long a lot. */
	if (sub_u64(now_ns, last_ns) < SWEEP_NS && sub_u64(last_ns, now_ns) < SWEEP_NS)
		return;
	if (!word_replace(&segment->header.sweep_ns, last_ns, now_ns))
		return;
	sweep_files(segment, now_ns);
	sum_devices(segment, now_ns);
	/* Why also what has no key: somebody may be at it, and its key be damaged. */
	for (uint64_t slot = 0; slot < WP_DEVICES; slot++)
		mend_device(&segment->devices[slot]);
}
