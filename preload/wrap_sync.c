/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Syncs: others make room for them (src/shm/sync.h). They are cancellation points: one that is
 * cancelled never comes to its end here, and its hold ends by itself.
 */
#include <fcntl.h>
#include <unistd.h>

#include "export.h"
#include "gate.h"
#include "host/sys.h"
#include "real.h"

WP_EXPORT int fsync(int fd)
{
	struct wp_device *device = gate_sync(fd);
	int result;

	if (wp_likely(real.fsync != NULL))
		result = real.fsync(fd);
	else
		result = (int)with_errno(sys_call(SYS_fsync, fd));
	pace_sync_end(device);
	return result;
}

WP_EXPORT int fdatasync(int fd)
{
	struct wp_device *device = gate_sync(fd);
	int result;

	if (wp_likely(real.fdatasync != NULL))
		result = real.fdatasync(fd);
	else
		result = (int)with_errno(sys_call(SYS_fdatasync, fd));
	pace_sync_end(device);
	return result;
}

WP_EXPORT int syncfs(int fd)
{
	struct wp_device *device = gate_sync(fd);
	int result;

	if (wp_likely(real.syncfs != NULL))
		result = real.syncfs(fd);
	else
		result = (int)with_errno(sys_call(SYS_syncfs, fd));
	pace_sync_end(device);
	return result;
}

#define WAITS (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER)

/* Without a flag that waits it only starts, as we do ourselves. */
WP_EXPORT int sync_file_range(int fd, off64_t at, off64_t n, unsigned int flags)
{
	struct wp_device *device = flags & WAITS ? gate_sync(fd) : NULL;
	int result;

	if (wp_likely(real.sync_file_range != NULL))
		result = real.sync_file_range(fd, at, n, flags);
	else
		result = (int)with_errno(sys_call(SYS_sync_file_range, fd, at, n, flags));
	pace_sync_end(device);
	return result;
}
