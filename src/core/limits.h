/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many bytes may be outstanding on a device (design 6, the part for one device). Pure.
 *
 *   limit = drain target * bandwidth, no more than the ceilings, no less than the room to work
 *
 * A newcomer, whose bandwidth is unknown, starts small and doubles while it swallows nearly all
 * of its limit within 100 ms: what the first second writes at memory speed is already too late
 * to pace.
 */
#ifndef WP_CORE_LIMITS_H
#define WP_CORE_LIMITS_H

#include "base/types.h"

#define LIMITS_NEWCOMER_BYTES WP_MIB(4)
#define LIMITS_NEWCOMER_NS WP_MS(100)
/* K9.1: a limit under ten times the smallest piece (64 KiB) can not work. */
#define LIMITS_ROOM_BYTES (10 * WP_KIB(64))

struct limits_view {
	uint64_t bandwidth_bps;  /* 0 = unknown */
	uint64_t newcomer_bytes; /* limit of a device of unknown bandwidth */
	uint64_t drain_ns;
	uint64_t rate_bps;      /* user's ceiling of the rate, 0 = none */
	uint64_t ceiling_bytes; /* user's ceiling of the limit, 0 = none */
	uint64_t kernel_bytes;  /* the kernel's own, 0 = unknown */
};

/* The device's limit, LIMITS_ROOM_BYTES or more. */
uint64_t limits_device_bytes(const struct limits_view *view);

/* Half of (thresh + background) / 2, the line below which the kernel lets writers run free. */
uint64_t limits_kernel_bytes(uint64_t thresh_bytes, uint64_t background_bytes);

/* The newcomer's limit when @written_bytes completed within LIMITS_NEWCOMER_NS. */
uint64_t limits_newcomer_bytes(uint64_t newcomer_bytes, uint64_t written_bytes);

/*
 * K2.3, per device: the wall follows a rising limit at once and a falling one by a 32nd of the
 * distance per step, never below what is outstanding.
 */
uint64_t limits_wall_bytes(uint64_t wall_bytes, uint64_t limit_bytes,
			   uint64_t outstanding_bytes);

#endif
