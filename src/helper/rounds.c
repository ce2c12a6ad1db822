/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/rounds.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "core/bandwidth.h"
#include "core/control.h"
#include "core/fprop.h"
#include "helper/devices.h"
#include "helper/memory.h"
#include "helper/observed.h"
#include "helper/tails.h"
#include "helper/tasks.h"
#include "host/kernel.h"
#include "shm/device.h"
#include "shm/file.h"
#include "shm/orphan.h"

#define LEAVE_NS WP_SEC(10) /* after the last task is gone */
#define LOOK_NS WP_SEC(10)  /* for tasks that can not be watched */
#define SECOND_NS WP_SEC(1)
#define COUNT_ERROR_BYTES WP_MIB(2) /* the kernel counts in batches per processor */
#define MEASURE_NS WP_MS(100)
#define OBSERVED_NS WP_MS(20) /* as often as the observer counts while anything changes */
#define ABSENT_NS WP_MS(500)  /* where there is none */
#define FOR_EVER UINT64_MAX

struct state {
	struct helper *helper;
	struct tasks tasks;
	struct tails tails;
	struct devices devices;
	struct observed observed;
	uint64_t gone_ns;      /* since when nobody lives, 0 = somebody does */
	uint64_t second_ns;    /* when the next look of every second is due */
	uint64_t excess_bytes; /* outstanding beyond what the machine has, last time */
	uint64_t observed_ns;  /* when the observer's next numbers are */
	uint64_t measure_ns;   /* when the next statistics are */
};

/* True once nobody has lived for LEAVE_NS. */
static bool is_over(struct state *state, uint64_t now_ns)
{
	if (tasks_live(&state->tasks, state->helper, now_ns))
		state->gone_ns = 0;
	else if (!state->gone_ns)
		state->gone_ns = now_ns;
	return state->gone_ns && now_ns >= state->gone_ns + LEAVE_NS;
}

/*
 * Nobody is left to do it on a slow path: orphans go at the learned rate, sums are mended.
 * True while something is outstanding.
 */
static bool drain_orphans(struct wp_segment *map, uint64_t now_ns)
{
	bool outstanding = false;

	for (size_t slot = 0; slot < WP_DEVICES; slot++) {
		struct wp_device *device = &map->devices[slot];
		struct control control;
		uint64_t written_bytes;

		if (!word_read(&device->key) || !device_outstanding_bytes(device))
			continue;
		device_control(device, &control);
		written_bytes = device_drain_orphans(
			device, bandwidth_likely_bps(&control.bandwidth), now_ns);
		if (written_bytes)
			fprop_add_max(&map->writeout, &device->writeout, written_bytes,
				      FPROP_MAX_Q10, 0);
		outstanding = true;
	}
	return outstanding;
}

/* Over all devices; orphans are part of what is outstanding. */
static void sum_devices(struct wp_segment *map, uint64_t *outstanding_bytes,
			uint64_t *orphan_bytes)
{
	*outstanding_bytes = 0;
	*orphan_bytes = 0;
	for (size_t slot = 0; slot < WP_DEVICES; slot++) {
		const struct wp_device *device = &map->devices[slot];

		if (!word_read(&device->key))
			continue;
		*outstanding_bytes += device_outstanding_bytes(device);
		*orphan_bytes += word_level(&device->orphan_bytes);
	}
}

/*
 * No more can be outstanding than the kernel counts on the whole machine. What is too much, twice
 * in a row, are orphans that were truncated or removed, and will never be written; not those that
 * an observer counts.
 */
