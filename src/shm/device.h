/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device in the segment: found by its number, charged, stepped.
 *
 * Concurrency: every function may run in any number of tasks at once; each word is added to or
 * replaced by compare-and-swap, nobody waits. A task that dies half-way leaves at most one
 * addition undone, which the sweep mends.
 */
#ifndef WP_SHM_DEVICE_H
#define WP_SHM_DEVICE_H

#include <writepace/layout.h>

#include "core/control.h"

/* Slots in use. Why one less: a file's key holds slot + 1 in eight bits. */
#define DEVICE_SLOTS (WP_DEVICES - 1)

#define DEVICE_BELIEF_BYTES WP_GIB(1024) /* more outstanding than this is damage */
#define DEVICE_STAT_FRESH_NS WP_SEC(1)

/*
 * Slot of the device with this number, claimed where it is new: a free one, else one that nobody
 * has used for ten minutes; -1 when there is none.
 */
int device_slot(struct wp_segment *segment, uint64_t device_number);

/* The same without claiming one: -1 for a device that nobody has paced. */
int device_find(const struct wp_segment *segment, uint64_t device_number);

/* The slot that stands for the device in @slot: its own, or that of the disk it is a part of. */
int device_real_slot(const struct wp_segment *segment, int slot);

/* The device's number, from its key. */
uint64_t device_number(const struct wp_device *device);

/* Outstanding and in-flight bytes: never negative, never beyond belief. */
uint64_t device_outstanding_bytes(const struct wp_device *device);
uint64_t device_inflight_bytes(const struct wp_device *device);

/* @bytes became outstanding (dirt), or stopped being so. Completions move progress_ns. */
void device_dirtied(struct wp_device *device, uint64_t bytes);
void device_completed(struct wp_device *device, uint64_t bytes, uint64_t now_ns);

/* @bytes will never be written: no completion, no progress. */
void device_cancelled(struct wp_device *device, uint64_t bytes);

/* Does the helper keep the device's own statistics fresh? */
bool device_is_measured(const struct wp_device *device, uint64_t now_ns);

/*
 * Somebody looked after the device's writeback, and started what it could. Nothing in flight and
 * the next unit overdue by more than @patience_ns: nobody has anything to start, or nobody came;
 * the device is idle, and what it completes tells nothing of what it could.
 */
void device_looked(struct wp_device *device, bool wanted, uint64_t patience_ns,
		   uint64_t now_ns);

/*
 * @bytes were dirtied under a ceiling of @rate_bps, which all who have one share: they may go on
 * at the time returned.
 */
uint64_t device_ceiling_ns(struct wp_device *device, uint64_t bytes, uint64_t rate_bps,
			   uint64_t now_ns);

/*
 * Of those who sleep one is enough to start the next unit in time. Claim that until @until_ns, or
 * go on with the claim @own_ns; returns the claim, 0 when somebody else has it. A claim ends by
 * itself.
 */
uint64_t device_watch(struct wp_device *device, uint64_t own_ns, uint64_t until_ns,
		      uint64_t now_ns);
void device_unwatch(struct wp_device *device, uint64_t own_ns);

/* Copy the control state; words may be of two steps, each is valid by itself. */
void device_control(const struct wp_device *device, struct control *control);

/* Step the control state when it is due and publish it, or let somebody else. */
void device_step(struct wp_device *device, const struct bounds *bounds, uint64_t now_ns);

#endif
