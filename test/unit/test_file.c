/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: a model of the page cache that knows what is really dirty. Whatever the order in which
 * two writers write, ask and settle and the device completes, the totals must end exact. Then
 * lending, mending and a full table by hand.
 */
#include "unit.h"

#include <stdlib.h>

#include "base/order.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/orphan.h"

#define NOW WP_SEC(1000)

static int new_segment(void **state)
{
	*state = calloc(1, sizeof(struct wp_segment));
	return *state ? 0 : -1;
}

static int free_segment(void **state)
{
	free(*state);
	return 0;
}

/* ------------------------------------------------------ settling, in every order -- */

enum event { WRITE, ASK, SETTLE };

/* One writer: what it does in turn, and what it knows. */
struct writer {
	const enum event *script;
	uint64_t each_bytes;
	uint64_t unreported_bytes;
	struct file_look look;
	unsigned done;
};

struct world {
	struct wp_device device;
	struct wp_file file;
	struct writer writers[2];
	uint64_t present_bytes; /* what is really there */
	uint64_t dirtied_bytes;
	uint64_t completed_bytes;
	unsigned completions;
};

#define COMPLETIONS 2

static const uint64_t completion_bytes[COMPLETIONS] = { 70, 90 };
static unsigned long orders;

static void look_at_once(struct world *world, struct writer *writer)
{
	struct file_look look = {
		.present_bytes = world->present_bytes,
		.dirtied_bytes = writer->unreported_bytes,
		.now_ns = NOW,
	};

	writer->unreported_bytes = 0;
	file_settle(&world->file, &world->device, &look);
}

static void complete(struct world *world, uint64_t bytes)
{
	bytes = min_u64(bytes, world->present_bytes);
	world->present_bytes -= bytes;
	world->completed_bytes += bytes;
}

static void act(struct world *world, struct writer *writer)
{
	switch (writer->script[writer->done++]) {
	case WRITE:
		writer->unreported_bytes += writer->each_bytes;
		world->dirtied_bytes += writer->each_bytes;
		world->present_bytes += writer->each_bytes;
		break;
	case ASK:
		writer->look = (struct file_look){
			.present_bytes = world->present_bytes,
			.dirtied_bytes = writer->unreported_bytes,
			.now_ns = NOW,
		};
		writer->unreported_bytes = 0;
		break;
	case SETTLE:
		file_settle(&world->file, &world->device, &writer->look);
		break;
	}
}

static void assert_exact(struct world *world)
{
	assert_int_equal(world->device.dirtied_bytes, world->dirtied_bytes);
	assert_int_equal(world->device.written_bytes, world->completed_bytes);
	assert_int_equal(world->device.outstanding_bytes, world->present_bytes);
	assert_int_equal(world->file.accounted_bytes, world->present_bytes);
}

/* Everybody has looked once more, and everything has been written after that. */
static void end(struct world *world, bool exact_now)
{
	orders++;
	look_at_once(world, &world->writers[0]);
	look_at_once(world, &world->writers[1]);
	if (exact_now)
		assert_exact(world);
	complete(world, UINT64_MAX);
	look_at_once(world, &world->writers[0]);
	assert_exact(world);
}

/* Try every order of what is left to happen. */
static void every_order(const struct world *before, unsigned events, bool exact_now)
{
	struct world world;
	bool more = false;

	for (int i = 0; i < 2; i++) {
		if (before->writers[i].done == events)
			continue;
		more = true;
		world = *before;
		act(&world, &world.writers[i]);
		assert_true((int64_t)world.device.outstanding_bytes >= 0);
		every_order(&world, events, exact_now);
	}
	if (before->completions < COMPLETIONS) {
		more = true;
		world = *before;
		complete(&world, completion_bytes[world.completions++]);
		every_order(&world, events, exact_now);
	}
	if (!more) {
		world = *before;
		end(&world, exact_now);
	}
}

static struct world two_writers(const enum event *script)
{
	return (struct world){
		.writers = {
			{ .script = script, .each_bytes = 100 },
			{ .script = script, .each_bytes = 50 },
		},
	};
}

