/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of /proc/PID/mountinfo. Oracle: every text of a mount ends within its place.
 */
#include "fuzz.h"

#include "helper/mounts.h"

#define ENDS(text) must(memchr((text), 0, sizeof(text)))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct mounts mounts = { 0 };
	static struct mount mount;

	if (!bytes)
		return 0;
	mounts.file = fmemopen((void *)(uintptr_t)data, bytes, "r");
	must(mounts.file);
	memset(&mount, 0xa5, sizeof(mount));
	while (mounts_next(&mounts, &mount)) {
		ENDS(mount.top);
		ENDS(mount.point);
		ENDS(mount.type);
		ENDS(mount.source);
		ENDS(mount.upper);
		memset(&mount, 0xa5, sizeof(mount));
	}
	mounts_close(&mounts);
	return 0;
}
