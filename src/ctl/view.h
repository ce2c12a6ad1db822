/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of segments: copies of those of this user, or, for root, of all users, and what is
 * in them put together: devices with the last verdict there, tasks with their names.
 *
 * Trust: a segment is some user's file, who may write anything into it and cut it while we look.
 * So it is read, never mapped, and whatever stands in it is bounded.
 */
#ifndef WP_CTL_VIEW_H
#define WP_CTL_VIEW_H

#include <sys/types.h>

#include <writepace/layout.h>
#include <writepace/verdict.h>

#include "ctl/ctl.h"
#include "ctl/place.h"

#define VIEW_SEGMENTS 64
#define VIEW_NAME_BYTES 80

struct view_segment {
	char path[192];
	char name[VIEW_NAME_BYTES]; /* "" = the common one */
	char user[VIEW_NAME_BYTES];
	uid_t uid;
	struct wp_segment *copy;
};

struct sight {
	uint64_t now_ns;
	size_t count;
	struct view_segment segments[VIEW_SEGMENTS];
};

/* Read what @ctl asks for; false when there is none. view_take() says so on stderr, too. */
bool view_find(struct sight *sight, const struct ctl *ctl);
bool view_take(struct sight *sight, const struct ctl *ctl);
void view_free(struct sight *sight);

struct view_device {
	uint64_t number;
	struct place place;
	uint64_t dirtied_bytes;
	uint64_t written_bytes;
	uint64_t outstanding_bytes;
	uint64_t inflight_bytes;
	uint64_t orphan_bytes;
	uint64_t window_bytes;
	uint64_t bandwidth_bps; /* 0 = not known yet */
	uint64_t base_bps;      /* 0 = not known yet */
	uint64_t share_q10;
	uint64_t others_bps;
	uint64_t set_rate_bps; /* 0 = not set */
	uint64_t set_max_bytes;
	uint64_t active_ns; /* since a paced task last looked after it */
	bool holds;         /* writeback is held for a sync */
	bool others;        /* somebody else uses it */
	bool measured;      /* by the helper: its statistics are fresh */
	bool judged;        /* is there a verdict? */
	struct verdict verdict;
};

/* Fill @device from the slot; false when there is none, or it is a part of another. */
bool view_device(const struct sight *sight, const struct view_segment *segment,
		 size_t slot, struct view_device *device);

struct view_task {
	uint32_t pid;
	uint32_t tid;
	char command[64];
	bool lives;
	uint64_t device; /* number, valid where has_device */
	bool has_device;
	uint64_t silent_ns;
	uint64_t weight;
	uint64_t dirtied_bytes;
	bool noted; /* is what follows known? */
	uint64_t charged_bytes;
	uint64_t uncovered_bytes;
	uint64_t sleeps;
	uint64_t slept_ns;
	uint64_t verdicts;
	bool judged;
	struct verdict verdict;
};

/* Fill @task from the slot; false when there is none. */
bool view_task(const struct sight *sight, const struct view_segment *segment, size_t slot,
	       struct view_task *task);

/* The same, living tasks that wrote something alone. */
bool view_living_task(const struct sight *sight, const struct view_segment *segment,
		      size_t slot, struct view_task *task);

/* How completions are known here. */
const char *view_source(const struct sight *sight, const struct view_segment *segment);

/* Does a helper look after it? */
bool view_is_helped(const struct sight *sight, const struct view_segment *segment);

#endif