TEST(totals_end_exact_where_answers_are_stale_when_settled)
{
	static const enum event script[] = { WRITE, ASK, SETTLE, WRITE, ASK, SETTLE };
	struct world world = two_writers(script);

	orders = 0;
	every_order(&world, 6, false);
	assert_int_equal(orders, 84084); /* 14! / (6! 6! 2!) */
}

/* Both writers look whenever they look, without a stale answer: exact from then on. */
static void every_turn(const struct world *before, unsigned turns)
{
	struct world world;

	if (!turns) {
		world = *before;
		end(&world, true);
		return;
	}
	for (int turn = 0; turn < 5; turn++) {
		struct writer *writer = &world.writers[turn % 2];

		world = *before;
		if (turn < 2)
			act(&world, writer);
		else if (turn < 4)
			look_at_once(&world, writer);
		else
			complete(&world, 70);
		every_turn(&world, turns - 1);
	}
}

TEST(looks_at_once_are_exact_as_soon_as_both_have_looked)
{
	static const enum event script[] = { WRITE, WRITE, WRITE, WRITE, WRITE, WRITE };
	struct world world = two_writers(script);

	orders = 0;
	every_turn(&world, 6);
	assert_int_equal(orders, 15625); /* 5^6 */
}

TEST(what_others_charged_is_dirt_as_far_as_it_is_there)
{
	struct wp_device device = { 0 };
	struct wp_file file = { 0 };
	struct file_look look = { .present_bytes = 100,
				  .dirtied_bytes = 100,
				  .now_ns = NOW };

	file_settle(&file, &device, &look);
	look = (struct file_look){ .present_bytes = 180,
				   .dirtied_bytes = 30,
				   .others_bytes = 100 };
	file_settle(&file, &device, &look);
	assert_int_equal(device.dirtied_bytes, 180);
	assert_int_equal(file.accounted_bytes, 180);
	look = (struct file_look){ .present_bytes = 250,
				   .dirtied_bytes = 30,
				   .others_bytes = 20 };
	file_settle(&file, &device, &look);
	assert_int_equal(device.dirtied_bytes, 230);
	assert_int_equal(file.accounted_bytes, 230);
	/* it dirtied nothing new: the rest is less than what is known of */
	look = (struct file_look){ .present_bytes = 200, .others_bytes = 70 };
	file_settle(&file, &device, &look);
	assert_int_equal(device.dirtied_bytes, 230);
	assert_int_equal(file.accounted_bytes, 200);
	assert_int_equal(device.written_bytes, 30);
	assert_int_equal(device.outstanding_bytes, 200);
}

TEST(settle_moves_the_flight)
{
	struct wp_device device = { 0 };
	struct wp_file file = { 0 };
	struct file_look look = { .present_bytes = 100,
				  .dirtied_bytes = 100,
				  .now_ns = NOW };

	file_settle(&file, &device, &look);
	file_started(&file, &device, 60);
	assert_int_equal(device.inflight_bytes, 60);
	assert_int_equal(file.inflight_bytes, 60);
	look = (struct file_look){ .present_bytes = 70,
				   .inflight_bytes = 30,
				   .now_ns = NOW + 9 };
	file_settle(&file, &device, &look);
	assert_int_equal(device.inflight_bytes, 30);
	assert_int_equal(file.inflight_bytes, 30);
	assert_int_equal(device.written_bytes, 30);
	assert_int_equal(device.progress_ns, NOW + 9);
	assert_int_equal(file.seen_ns, NOW + 9);
}

/* -------------------------------------------------------------- lent, taken back -- */

struct pair {
	struct wp_segment *segment;
	struct wp_device *device;
	struct wp_file *file;
};

static void settle(struct pair *pair, uint64_t present_bytes, uint64_t dirtied_bytes,
		   uint64_t now_ns)
{
	struct file_look look = {
		.present_bytes = present_bytes,
		.dirtied_bytes = dirtied_bytes,
		.now_ns = now_ns,
	};

	file_settle(pair->file, pair->device, &look);
}