static void drop_impossible(struct state *state, uint64_t now_ns)
{
	struct wp_segment *map = state->helper->map;
	uint64_t before_bytes = state->excess_bytes;
	uint64_t sum_bytes;
	uint64_t orphan_bytes;
	uint64_t machine_bytes;
	uint64_t drop_bytes;

	sum_devices(map, &sum_bytes, &orphan_bytes);
	state->excess_bytes = 0;
	/* Why first: the kernel's count is a long file to read ten times a second. */
	if (!orphan_bytes || !memory_outstanding(state->helper->root, &machine_bytes))
		return;
	state->excess_bytes = sub_u64(sum_bytes, machine_bytes + COUNT_ERROR_BYTES);
	drop_bytes = min_u64(before_bytes, state->excess_bytes);
	for (size_t slot = 0; drop_bytes && slot < WP_DEVICES; slot++) {
		struct wp_device *device = &map->devices[slot];
		uint64_t part_bytes =
			min_u64(drop_bytes, word_level(&device->orphan_bytes));

		if (!word_read(&device->key) || !part_bytes ||
		    device_source(device, now_ns) == WP_SOURCE_OBSERVER)
			continue;
		device_drop_orphans(device, part_bytes);
		drop_bytes -= part_bytes;
	}
}

/* What changes slowly. */
static void every_second(struct state *state, uint64_t now_ns)
{
	memory_look(state->helper);
	devices_look(&state->devices, state->helper);
	tasks_sweep(state->helper);
	file_sweep(state->helper->map, now_ns);
}

/* Do what is due. Returns the time until something is again. */
static uint64_t work(struct state *state, uint64_t now_ns)
{
	struct wp_header *header = &state->helper->map->header;
	bool outstanding = drain_orphans(state->helper->map, now_ns);
	uint64_t wait_ns;
	uint64_t tails_ns;

	if (!outstanding && !word_read(&header->period_end_ns)) {
		/* Why: what was true now need not be at the next write. */
		word_write(&header->pressure_q10, 0);
		return FOR_EVER;
	}
	if (now_ns >= state->second_ns) {
		every_second(state, now_ns);
		state->second_ns = now_ns + SECOND_NS;
	}
	if (outstanding && now_ns >= state->observed_ns)
		state->observed_ns =
			now_ns + (observed_copy(&state->observed, state->helper, now_ns) ?
					  OBSERVED_NS :
					  ABSENT_NS);
	if (now_ns >= state->measure_ns) {
		devices_meet(&state->devices, state->helper);
		devices_measure(&state->devices, state->helper, now_ns);
		drop_impossible(state, now_ns);
		tails_find(&state->tails, state->helper, now_ns);
		state->measure_ns = now_ns + MEASURE_NS;
	}
	tails_ns = tails_step(&state->tails, state->helper, now_ns);
	/* Why also while nothing is outstanding yet: who wakes us is about to dirty something. */
	wait_ns = min_u64(state->measure_ns, state->second_ns) - now_ns;
	if (outstanding)
		wait_ns = min_u64(wait_ns, sub_u64(state->observed_ns, now_ns));
	return tails_ns ? min_u64(wait_ns, tails_ns) : wait_ns;
}

/* Until @span_ns are over, somebody has changed header.wake, or the watched process ended. */
static void rest(const struct state *state, uint64_t span_ns)
{
	struct pollfd fds[] = {
		{ .fd = state->helper->wake_fd, .events = POLLIN },
		{ .fd = state->tasks.pidfd, .events = POLLIN },
	};
	struct timespec span = {
		.tv_sec = (time_t)(span_ns / WP_SEC(1)),
		.tv_nsec = (long)(span_ns % WP_SEC(1)),
	};
	eventfd_t count;

	if (ppoll(fds, 2, span_ns == FOR_EVER ? NULL : &span, NULL) > 0 &&
	    (fds[0].revents & POLLIN))
		eventfd_read(fds[0].fd, &count);
}

void rounds(struct helper *helper)
{
	static struct state state = { .tasks = TASKS_INIT };

	state.helper = helper;
	devices_begin(&state.devices);
	for (;;) {
		uint64_t now_ns = kernel_now_ns();
		uint64_t wait_ns;

		if (!helper_is_the_one(helper))
			return;
		word_write(&helper->map->header.helper_ns, now_ns);
		if (is_over(&state, now_ns))
			return;
		wait_ns = work(&state, now_ns);
		if (state.gone_ns)
			wait_ns = min_u64(wait_ns, state.gone_ns + LEAVE_NS - now_ns);
		if (state.tasks.unknown)
			wait_ns = min_u64(wait_ns, LOOK_NS);
		rest(&state, wait_ns);
	}
}
