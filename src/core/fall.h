/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Has a device become slow? The filters of its bandwidth follow one that becomes ten times slower
 * in half a minute, and what is outstanding takes as long to drain. Two epochs in a row below half
 * of what is known are no noise. Pure.
 */
#ifndef WP_CORE_FALL_H
#define WP_CORE_FALL_H

#include "base/types.h"

#define FALL_EPOCH_NS WP_MS(200)
#define FALL_PAUSE 16 /* less than such a part of what is known is next to nothing */
#define FALL_PAUSE_NS WP_SEC(1) /* for so long that may be a pause */

struct fall {
	uint64_t stamp_ns; /* begin of the epoch, and what was completed by then */
	uint64_t written_bytes;
	uint64_t
		low_bps; /* of the last epoch, where it was less than half of what is known */
};

struct fall_sample {
	uint64_t now_ns;
	uint64_t written_bytes; /* completed, ever */
	uint64_t known_bps; /* 0: not known, or the device has less to do than it can */
	bool edge;          /* completions began again just now */
};

/* The rate to which it fell, 0 = it did not. */
uint64_t fall_step(struct fall *fall, const struct fall_sample *sample);

#endif
