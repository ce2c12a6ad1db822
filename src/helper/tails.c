/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/tails.h"

#include <errno.h>
#include <unistd.h>

#include "base/fixed.h"
#include "core/control.h"
#include "flush/flush.h"
#include "helper/holder.h"
#include "shm/device.h"
#include "shm/file.h"

#define KEY_SLOT_SHIFT 56     /* the device's slot + 1 in a file's key */
#define GIVE_UP_NS WP_SEC(35) /* nothing became clean: the device is gone, or refuses */
#define STEP_MIN_NS WP_MS(2)
#define STEP_MAX_NS WP_MS(20)

/* Has anybody else looked at the file since, or did the entry become another's? */
static bool is_still_ours(const struct tail *tail, const struct wp_file *file)
{
	return word_read(&file->key) == tail->key &&
	       word_read(&file->seen_ns) == tail->seen_ns;
}

static bool is_known(const struct tails *tails, int slot)
{
	for (unsigned i = 0; i < tails->count; i++) {
		if (tails->list[i].slot == slot)
			return true;
	}
	return false;
}

static void drop_others(struct tails *tails, const struct helper *helper)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < tails->count; i++) {
		struct tail *tail = &tails->list[i];

		if (is_still_ours(tail, &helper->map->files[tail->slot]))
			tails->list[kept++] = *tail;
	}
	tails->count = kept;
}

/* Something is left in it that its writer does not start. */
static bool is_tail(const struct wp_file *file, uint64_t now_ns)
{
	return (word_read(&file->unseen) || file_is_silent(file, now_ns)) &&
	       (word_read(&file->accounted_bytes) || word_read(&file->lent_bytes));
}

void tails_find(struct tails *tails, const struct helper *helper, uint64_t now_ns)
{
	drop_others(tails, helper);
	for (int slot = 0; slot < (int)WP_FILES && tails->count < TAILS; slot++) {
		const struct wp_file *file = &helper->map->files[slot];
		uint64_t key = word_read_relaxed(&file->key);

		if (!(key >> KEY_SLOT_SHIFT) || !word_read(&file->holder) ||
		    !is_tail(file, now_ns) || is_known(tails, slot))
			continue;
		tails->list[tails->count++] = (struct tail){
			.slot = slot,
			.key = key,
			.seen_ns = word_read(&file->seen_ns),
			.left_bytes = UINT64_MAX,
			.progress_ns = now_ns,
		};
	}
}

static struct wp_device *device_of(const struct tail *tail, const struct helper *helper)
{
	int slot = device_real_slot(helper->map, (int)(tail->key >> KEY_SLOT_SHIFT) - 1);

	return &helper->map->devices[slot];
}

/*
 * Look and start what is due, on a descriptor that lives no longer than that. Returns what is
 * dirty or in flight, or a negative errno.
 */
static int64_t look_and_start(const struct helper *helper, const struct tail *tail,
			      const struct flush_pace *pace, struct file_look *look)
{
	struct flush_file flush = {
		.file = &helper->map->files[tail->slot],
		.device = device_of(tail, helper),
	};
	int64_t result;

	flush.fd = holder_open(helper, flush.file, &flush.size_bytes);
	if (flush.fd < 0)
		return -ENOENT;
	result = flush_look(&flush, look);
	if (result > 0)
		result = flush_start(&flush, (uint64_t)result, pace);
	close(flush.fd);
	return result < 0 ? result : (int64_t)look->present_bytes;
}

static void note_progress(struct tail *tail, const struct helper *helper,
			  const struct file_look *look)
{
	struct wp_file *file = &helper->map->files[tail->slot];

	if (look->present_bytes < tail->left_bytes || look->completed_bytes)
		tail->progress_ns = look->now_ns;
	tail->left_bytes = look->present_bytes;
	if (look->now_ns < tail->progress_ns + GIVE_UP_NS)
		return;
	/* Why remembered: it would be found again in a second, for ever. */
	tail->given_up = true;
	file_abandon(file, device_of(tail, helper), look->now_ns);
}

/* One look at one file. False when there is nothing more to do for it. */
static bool step(struct tail *tail, const struct helper *helper,
		 const struct control *control, uint64_t now_ns)
{
	struct wp_file *file = &helper->map->files[tail->slot];
	struct flush_pace pace = flush_pace_of(control, now_ns);
	uint64_t holder = word_read(&file->holder);
	struct file_look look = { .now_ns = now_ns };
	int64_t left_bytes = look_and_start(helper, tail, &pace, &look);

	if (left_bytes < 0) {
		/* Closed, gone, not for us to read or to start: nobody need try again. */
		word_replace(&file->holder, holder, 0);
		file_abandon(file, device_of(tail, helper), now_ns);
		return false;
	}
	tail->seen_ns = now_ns;
	if (left_bytes)
		note_progress(tail, helper, &look);
	/* Why not done with one that is clean: only we can see that it is dirty again. */
	return left_bytes || word_read(&file->unseen);
}

static uint64_t patience_ns(const struct control *control)
{
	uint64_t unit_bytes = flush_pace_of(control, 0).unit_bytes;

	return clamp_u64(
		bytes_to_ns(unit_bytes, bandwidth_likely_bps(&control->bandwidth)) / 2,
		STEP_MIN_NS, STEP_MAX_NS);
}

uint64_t tails_step(struct tails *tails, const struct helper *helper, uint64_t now_ns)
{
	bool served[WP_DEVICES] = { false };
	uint64_t wait_ns = 0;

	drop_others(tails, helper);
	for (unsigned i = 0; i < tails->count; i++) {
		struct tail *tail = &tails->list[i];
		struct wp_device *device = device_of(tail, helper);
		bool *done = &served[device - helper->map->devices];
		struct control control;

		if (tail->given_up || *done)
			continue;
		*done = true;
		device_control(device, &control);
		wait_ns = wait_ns ? min_u64(wait_ns, patience_ns(&control)) :
				    patience_ns(&control);
		if (!step(tail, helper, &control, now_ns))
			tail->key =
				0; /* dropped the next time; then another has its turn */
	}
	return wait_ns;
}