/* A file with 100 bytes outstanding, 40 of them in flight, last seen NOW. */
static struct pair file_of_100(struct wp_segment *segment)
{
	struct pair pair = { .segment = segment };
	int device = device_slot(segment, 0x801);
	int file = file_slot(segment, device, 42);

	assert_in_range(device, 0, WP_DEVICES - 1);
	assert_in_range(file, 0, WP_FILES - 1);
	pair.device = &segment->devices[device];
	pair.file = &segment->files[file];
	settle(&pair, 100, 100, NOW);
	file_started(pair.file, pair.device, 40);
	return pair;
}

static void assert_sums(const struct pair *pair, uint64_t outstanding_bytes,
			uint64_t orphan_bytes, uint64_t accounted_bytes)
{
	assert_int_equal(pair->device->outstanding_bytes, outstanding_bytes);
	assert_int_equal(pair->device->orphan_bytes, orphan_bytes);
	assert_int_equal(pair->file->accounted_bytes, accounted_bytes);
}

static void abandoned_bytes_become_orphans(void **state)
{
	struct pair pair = file_of_100(*state);

	file_abandon(pair.file, pair.device, NOW + 1);
	assert_sums(&pair, 100, 100, 0);
	assert_int_equal(pair.device->inflight_bytes, 0);
	assert_int_equal(pair.device->written_bytes, 0);
}

/* A program that opens it anew may write it from its beginning, within the same second. */
static void abandoned_file_is_looked_at_whole_again(void **state)
{
	struct pair pair = file_of_100(*state);

	pair.file->low_bytes = WP_MIB(8);
	pair.file->cursor_bytes = WP_MIB(9);
	file_abandon(pair.file, pair.device, NOW + 1);
	assert_int_equal(pair.file->low_bytes, 0);
	assert_int_equal(pair.file->cursor_bytes, 0);
}

static void looked_at_again_they_are_the_files_own(void **state)
{
	struct pair pair = file_of_100(*state);

	file_abandon(pair.file, pair.device, NOW + 1);
	settle(&pair, 100, 0, NOW + 2);
	assert_sums(&pair, 100, 0, 100);
	assert_int_equal(pair.device->written_bytes, 0);
	/* once only: what is there beyond that is dirt not reported yet */
	settle(&pair, 150, 0, NOW + 3);
	assert_sums(&pair, 100, 0, 100);
}

static void what_completed_meanwhile_stays_an_orphan(void **state)
{
	struct pair pair = file_of_100(*state);

	file_abandon(pair.file, pair.device, NOW + 1);
	settle(&pair, 70, 0, NOW + 2);
	assert_sums(&pair, 100, 30, 70);
}

static void no_more_than_is_there_is_taken_back(void **state)
{
	struct pair pair = file_of_100(*state);

	/* another writer of the file has settled 60 of its own since */
	file_abandon(pair.file, pair.device, NOW + 1);
	device_dirtied(pair.device, 60);
	pair.file->accounted_bytes = 60;
	settle(&pair, 100, 0, NOW + 2);
	assert_sums(&pair, 160, 60, 100);
	assert_int_equal(pair.device->written_bytes, 0);
}

static void new_dirt_is_not_taken_for_what_was_lent(void **state)
{
	struct pair pair = file_of_100(*state);

	file_abandon(pair.file, pair.device, NOW + 1);
	settle(&pair, 150, 50, NOW + 2);
	assert_sums(&pair, 150, 0, 150);
	settle(&pair, 0, 0, NOW + 3);
	assert_sums(&pair, 0, 0, 0);
	assert_int_equal(pair.device->written_bytes, 150);
	assert_int_equal(pair.device->dirtied_bytes, 150);
}

static void what_was_drained_by_estimate_comes_back(void **state)
{
	struct pair pair = file_of_100(*state);

	file_abandon(pair.file, pair.device, NOW);
	/* 100 ms at 600 bytes per second: 60 */
	device_drain_orphans(pair.device, 600, NOW + WP_MS(100));
	assert_sums(&pair, 40, 40, 0);
	settle(&pair, 100, 0, NOW + WP_MS(101));
	assert_sums(&pair, 100, 0, 100);
}

