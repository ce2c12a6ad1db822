/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words of a segment, for the tests: peek FILE
 *
 *   helper=PID pressure_q10=N kernel_limit=BYTES periods=N dirtied_periods=N tasks=SLOTS
 *   device=M:m alias=M:m outstanding=BYTES written=BYTES stat_written=BYTES share=FRACTION
 *   bandwidth=B/s window=BYTES depth=N phase=N speed=B/s held=B/s
 *   observed_ns=NS observed=BYTES
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <writepace/layout.h>

#include "core/fprop.h"
#include "shm/device.h"

static void print_number(const char *name, uint64_t key)
{
	printf("%s=%u:%u ", name, major(key - 1), minor(key - 1));
}

static void print_device(const struct wp_segment *segment, const struct wp_device *device)
{
	struct fprop_fraction share = fprop_share(&segment->writeout, &device->writeout);
	uint64_t alias = device->alias;
	struct control control;

	print_number("device", device->key);
	print_number("alias", alias && alias <= WP_DEVICES ?
				      segment->devices[alias - 1].key :
				      device->key);
	printf("outstanding=%" PRId64 " written=%" PRIu64 " stat_written=%" PRIu64
	       " share=%.4f",
	       (int64_t)device->outstanding_bytes, device->written_bytes,
	       device->stat_written_bytes,
	       (double)share.numerator / (double)share.denominator);
	device_control(device, &control);
	printf(" bandwidth=%" PRIu64 " window=%" PRIu64 " depth=%" PRIu64
	       " phase=%" PRIu64 " speed=%" PRIu64 " held=%" PRIu64
	       " observed_ns=%" PRIu64 " observed=%" PRIu64 "\n",
	       control.bandwidth.avg_bps, control.window.bytes, control.window.depth,
	       control.window.phase, control.speed.bps, control.held_bps,
	       device->observed_ns, device->observed_bytes);
}

static unsigned used_tasks(const struct wp_segment *segment)
{
	unsigned used = 0;

	for (size_t i = 0; i < WP_TASKS; i++)
		used += segment->tasks[i].id != 0;
	return used;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	const struct wp_segment *segment;

	segment = fd < 0 ? MAP_FAILED :
			   mmap(NULL, sizeof(*segment), PROT_READ, MAP_SHARED, fd, 0);
	if (segment == MAP_FAILED) {
		perror(argc == 2 ? argv[1] : "usage: peek FILE");
		return 1;
	}
	printf("helper=%" PRIu64 " pressure_q10=%" PRIu64 " kernel_limit=%" PRIu64
	       " periods=%" PRIu64 " dirtied_periods=%" PRIu64 " tasks=%u\n",
	       segment->header.helper_id >> 32, segment->header.pressure_q10,
	       segment->header.kernel_limit_bytes, segment->writeout.period,
	       segment->dirtied.period, used_tasks(segment));
	for (size_t i = 0; i < WP_DEVICES; i++) {
		if (segment->devices[i].key)
			print_device(segment, &segment->devices[i]);
	}
	return 0;
}
