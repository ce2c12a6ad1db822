/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/burst.h"

/* What was dirtied above the limit since the last step, and has not left again. */
static uint64_t grown_bytes(const struct burst *burst, const struct burst_view *view)
{
	return sub_u64(view->outstanding_bytes,
		       max_u64(burst->level_bytes, view->limit_bytes));
}

uint64_t burst_credit_bytes(const struct burst *burst, const struct burst_view *view)
{
	uint64_t over_bytes = sub_u64(view->outstanding_bytes, view->limit_bytes);
	uint64_t left_bytes = sub_u64(view->most_bytes, burst->spent_bytes);

	return min_u64(sub_u64(left_bytes, grown_bytes(burst, view)),
		       sub_u64(view->most_bytes, over_bytes));
}

uint64_t burst_ceiling_bytes(const struct burst *burst, const struct burst_view *view)
{
	struct burst_view before = *view;
	uint64_t credit_bytes;

	before.outstanding_bytes = burst->level_bytes;
	credit_bytes = burst_credit_bytes(burst, &before);
	return credit_bytes ?
		       max_u64(view->limit_bytes, burst->level_bytes) + credit_bytes :
		       0;
}

void burst_step(struct burst *burst, const struct burst_view *view)
{
	uint64_t fallen_bytes = sub_u64(burst->level_bytes, view->outstanding_bytes);
	uint64_t left_bytes = sub_u64(view->most_bytes, burst->spent_bytes);

	if (view->outstanding_bytes <= view->limit_bytes / 4)
		burst->spent_bytes = 0;
	else if (view->outstanding_bytes <= view->background_bytes)
		burst->spent_bytes = sub_u64(burst->spent_bytes, fallen_bytes);
	else
		/* Why no more than is left: who has no credit spends nobody's. */
		burst->spent_bytes += min_u64(grown_bytes(burst, view), left_bytes);
	burst->level_bytes = view->outstanding_bytes;
}