/* --------------------------------------------------------------------- the sweep -- */

static void what_was_cut_off_is_no_completion(void **state)
{
	struct pair pair = file_of_100(*state);

	pair.file->low_bytes = 10;
	file_cancelled(pair.file, pair.device, 30);
	assert_sums(&pair, 30, 0, 30);
	assert_int_equal(pair.device->written_bytes, 0);
	assert_int_equal(pair.file->low_bytes, 0);
	/* more than is accounted for is dirt not reported yet */
	file_cancelled(pair.file, pair.device, 70);
	assert_sums(&pair, 30, 0, 30);
}

static void vanished_file_takes_its_orphans_along(void **state)
{
	struct pair pair = file_of_100(*state);

	file_abandon(pair.file, pair.device, NOW + 1);
	device_dirtied(pair.device, 50);
	device_orphaned(pair.device, 50, NOW + 1);
	assert_int_equal(file_vanished(pair.file, pair.device), 100);
	assert_sums(&pair, 50, 50, 0);
	assert_int_equal(pair.device->written_bytes, 0);
	assert_int_equal(file_vanished(pair.file, pair.device), 0);
}

static void what_was_drained_by_estimate_does_not_vanish_again(void **state)
{
	struct pair pair = file_of_100(*state);

	file_abandon(pair.file, pair.device, NOW + 1);
	word_add(&pair.device->orphan_bytes, -(uint64_t)80);
	word_add(&pair.device->outstanding_bytes, -(uint64_t)80);
	assert_int_equal(file_vanished(pair.file, pair.device), 20);
	assert_sums(&pair, 0, 0, 0);
}

static void unseen_dirt_completes_at_the_looks_of_another(void **state)
{
	struct pair pair = file_of_100(*state);

	file_dirtied(pair.file, pair.device, 1000, NOW + 1);
	file_dirtied(pair.file, pair.device, 500, NOW + 2);
	assert_sums(&pair, 1600, 0, 1600);
	assert_int_equal(pair.device->unseen_ns, NOW + 2);
	settle(&pair, 600, 0, NOW + 3);
	assert_sums(&pair, 600, 0, 600);
	assert_int_equal(pair.device->written_bytes, 1000);
}

static void finding_claims_nothing(void **state)
{
	struct wp_segment *segment = *state;
	struct pair pair = file_of_100(segment);

	assert_int_equal(device_find(segment, 0x802), -1);
	assert_ptr_equal(&segment->devices[device_find(segment, 0x801)], pair.device);
	assert_int_equal(file_find(segment, device_find(segment, 0x801), 43), -1);
	assert_ptr_equal(
		&segment->files[file_find(segment, device_find(segment, 0x801), 42)],
		pair.file);
	assert_int_equal(device_slot(segment, 0x802) >= 0, 1);
}

static void sweep_lends_what_is_silent(void **state)
{
	struct pair pair = file_of_100(*state);

	file_sweep(pair.segment, NOW + WP_SEC(1));
	assert_sums(&pair, 100, 0, 100);
	file_sweep(pair.segment, NOW + WP_SEC(2));
	assert_sums(&pair, 100, 100, 0);
	assert_int_equal(pair.device->inflight_bytes, 0);
	assert_int_equal(pair.file->inflight_bytes, 0);
}

static void sweep_leaves_right_sums_alone(void **state)
{
	struct pair pair = file_of_100(*state);

	for (uint64_t i = 1; i < 10; i++) {
		settle(&pair, 100, 0, NOW + WP_SEC(i));
		file_started(pair.file, pair.device, 40);
		file_sweep(pair.segment, NOW + WP_SEC(i));
		assert_sums(&pair, 100, 0, 100);
		assert_int_equal(pair.device->inflight_bytes, 40);
	}
}

static void sweep_leaves_orphans_alone(void **state)
{
	struct pair pair = file_of_100(*state);

	file_abandon(pair.file, pair.device, NOW);
	for (uint64_t i = 1; i < 5; i++)
		file_sweep(pair.segment, NOW + WP_SEC(i));
	assert_sums(&pair, 100, 100, 0);
}

