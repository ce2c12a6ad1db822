/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is a device used by somebody who is not paced? Who waits for it shows in its statistics: flushes
 * that are not of paced programs' syncs, reads beyond what paced programs read anywhere.
 *
 * One flush in five seconds is the journal's own, and one a second somebody's who syncs every
 * second: each sample with a flush counts one, and two thirds of one are forgotten in a second.
 */
#ifndef WP_HELPER_STRANGERS_H
#define WP_HELPER_STRANGERS_H

#include <writepace/layout.h>

#include "base/types.h"
#include "helper/blockstat.h"

struct stranger {
	uint64_t sample_ns;
	uint64_t flushes; /* of the device, ever, at the last sample */
	uint64_t syncs;   /* the same of paced tasks */
	uint64_t level_q10;
	uint64_t written_bytes; /* by anybody, ever */
	uint64_t own_bytes;     /* completed for paced tasks, ever */
	int64_t others_bps;     /* mean of a second */
	int64_t samples;        /* that are in it */
	/* what was read, less what paced tasks read on any device */
	uint64_t reads_ns;     /* beginning of this second */
	int64_t least_bytes;   /* in it */
	int64_t before_bytes;  /* the most of those before */
	uint64_t seconds;      /* 1: there was one */
	uint64_t more_seconds; /* in a row with more than before */
};

/*
 * What the device has done, ever, is in @stat; paced tasks have read @own_read_bytes. Notes in @device when a stranger uses it, and how
 * much others write: strangers, and the file systems' own journals.
 */
void stranger_see(struct stranger *stranger, struct wp_device *device,
		  const struct blockstat *stat, uint64_t own_read_bytes, uint64_t now_ns);

#endif
