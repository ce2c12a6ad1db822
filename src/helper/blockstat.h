/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a block device did, by anybody, since it exists.
 */
#ifndef WP_HELPER_BLOCKSTAT_H
#define WP_HELPER_BLOCKSTAT_H

#include "base/types.h"

struct blockstat {
	uint64_t written_bytes;
	uint64_t reads;
	uint64_t read_bytes;
	uint64_t flushes;
	uint64_t inflight; /* requests of this moment */
};

/* Add those of the device whose folder in /sys is @folder. False when there is none. */
bool blockstat_add(struct blockstat *sum, const char *folder);

#endif
