/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/limits.h"

#include "base/fixed.h"

static uint64_t ceiled(uint64_t bytes, uint64_t ceiling_bytes)
{
	return ceiling_bytes ? min_u64(bytes, ceiling_bytes) : bytes;
}

uint64_t limits_device_bytes(const struct limits_view *view)
{
	uint64_t bytes = view->newcomer_bytes;

	if (view->bandwidth_bps)
		bytes = ns_to_bytes(view->drain_ns, view->bandwidth_bps);
	if (view->rate_bps)
		bytes = min_u64(bytes, ns_to_bytes(view->drain_ns, view->rate_bps));
	bytes = ceiled(bytes, view->kernel_bytes);
	bytes = ceiled(bytes, view->ceiling_bytes);
	return max_u64(bytes, LIMITS_ROOM_BYTES);
}

uint64_t limits_kernel_bytes(uint64_t thresh_bytes, uint64_t background_bytes)
{
	return thresh_bytes / 4 + background_bytes / 4;
}

uint64_t limits_newcomer_bytes(uint64_t newcomer_bytes, uint64_t written_bytes)
{
	return written_bytes >= newcomer_bytes - newcomer_bytes / 10 ?
		       2 * newcomer_bytes :
		       newcomer_bytes;
}

uint64_t limits_wall_bytes(uint64_t wall_bytes, uint64_t limit_bytes,
			   uint64_t outstanding_bytes)
{
	uint64_t target_bytes = max_u64(limit_bytes, outstanding_bytes);

	if (wall_bytes < limit_bytes)
		return limit_bytes;
	return wall_bytes - sub_u64(wall_bytes, target_bytes) / 32;
}
