/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whose turn it is on a device. Blocks are allocated at writeback, so units of several files in
 * alternation would fragment them: one file has the device to itself until its slice is started,
 * nothing of it is left, or nobody came to start more of it for TURN_ABSENT_NS. Next is who has
 * most to start, which is who waited longest; after a whole slice any other (K7.3, K7.4).
 * Where nobody has as much as TURN_GAIN_BYTES to start (a hundred writers) there are no turns.
 *
 * Concurrency: words are replaced; a turn lost between two who take it costs one extent.
 */
#ifndef WP_SHM_TURN_H
#define WP_SHM_TURN_H

#include <writepace/layout.h>

#include "base/types.h"

#define TURN_ABSENT_NS WP_MS(10)
#define TURN_WANTED_NS WP_MS(40) /* who waits comes more seldom */
#define TURN_GAIN_BYTES WP_KIB(256)
#define TURN_SLICE_BYTES WP_MIB(4) /* the least that a slice is */

/* Is it the turn of @file, of which @dirty_bytes are left, or free to be taken for @slice_bytes? */
bool turn_take(struct wp_device *device, const struct wp_file *file, uint64_t dirty_bytes,
	       uint64_t slice_bytes, uint64_t now_ns);

/* Is it the turn of @file at this moment? */
bool turn_holds(const struct wp_device *device, const struct wp_file *file);

/* @bytes of the file were started in its turn. */
void turn_spend(struct wp_device *device, const struct wp_file *file, uint64_t bytes,
		uint64_t now_ns);

/* Nothing of the file is left to be started. */
void turn_end(struct wp_device *device, const struct wp_file *file);

#endif
