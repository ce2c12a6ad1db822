/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many devices and many writers on a simulated clock, for the laws alone: control, balance,
 * proportions, aging and limits are the shipped ones (src/core, src/age); what src/pace, src/flush
 * and src/shm do round them is played here, without coroutines and without a kernel, so that a
 * thousand devices fit. test_loop has the whole engine for a few.
 *
 *	scale_begin(seed);
 *	device = scale_add_device(&disk);
 *	task = scale_add_task(device);      and set what is to differ
 *	scale_run(WP_SEC(30));
 *	... scale.devices[device].disk.done_bytes, scale.tasks[task].written_bytes
 *	scale_end();
 *
 * What is coarser than the engine: whoever looks may start and settle anything of the device (the
 * engine knows owners of files); of the tasks that sleep one looks, at the engine's step; a disk
 * decides at the submission of a command when it will be done. With scale.look_ns those who sleep
 * look only when something is due, and no more often than that.
 *
 * After every look and every verdict the invariants are checked; the first that does not hold is
 * kept in scale.broken.
 */
#ifndef WP_TEST_SCALE_H
#define WP_TEST_SCALE_H

#include <writepace/layout.h>
#include <writepace/verdict.h>

#include <stdio.h>

#include "core/control.h"

#define SCALE_BEGIN_NS WP_SEC(1000)
#define SCALE_MEMORY_BPS \
	UINT64_C(6000000000) /* how fast a program fills the page cache */

struct scale_command {
	uint64_t done_ns;
	uint64_t bytes;
};

/* What it does may be changed at any time; it holds for the commands submitted from then on. */
struct scale_disk {
	uint64_t rate_bps;   /* in the long run */
	uint64_t slice_ns;   /* 0 = the rate is even; else it is handed out in slices */
	uint64_t medium_bps; /* within a slice: a burst credit */
	uint64_t command_ns; /* each command costs this beside its bytes */
	uint64_t latency_ns; /* between a command's transfer and its completion */
	uint64_t stall_until_ns;
	uint64_t done_bytes;

	/* its own */
	uint64_t free_ns;
	uint64_t slice;
	uint64_t slice_left_bytes;
	struct scale_command *commands; /* ring of a power of two */
	unsigned capacity;
	unsigned head;
	unsigned count;
};

struct scale_device {
	struct scale_disk disk;
	uint64_t ceiling_ns;  /* clock of those under a ceiling of the rate */
	struct bounds bounds; /* may be changed */

	/* the truth; what is unsettled was written and not looked at yet */
	uint64_t unsettled_bytes;
	uint64_t dirty_bytes;
	uint64_t flight_bytes;

	/* as in the segment */
	struct control control;
	struct fprop_count writeout; /* where the segment has no room for it */
	uint64_t written_bytes;
	uint64_t dirtied_bytes;
	uint64_t idle_ns;
	uint64_t look_ns;
	uint64_t progress_ns;
	uint64_t starts;
	uint64_t busy_starts;
	uint64_t busy_clock_ns;
	uint64_t start_ns;

	/* of the simulation */
	unsigned sleepers;
	uint64_t next_ns;          /* of its look, 0 = none is due */
	uint64_t room_bytes;       /* threshold and piece of each of its tasks */
	uint64_t background_bytes; /* as of the last step */
	uint64_t held_bytes; /* largest wall, or limit and credit, of the last second */
	uint64_t held_ns;
	bool released; /* callers were let go after 5 s, and it is over its limit since */
	uint64_t peak_bytes; /* most outstanding, may be cleared */
	uint64_t over_bytes; /* most above what held, may be cleared */
	uint64_t releases;
};

struct scale_task {
	/* the program */
	unsigned device;
	uint64_t weight;       /* 100 = normal */
	uint64_t call_bytes;   /* of one write() */
	uint64_t rate_bps;     /* of the program itself, 0 = as fast as memory */
	uint64_t begin_ns;     /* sleeps until then */
	uint64_t rest_from_ns; /* writes nothing in between */
	uint64_t rest_until_ns;
	uint64_t burst_bytes; /* 0 = one after another; else it thinks after so much */
	uint64_t think_ns;
	uint64_t end_ns; /* stops for good, 0 = never */

	uint64_t written_bytes;
	uint64_t paused_ns;
	uint64_t longest_ns; /* in one visit to the slow path */

	/* its own */
	uint64_t next_ns; /* of its next call */
	uint64_t left_bytes;
	uint64_t burst_left_bytes;
	uint64_t charged_bytes;
	uint64_t owed_bytes;
	uint64_t poll_bytes;
	uint64_t piece_bytes;
	uint64_t room_bytes; /* threshold and piece of its last verdict below the wall */
	uint64_t paused_when_ns;
	uint64_t since_ns;   /* when it came to the slow path */
	uint64_t ceiling_ns; /* under a ceiling of the rate: when to go on */
	uint64_t until_ns;   /* longest it stays there, walls apart */
	uint64_t dirtied_word;
	bool sleeps;
	bool again;
	bool at_wall;
};

struct scale_event {
	uint64_t at_ns;
	uint64_t who; /* a task, or from task_count on a device */
};

struct scale {
	uint64_t now_ns;
	uint64_t seed;
	uint64_t look_ns;           /* 0 = sleeping tasks look at the engine's steps */
	bool merge;                 /* writing takes no time of its own */
	struct wp_segment *segment; /* for its domains and its aging */
	struct scale_device *devices;
	struct scale_task *tasks;
	unsigned device_count;
	unsigned task_count;
	struct scale_event *events; /* heap, earliest first */
	unsigned event_count;
	unsigned event_capacity;
	uint64_t sum_ns; /* when the devices were last summed up */
	uint64_t in_use_bps;
	uint64_t outstanding_bytes;
	uint64_t verdicts; /* counted, like the following two */
	uint64_t looks;
	uint64_t steps;
	FILE *trace;        /* a line for each verdict, NULL = none */
	const char *broken; /* the invariant that did not hold, NULL = none */
	char broken_why[256];
};

extern struct scale scale;

/* False when memory is short. */
bool scale_begin(uint64_t seed) WP_MUST_CHECK;
void scale_end(void);

/* Their numbers. All devices and tasks are added before the first run. */
unsigned scale_add_device(const struct scale_disk *disk);
unsigned scale_add_task(unsigned device);

void scale_run(uint64_t span_ns);

/*
 * Somebody else, whom the engine knows nothing of, writes @bytes now. Returns how long that takes.
 */
uint64_t scale_stranger_ns(struct scale_device *device, uint64_t bytes);

uint64_t scale_outstanding_bytes(const struct scale_device *device);

/* Of what all devices wrote lately. */
struct fprop_fraction scale_share(const struct scale_device *device);

uint64_t scale_random(void);

#endif
