/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/blockstat.h"

#include <stdlib.h>

#include "helper/read.h"

#define SECTOR_BYTES 512

/* Fields of /sys/.../stat; kernels before 5.5 have the first eleven. */
enum {
	READS = 0,
	SECTORS_READ = 2,
	SECTORS_WRITTEN = 6,
	INFLIGHT = 8,
	FLUSHES = 15,
	FIELDS = 17
};

bool blockstat_add(struct blockstat *sum, const char *folder)
{
	uint64_t fields[FIELDS] = { 0 };
	char text[512];
	char *at = text;
	int count;

	if (!read_text(text, sizeof(text), "%s/stat", folder))
		return false;
	for (count = 0; count < FIELDS; count++) {
		char *end;

		fields[count] = strtoull(at, &end, 10);
		if (end == at)
			break;
		at = end;
	}
	if (count <= INFLIGHT)
		return false;
	sum->written_bytes += fields[SECTORS_WRITTEN] * SECTOR_BYTES;
	sum->reads += fields[READS];
	sum->read_bytes += fields[SECTORS_READ] * SECTOR_BYTES;
	sum->flushes += fields[FLUSHES];
	sum->inflight += fields[INFLIGHT];
	return true;
}