static void sweep_mends_what_it_finds_twice(void **state)
{
	struct pair pair = file_of_100(*state);

	pair.device->outstanding_bytes += 7;
	pair.device->inflight_bytes += 3;
	pair.file->seen_ns = NOW + WP_SEC(10);
	file_sweep(pair.segment, NOW + WP_SEC(1));
	assert_sums(&pair, 107, 0, 100);
	assert_int_equal(pair.device->inflight_bytes, 43);
	file_sweep(pair.segment, NOW + WP_SEC(2));
	assert_sums(&pair, 100, 0, 100);
	assert_int_equal(pair.device->inflight_bytes, 40);
	file_sweep(pair.segment, NOW + WP_SEC(3));
	assert_sums(&pair, 100, 0, 100);
}

static void sweep_mends_what_is_too_little_as_well(void **state)
{
	struct pair pair = file_of_100(*state);

	pair.device->outstanding_bytes -= 120;
	pair.file->seen_ns = NOW + WP_SEC(10);
	file_sweep(pair.segment, NOW + WP_SEC(1));
	file_sweep(pair.segment, NOW + WP_SEC(2));
	assert_sums(&pair, 100, 0, 100);
}

static void sweep_does_not_mend_what_is_different_each_time(void **state)
{
	struct pair pair = file_of_100(*state);

	pair.file->seen_ns = NOW + WP_SEC(10);
	for (uint64_t i = 1; i < 6; i++) {
		pair.device->outstanding_bytes = 100 + i;
		file_sweep(pair.segment, NOW + WP_SEC(i));
		assert_int_equal(pair.device->outstanding_bytes, 100 + i);
	}
}

static void sweep_is_made_once_a_second(void **state)
{
	struct pair pair = file_of_100(*state);

	file_sweep(pair.segment, NOW);
	pair.file->seen_ns = 0;
	file_sweep(pair.segment, NOW + WP_SEC(1) - 1);
	assert_sums(&pair, 100, 0, 100);
	file_sweep(pair.segment, NOW + WP_SEC(1));
	assert_sums(&pair, 100, 100, 0);
}

static void sweep_of_the_far_future_does_not_stop_the_next(void **state)
{
	struct pair pair = file_of_100(*state);

	pair.segment->header.sweep_ns = NOW + WP_SEC(100);
	file_sweep(pair.segment, NOW + WP_SEC(2));
	assert_sums(&pair, 100, 100, 0);
}

/* --------------------------------------------------------------------- the table -- */

static void file_has_one_slot(void **state)
{
	struct wp_segment *segment = *state;
	int slot = file_slot(segment, 3, 42);

	assert_in_range(slot, 0, WP_FILES - 1);
	assert_int_equal(file_slot(segment, 3, 42), slot);
	assert_int_not_equal(file_slot(segment, 4, 42), slot);
	assert_int_not_equal(file_slot(segment, 3, 43), slot);
	assert_true(file_is(segment, slot, 3, 42));
	assert_false(file_is(segment, slot, 4, 42));
	assert_false(file_is(segment, slot, 3, 43));
	assert_false(file_is(segment, -1, 3, 42));
	assert_false(file_is(segment, (int)WP_FILES, 3, 42));
}

/* Enter files until one finds no room, all of them in use. Returns that inode. */
static uint64_t fill(struct wp_segment *segment)
{
	for (uint64_t inode = 1; inode <= WP_FILES + 1; inode++) {
		int slot = file_slot(segment, 0, inode);

		if (slot < 0)
			return inode;
		segment->files[slot].accounted_bytes = 1;
		segment->files[slot].seen_ns = NOW;
	}
	fail_msg("more files than slots");
	return 0;
}

