/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many bytes may be outstanding: over all devices, on one, for one task (design 6). Pure.
 *
 *   global = drain target * bandwidth of the devices in use, no more than the user's and the
 *            kernel's ceilings, less under memory pressure
 *   device = global * share of the writeout, in the order of K2.5, no more than the drain
 *            target's worth, no less than the room to work
 *   task   = device - penalty by its share of the dirtying
 *
 * Because shares follow speed, all devices drain in equal time when a ceiling binds; when none
 * does, a device has the drain target's worth for itself.
 *
 * A newcomer, whose bandwidth is unknown, starts small and doubles while it swallows nearly all
 * of its limit within 100 ms: what the first second writes at memory speed is already too late
 * to pace.
 */
#ifndef WP_CORE_LIMITS_H
#define WP_CORE_LIMITS_H

#include "base/types.h"
#include "core/fprop.h"

#define LIMITS_NEWCOMER_BYTES WP_MIB(4)
#define LIMITS_NEWCOMER_NS WP_MS(100)
/* K9.1: a limit under ten times the smallest piece (64 KiB) can not work. */
#define LIMITS_ROOM_BYTES (10 * WP_KIB(64))

struct limits_view {
	uint64_t bandwidth_bps;  /* of the device, 0 = unknown */
	uint64_t newcomer_bytes; /* limit of a device of unknown bandwidth */
	uint64_t drain_ns;
	uint64_t global_bytes;         /* of limits_global_bytes() */
	uint64_t outstanding_bytes;    /* on all devices */
	struct fprop_fraction share;   /* of the writeout; denominator 0 = all of it */
	uint64_t min_ratio_q10;        /* of the global limit, promised to this device */
	uint64_t others_min_ratio_q10; /* promised to all, this one included */
	uint64_t max_ratio_q10;        /* 0 = no maximum */
	uint64_t max_bytes; /* user's ceiling of the device's limit, 0 = none */
};

/*
 * The limit over all devices. @in_use_bps: their bandwidth; @ceiling_bytes the user's and
 * @kernel_bytes the kernel's, 0 = none; @pressure_q10 1024 = no memory pressure, 0 = unknown.
 */
uint64_t limits_global_bytes(uint64_t drain_ns, uint64_t in_use_bps,
			     uint64_t ceiling_bytes, uint64_t kernel_bytes,
			     uint64_t pressure_q10);

/* The device's limit, LIMITS_ROOM_BYTES or more. */
uint64_t limits_device_bytes(const struct limits_view *view);

/* The lesser of two ceilings, 0 = none. */
static inline uint64_t limits_least(uint64_t a_bytes, uint64_t b_bytes)
{
	return a_bytes && b_bytes ? min_u64(a_bytes, b_bytes) : max_u64(a_bytes, b_bytes);
}

/* How heavy writers give way to light ones. */
enum limits_penalty {
	LIMITS_SQRT, /* 8 * sqrt(limit in pages) * p, never harsher than LIMITS_LINEAR */
	LIMITS_LINEAR, /* limit / 8 * p */
	LIMITS_OFF,
};

/* The limit of a task with @share of the dirtying; at least half of the device's (K6). */
uint64_t limits_task_bytes(uint64_t device_bytes, struct fprop_fraction share,
			   enum limits_penalty penalty);

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
