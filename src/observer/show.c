/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observer/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "base/stamp.h"
#include "host/kernel.h"
#include "observer/tell.h"
#include "publish/publish.h"

static struct wp_published_device devices[WP_PUBLISHED_DEVICES];
static struct wp_published_task tasks[WP_PUBLISHED_TASKS];

/* --------------------------------------------------------------------- devices -- */

static void show_known(bool known, uint64_t value)
{
	if (known)
		printf(" %15" PRIu64, value);
	else
		printf(" %15s", "-");
}

static void show_row(const char *name, const struct wp_published_device *device)
{
	bool has_queue = device->flags & WP_PUBLISHED_QUEUE;

	printf("%-10s %15" PRIu64 " %15" PRIu64, name, device->dirtied_bytes,
	       device->completed_bytes);
	show_known(has_queue, device->inflight_bytes);
	show_known(has_queue, device->outstanding_bytes);
	printf(" %10.3f", (double)device->paused_ns / 1e9);
	show_known(device->rate_bps != 0, device->rate_bps);
	show_known(device->visits != 0,
		   device->visits ? device->visited_bytes / device->visits : 0);
	printf("\n");
}

static void show_device(const struct wp_published_device *device, bool json, bool first)
{
	char name[32];

	snprintf(name, sizeof(name), "%u:%u", major(device->number),
		 minor(device->number));
	if (!json) {
		show_row(name, device);
		return;
	}
	printf("%s\n  {\"dev\":\"%s\",\"dirtied_bytes\":%" PRIu64
	       ",\"completed_bytes\":%" PRIu64 ",\"in_flight_bytes\":",
	       first ? "" : ",", name, device->dirtied_bytes, device->completed_bytes);
	/* Why null: not known is not nothing. */
	if (device->flags & WP_PUBLISHED_QUEUE)
		printf("%" PRIu64 ",\"outstanding_bytes\":%" PRIu64,
		       device->inflight_bytes, device->outstanding_bytes);
	else
		printf("null,\"outstanding_bytes\":null");
	printf(",\"kernel_pauses\":%" PRIu64 ",\"kernel_paused_ns\":%" PRIu64
	       ",\"kernel_rate_bps\":",
	       device->pauses, device->paused_ns);
	if (device->rate_bps)
		printf("%" PRIu64, device->rate_bps);
	else
		printf("null");
	printf(",\"writebacks\":%" PRIu64 ",\"writeback_bytes\":%" PRIu64 "}",
	       device->visits, device->visited_bytes);
}

static void show_devices(const struct wp_published_set *set, bool json)
{
	if (json)
		printf("{\"lost_events\":%" PRIu64 ",\"devices\":[", set->lost);
	else
		printf("%-10s %15s %15s %15s %15s %10s %15s %15s\n", "DEVICE", "DIRTIED",
		       "COMPLETED", "IN FLIGHT", "OUTSTANDING", "PAUSED s", "RATE/s",
		       "AT A TIME");
	for (uint64_t i = 0; i < set->entries; i++)
		show_device(&devices[i], json, i == 0);
}

/* ----------------------------------------------------------------------- tasks -- */

static void show_task(const struct wp_published_task *task, bool json, bool first)
{
	char device[32];

	snprintf(device, sizeof(device), "%u:%u", major(task->device),
		 minor(task->device));
	if (json)
		printf("%s\n  {\"pid\":%" PRIu32 ",\"uid\":%" PRIu32
		       ",\"name\":\"%s\",\"dev\":\"%s\",\"dirtied_bytes\":%" PRIu64
		       ",\"kernel_pauses\":%" PRIu64 ",\"kernel_paused_ns\":%" PRIu64
		       ",\"fsyncs\":%" PRIu64 ",\"fsync_ns\":%" PRIu64 "}",
		       first ? "" : ",", task->pid, task->uid, task->name, device,
		       task->dirtied_bytes, task->pauses, task->paused_ns, task->syncs,
		       task->sync_ns);
	else
		printf("%-10s %15" PRIu64 " %10.3f %10.3f %7" PRIu32 " %7" PRIu32 " %s\n",
		       device, task->dirtied_bytes, (double)task->paused_ns / 1e9,
		       (double)task->sync_ns / 1e9, task->uid, task->pid, task->name);
}

/* Of all users whose file may be read: root's own eyes see all. */
static void show_tasks(const char *folder, bool json)
{
	uint32_t count = published_tasks(folder, tasks, WP_PUBLISHED_TASKS);

	if (json)
		printf("],\"tasks\":[");
	else
		printf("\n%-10s %15s %10s %10s %7s %7s %s\n", "DEVICE", "DIRTIED",
		       "PAUSED s", "FSYNC s", "UID", "PID", "NAME");
	for (uint32_t i = 0; i < count; i++)
		show_task(&tasks[i], json, i == 0);
	if (json)
		printf("]}\n");
}

bool show(const char *folder, bool json)
{
	struct wp_published_set set;

	if (!published_read(folder, "devices", &set, devices, sizeof(devices[0]),
			    WP_PUBLISHED_DEVICES) ||
	    stamp_age_ns(set.heartbeat_ns, kernel_now_ns()) > WP_PUBLISHED_FRESH_NS) {
		tell("no observer is running (nothing fresh in %s)", folder);
		return false;
	}
	show_devices(&set, json);
	show_tasks(folder, json);
	return !fflush(stdout);
}