static void full_table_is_said_and_the_old_ones_are_found(void **state)
{
	struct wp_segment *segment = *state;
	uint64_t inode = fill(segment);

	/* 16 neighbours in use is not before half of the table is */
	assert_in_range(inode, WP_FILES / 2, WP_FILES + 1);
	assert_int_equal(file_slot(segment, 0, inode), -1);
	for (uint64_t old = 1; old < inode; old++)
		assert_true(file_is(segment, file_slot(segment, 0, old), 0, old));
}

static void idle_entry_serves_another_file(void **state)
{
	struct wp_segment *segment = *state;
	uint64_t inode = fill(segment);
	int slot;

	segment->header.sweep_ns = NOW + WP_SEC(2);
	assert_int_equal(file_slot(segment, 0, inode), -1);
	for (unsigned i = 0; i < WP_FILES; i++) {
		segment->files[i].accounted_bytes = 0;
		segment->files[i].low_bytes = 5;
		segment->files[i].cursor_bytes = 5;
		segment->files[i].lent_bytes = 5;
		segment->files[i].whole_ns = 5;
	}
	slot = file_slot(segment, 0, inode);
	assert_in_range(slot, 0, WP_FILES - 1);
	assert_true(file_is(segment, slot, 0, inode));
	assert_int_equal(segment->files[slot].low_bytes, 0);
	assert_int_equal(segment->files[slot].cursor_bytes, 0);
	assert_int_equal(segment->files[slot].lent_bytes, 0);
	assert_int_equal(segment->files[slot].whole_ns, 0);
}

static void entry_that_was_seen_lately_is_not_given_away(void **state)
{
	struct wp_segment *segment = *state;
	uint64_t inode = fill(segment);

	for (unsigned i = 0; i < WP_FILES; i++)
		segment->files[i].accounted_bytes = 0;
	segment->header.sweep_ns = NOW + WP_SEC(1);
	assert_int_equal(file_slot(segment, 0, inode), -1);
	segment->header.sweep_ns = NOW + WP_SEC(1) + 1;
	assert_int_not_equal(file_slot(segment, 0, inode), -1);
}

#define ON_SEGMENT(test) cmocka_unit_test_setup_teardown(test, new_segment, free_segment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_end_exact_where_answers_are_stale_when_settled),
		cmocka_unit_test(looks_at_once_are_exact_as_soon_as_both_have_looked),
		cmocka_unit_test(what_others_charged_is_dirt_as_far_as_it_is_there),
		cmocka_unit_test(settle_moves_the_flight),
		ON_SEGMENT(abandoned_bytes_become_orphans),
		ON_SEGMENT(abandoned_file_is_looked_at_whole_again),
		ON_SEGMENT(looked_at_again_they_are_the_files_own),
		ON_SEGMENT(what_completed_meanwhile_stays_an_orphan),
		ON_SEGMENT(no_more_than_is_there_is_taken_back),
		ON_SEGMENT(new_dirt_is_not_taken_for_what_was_lent),
		ON_SEGMENT(what_was_drained_by_estimate_comes_back),
		ON_SEGMENT(what_was_cut_off_is_no_completion),
		ON_SEGMENT(vanished_file_takes_its_orphans_along),
		ON_SEGMENT(what_was_drained_by_estimate_does_not_vanish_again),
		ON_SEGMENT(unseen_dirt_completes_at_the_looks_of_another),
		ON_SEGMENT(finding_claims_nothing),
		ON_SEGMENT(sweep_lends_what_is_silent),
		ON_SEGMENT(sweep_leaves_right_sums_alone),
		ON_SEGMENT(sweep_leaves_orphans_alone),
		ON_SEGMENT(sweep_mends_what_it_finds_twice),
		ON_SEGMENT(sweep_mends_what_is_too_little_as_well),
		ON_SEGMENT(sweep_does_not_mend_what_is_different_each_time),
		ON_SEGMENT(sweep_is_made_once_a_second),
		ON_SEGMENT(sweep_of_the_far_future_does_not_stop_the_next),
		ON_SEGMENT(file_has_one_slot),
		ON_SEGMENT(full_table_is_said_and_the_old_ones_are_found),
		ON_SEGMENT(idle_entry_serves_another_file),
		ON_SEGMENT(entry_that_was_seen_lately_is_not_given_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
