/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From what a map holds of a device to what is published of it. Pure.
 */
#ifndef WP_OBSERVER_SUM_H
#define WP_OBSERVER_SUM_H

#include <writepace/published.h>

#include "observer/sums.h"

/* The kernel's device number as a dev_t, and back. */
uint64_t sum_number(uint32_t device);
uint32_t sum_kernel_number(uint64_t number);

/* One device: its sums over the CPUs. */
struct wp_published_device sum_device(uint32_t device, const struct device_sums *per_cpu,
				      unsigned cpus);

/* And what of it is in runs that go on. */
void sum_device_runs(struct wp_published_device *device, const struct dirt_run *runs,
		     unsigned cpus);
void sum_task_runs(struct wp_published_task *task, const struct dirt_run *runs,
		   unsigned cpus);

#endif
