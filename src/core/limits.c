/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/limits.h"

#include "base/fixed.h"

static uint64_t ceiled(uint64_t bytes, uint64_t ceiling_bytes)
{
	return ceiling_bytes ? min_u64(bytes, ceiling_bytes) : bytes;
}

uint64_t limits_global_bytes(uint64_t drain_ns, uint64_t in_use_bps,
			     uint64_t ceiling_bytes, uint64_t kernel_bytes,
			     uint64_t pressure_q10)
{
	uint64_t bytes = ns_to_bytes(drain_ns, in_use_bps);

	bytes = ceiled(ceiled(bytes, kernel_bytes), ceiling_bytes);
	if (pressure_q10 && pressure_q10 < WP_Q10)
		bytes = mul_div(bytes, pressure_q10, WP_Q10);
	return max_u64(bytes, LIMITS_ROOM_BYTES);
}

/* K2.5, steps 1 to 5, with q10 ratios. */
static uint64_t device_share_bytes(const struct limits_view *view)
{
	uint64_t free_q10 = sub_u64(WP_Q10, view->others_min_ratio_q10);
	uint64_t bytes = mul_div(view->global_bytes, free_q10, WP_Q10);

	if (view->share.denominator)
		bytes = mul_div(bytes, view->share.numerator, view->share.denominator);
	bytes += mul_div(view->global_bytes, view->min_ratio_q10, WP_Q10);
	bytes = max_u64(bytes, sub_u64(view->global_bytes, view->outstanding_bytes) / 8);
	if (view->max_ratio_q10)
		bytes = min_u64(bytes,
				mul_div(view->global_bytes, view->max_ratio_q10, WP_Q10));
	return bytes;
}

uint64_t limits_device_bytes(const struct limits_view *view)
{
	uint64_t bytes = device_share_bytes(view);

	if (view->bandwidth_bps)
		bytes = min_u64(bytes, ns_to_bytes(view->drain_ns, view->bandwidth_bps));
	else
		bytes = min_u64(max_u64(bytes, LIMITS_NEWCOMER_BYTES),
				view->newcomer_bytes);
	bytes = ceiled(min_u64(bytes, view->global_bytes), view->max_bytes);
	return max_u64(bytes, LIMITS_ROOM_BYTES);
}

/* floor(sqrt(n)), bit by bit. */
static uint64_t square_root(uint64_t n)
{
	uint64_t root = 0;

	for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1) {
		if ((root | bit) * (root | bit) <= n)
			root |= bit;
	}
	return root;
}

uint64_t limits_task_bytes(uint64_t device_bytes, struct fprop_fraction share,
			   enum limits_penalty penalty)
{
	uint64_t most_bytes = device_bytes / 8;

	if (penalty == LIMITS_OFF || !share.denominator)
		return device_bytes;
	if (penalty == LIMITS_SQRT)
		most_bytes = min_u64(most_bytes,
				     8 * square_root(device_bytes / WP_PAGE_BYTES) *
					     WP_PAGE_BYTES);
	return device_bytes - mul_div(most_bytes, share.numerator, share.denominator);
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
