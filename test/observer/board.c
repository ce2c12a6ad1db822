/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Publishes what an observer would, without one: board FOLDER COMMAND [ARGUMENT...]
 *
 * While COMMAND runs, for each of three tasks of this user: a writer that dirties 1 MiB of 7:0
 * each tenth of a second, one that waited 3 s in 2 fsyncs of 8:16, one that was held up there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/kernel.h"
#include "publish/publish.h"

#define STEP_NS WP_MS(100)

static struct publication devices;
static struct publication tasks;

static bool begin(const char *folder)
{
	char name[32];

	snprintf(name, sizeof(name), "tasks.%u", (unsigned)geteuid());
	return publish_begin(&devices, folder, "devices", 0444, geteuid(),
			     sizeof(struct wp_published_device), 4) &&
	       publish_begin(&tasks, folder, name, 0400, geteuid(),
			     sizeof(struct wp_published_task), 4);
}

static bool tell(uint64_t step)
{
	uint64_t dirtied_bytes = step * WP_MIB(1);
	struct wp_published_set set = {
		.heartbeat_ns = kernel_now_ns(),
		.start_ns = 1,
		.pid = (uint64_t)getpid(),
		.entries = 1,
	};
	struct wp_published_device device = {
		.number = makedev(7, 0),
		.dirtied_bytes = dirtied_bytes,
	};
	struct wp_published_task known[3] = {
		{ .pid = 11, .device = makedev(7, 0), .name = "writer" },
		{ .pid = 12, .device = makedev(8, 16), .name = "sync\"er" },
		{ .pid = 13, .device = makedev(8, 16), .name = "held" },
	};

	known[0].dirtied_bytes = dirtied_bytes;
	known[1].dirtied_bytes = 4096;
	known[1].syncs = 2;
	known[1].sync_ns = WP_SEC(3);
	known[2].pauses = 5;
	known[2].paused_ns = WP_SEC(1);
	if (!publish(&devices, &set, &device))
		return false;
	set.entries = 3;
	return publish(&tasks, &set, known);
}

int main(int argc, char **argv)
{
	uint64_t step = 1;
	int status = 0;
	pid_t pid;

	if (argc < 3 || !begin(argv[1]) || !tell(step))
		return 125;
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (pid > 0 && !waitpid(pid, &status, WNOHANG)) {
		kernel_sleep_ns(STEP_NS);
		if (!tell(++step))
			break;
	}
	publish_end(&devices);
	publish_end(&tasks);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
