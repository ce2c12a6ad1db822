/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/turn.h"

#include "base/order.h"
#include "base/stamp.h"

#define LEFT_MASK UINT64_C(0xffffffff) /* pages left; the file's name above them */

/* Its key in 32 bits. Why a mere name: two files that share one share a turn, that is all. */
static uint64_t name_of(const struct wp_file *file)
{
	return (word_read(&file->key) * UINT64_C(0x9e3779b97f4a7c15)) >> 32 | 1;
}

static uint64_t turn_of(uint64_t name, uint64_t bytes)
{
	return name << 32 | min_u64(bytes / WP_PAGE_BYTES, LEFT_MASK);
}

static bool is_lately(const uint64_t *stamp_ns, uint64_t span_ns, uint64_t now_ns)
{
	return stamp_age_ns(word_read(stamp_ns), now_ns) < span_ns;
}

/* Others who have more to start were here lately. */
static bool goes_before(const struct wp_device *device, bool mine, uint64_t dirty_bytes,
			uint64_t now_ns)
{
	return is_lately(&device->turn_wanted_ns, TURN_WANTED_NS, now_ns) &&
	       (mine || word_read(&device->turn_wanted_bytes) > dirty_bytes);
}

static void want(struct wp_device *device, uint64_t dirty_bytes, uint64_t now_ns)
{
	word_write(&device->turn_wanted_ns, now_ns);
	if (dirty_bytes > word_read(&device->turn_wanted_bytes))
		word_write(&device->turn_wanted_bytes, dirty_bytes);
}

bool turn_take(struct wp_device *device, const struct wp_file *file, uint64_t dirty_bytes,
	       uint64_t slice_bytes, uint64_t now_ns)
{
	uint64_t name = name_of(file);
	uint64_t turn = word_read(&device->turn);
	bool mine = turn >> 32 == name;
	bool over = !(turn & LEFT_MASK);
	uint64_t wanted_bytes = word_read(&device->turn_wanted_bytes);

	if (mine && !over) {
		word_write(&device->turn_ns, now_ns);
		return true;
	}
	if (is_lately(&device->turn_ns, TURN_ABSENT_NS, now_ns) &&
	    (!over || goes_before(device, mine, dirty_bytes, now_ns))) {
		if (!mine)
			want(device, dirty_bytes, now_ns);
		return word_read(&device->turn_wanted_bytes) < TURN_GAIN_BYTES;
	}
	if (!word_replace(&device->turn, turn,
			  turn_of(name, max_u64(slice_bytes, TURN_SLICE_BYTES))))
		return false;
	word_write(&device->turn_ns, now_ns);
	word_write(&device->turn_wanted_bytes, wanted_bytes / 2);
	return true;
}

bool turn_holds(const struct wp_device *device, const struct wp_file *file)
{
	uint64_t turn = word_read(&device->turn);

	return turn >> 32 == name_of(file) && (turn & LEFT_MASK);
}

void turn_spend(struct wp_device *device, const struct wp_file *file, uint64_t bytes,
		uint64_t now_ns)
{
	uint64_t turn = word_read(&device->turn);
	uint64_t left_bytes = (turn & LEFT_MASK) * WP_PAGE_BYTES;

	if (turn >> 32 != name_of(file))
		return;
	word_write(&device->turn_ns, now_ns);
	word_replace(&device->turn, turn,
		     turn_of(turn >> 32, sub_u64(left_bytes, bytes)));
}

void turn_end(struct wp_device *device, const struct wp_file *file)
{
	uint64_t turn = word_read(&device->turn);

	if (turn >> 32 == name_of(file))
		word_replace(&device->turn, turn, turn_of(turn >> 32, 0));
}
