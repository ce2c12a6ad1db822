/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who else uses a device: paced programs by their syncs, anybody else as the helper sees it. And
 * the hold: while a paced task syncs nobody starts new writeback there (design 8, sync first).
 *
 * Concurrency: words are replaced; two that sync at once may overwrite each other's, which costs
 * a hold or makes it last its full length. A killed one holds nobody for longer than that.
 */
#ifndef WP_SHM_SYNC_H
#define WP_SHM_SYNC_H

#include <writepace/layout.h>

#include "base/types.h"

#define SYNC_HOLD_MAX_NS WP_SEC(1) /* longer is damage */

/*
 * A task of @process begins to sync. Others hold for @hold_ns at most, 0 = not at all, and not for
 * longer than they went on since the last hold.
 */
void sync_begins(struct wp_device *device, uint64_t process, uint64_t hold_ns,
		 uint64_t now_ns);
void sync_ends(struct wp_device *device, uint64_t now_ns);

bool sync_holds(const struct wp_device *device, uint64_t now_ns);

/* When somebody other than @process was last seen using the device, 0 = never. */
uint64_t sync_others_ns(const struct wp_device *device, uint64_t process);

#endif
