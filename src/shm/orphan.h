/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Orphans: a device's bytes that nobody can ask for any more, because their file is closed, its
 * writer silent, or cachestat denied. They leave by the best source there is.
 *
 * Concurrency: as in shm/device.h.
 */
#ifndef WP_SHM_ORPHAN_H
#define WP_SHM_ORPHAN_H

#include <writepace/layout.h>
#include <writepace/verdict.h>

#include "base/types.h"

/* @bytes that were some file's can not be asked for any more. */
void device_orphaned(struct wp_device *device, uint64_t bytes, uint64_t now_ns);

/* Where it is known from what became of bytes that nobody can ask for any more. */
enum wp_source device_source(const struct wp_device *device, uint64_t now_ns);

/*
 * Orphans leave as the source says: what the kernel does not count any more; or as the device
 * writes, or could write, more than its own completions, after 35 s to 70 s anyway. Returns what
 * of them is known to have been written: started, and gone from the kernel's count.
 */
uint64_t device_drain_orphans(struct wp_device *device, uint64_t bandwidth_bps,
			      uint64_t now_ns);

/* @bytes of orphans were just given to the device. */
void device_orphans_started(struct wp_device *device, uint64_t bytes);

/* What of them is in flight still; 0 where nobody counts that. */
uint64_t device_orphans_inflight_bytes(const struct wp_device *device, uint64_t now_ns);

/* @bytes of orphans, or as many as there are, are known to be clean. */
void device_drop_orphans(struct wp_device *device, uint64_t bytes);

#endif
