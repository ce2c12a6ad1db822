/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the observer publishes of the devices, copied into the segment: the library opens nothing.
 *
 * The kernel counts everybody's dirty bytes together. What others dirtied is what all dirtied
 * without what we did; of what is written theirs is as much as is theirs of what is outstanding.
 */
#ifndef WP_HELPER_OBSERVED_H
#define WP_HELPER_OBSERVED_H

#include <writepace/published.h>

#include "helper/helper.h"

/* Of one device: the last look, and what is outstanding of others. */
struct observed_device {
	uint64_t heartbeat_ns; /* 0 = never seen */
	uint64_t start_ns;     /* of the observer it came from */
	uint64_t all_dirtied_bytes;
	uint64_t own_dirtied_bytes;
	uint64_t look_ns;        /* when that was read from the segment */
	uint64_t look_own_bytes; /* and what it was then */
	uint64_t before_own_bytes;
	uint64_t completed_bytes;
	uint64_t outstanding_bytes;
	uint64_t inflight_bytes;
	int64_t others_bytes;
};

struct observed {
	struct observed_device devices[WP_DEVICES];
};

/* While anything is outstanding. False: no observer runs. */
bool observed_copy(struct observed *observed, const struct helper *helper,
		   uint64_t now_ns);

/* One entry of a set; for tests. */
void observed_see(struct observed_device *observed, struct wp_device *device,
		  const struct wp_published_set *set,
		  const struct wp_published_device *entry, uint64_t now_ns);

#endif
