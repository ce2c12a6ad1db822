/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "simdisk.h"

#include "base/fixed.h"

bool simdisk_submit(struct simdisk *disk, const struct simdisk_command *command)
{
	if (disk->submitted - disk->done == SIMDISK_COMMANDS)
		return false;
	disk->commands[disk->submitted++ % SIMDISK_COMMANDS] = *command;
	return true;
}

/* When the transfer of @bytes that begins at @at_ns ends. */
static uint64_t transfer(struct simdisk *disk, uint64_t bytes, uint64_t at_ns)
{
	if (!disk->slice_ns)
		return at_ns + bytes_to_ns(bytes, disk->rate_bps);
	while (bytes) {
		uint64_t part_bytes;

		if (at_ns / disk->slice_ns != disk->slice) {
			disk->slice = at_ns / disk->slice_ns;
			disk->slice_left_bytes =
				ns_to_bytes(disk->slice_ns, disk->rate_bps);
		}
		part_bytes = min_u64(bytes, disk->slice_left_bytes);
		disk->slice_left_bytes -= part_bytes;
		bytes -= part_bytes;
		at_ns += bytes_to_ns(part_bytes, disk->medium_bps);
		if (bytes && !disk->slice_left_bytes)
			at_ns = max_u64(at_ns, (disk->slice + 1) * disk->slice_ns);
	}
	return at_ns;
}

static bool begin_next(struct simdisk *disk, uint64_t now_ns)
{
	struct simdisk_command *command = &disk->commands[disk->begun % SIMDISK_COMMANDS];
	uint64_t at_ns = max_u64(disk->free_ns, disk->stall_until_ns);

	if (disk->begun == disk->submitted)
		return false;
	at_ns = max_u64(at_ns, command->submit_ns);
	if (at_ns > now_ns)
		return false;
	disk->free_ns = transfer(disk, command->end_bytes - command->begin_bytes, at_ns);
	command->done_ns = disk->free_ns + disk->latency_ns;
	disk->begun++;
	return true;
}

void simdisk_advance(struct simdisk *disk, uint64_t now_ns,
		     void (*complete)(const struct simdisk_command *command))
{
	while (begin_next(disk, now_ns))
		;
	while (disk->done < disk->begun) {
		struct simdisk_command *command =
			&disk->commands[disk->done % SIMDISK_COMMANDS];

		if (command->done_ns > now_ns)
			break;
		disk->done++;
		disk->done_bytes += command->end_bytes - command->begin_bytes;
		complete(command);
	}
}
