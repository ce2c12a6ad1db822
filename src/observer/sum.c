/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observer/sum.h"

#include <sys/sysmacros.h>

#define MINOR_BITS 20

uint64_t sum_number(uint32_t device)
{
	return makedev(device >> MINOR_BITS, device & ((1u << MINOR_BITS) - 1));
}

uint32_t sum_kernel_number(uint64_t number)
{
	return major(number) << MINOR_BITS | minor(number);
}

struct wp_published_device sum_device(uint32_t device, const struct device_sums *per_cpu,
				      unsigned cpus)
{
	struct wp_published_device sum = { .number = sum_number(device) };
	uint64_t newest_ns = 0;

	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		sum.dirtied_bytes += per_cpu[cpu].dirtied_bytes;
		sum.completed_bytes += per_cpu[cpu].completed_bytes;
		sum.pauses += per_cpu[cpu].pauses;
		sum.paused_ns += per_cpu[cpu].paused_ns;
		sum.visits += per_cpu[cpu].visits;
		sum.visited_bytes += per_cpu[cpu].visited_bytes;
		if (per_cpu[cpu].rate_ns <= newest_ns)
			continue;
		newest_ns = per_cpu[cpu].rate_ns;
		sum.rate_bps = per_cpu[cpu].rate_bps;
	}
	return sum;
}

void sum_device_runs(struct wp_published_device *device, const struct dirt_run *runs,
		     unsigned cpus)
{
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		if (sum_number(runs[cpu].device) == device->number)
			device->dirtied_bytes += runs[cpu].bytes;
	}
}

void sum_task_runs(struct wp_published_task *task, const struct dirt_run *runs,
		   unsigned cpus)
{
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		if (runs[cpu].pid == task->pid &&
		    sum_number(runs[cpu].device) == task->device)
			task->dirtied_bytes += runs[cpu].bytes;
	}
}
