/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepaced: beside the paced programs of one segment, whatever needs a thread or an open file.
 *
 *   main.c     start, be the only one, leave
 *   rounds.c   when to do what
 *   aging.c    the thread that ends periods on time
 *   tasks.c    does anybody live whom we could help?
 *   devices.c  which numbers are one device, is it still the same medium, its statistics
 *   bdi.c      the kernel's limit of one device
 *   memory.c   the kernel's thresholds, memory pressure
 *   observed.c the observer's numbers, where one runs
 *   tails.c    files whose writer stopped writing
 *   holder.c   the descriptor of somebody else's file
 *   mounts.c   what it is mounted from
 *   overlay.c  the file that has an overlay's pages
 *   read.c     small files of /proc and /sys
 *
 * It holds nothing that anybody waits for. Killed, the programs pace on without it; stopped and
 * resumed, it looks first whether another has taken its place.
 */
#ifndef WP_HELPER_HELPER_H
#define WP_HELPER_HELPER_H

#include <writepace/layout.h>

#include "base/order.h"
#include "base/types.h"

struct helper {
	struct wp_segment *map;
	uint64_t id;           /* what header.helper_id holds while we are the one */
	uint64_t namespace_id; /* of our pids */
	int wake_fd;           /* eventfd: there may be something to do */
	bool alone;            /* WRITEPACE_OBSERVER=off */
	const char *root;      /* before /proc and /sys; "" but for tests */
};

/* Asked before every round: the place is lost for good when somebody found us silent. */
static inline bool helper_is_the_one(const struct helper *helper)
{
	return word_read(&helper->map->header.helper_id) == helper->id;
}

#endif
