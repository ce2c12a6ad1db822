/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times read from shared memory. What lies far ahead is damage and must not hold up anybody until
 * that time comes: it counts as ever so long ago.
 *
 * Why so much slack: a caller that was held up, or stopped, since it asked the clock finds true
 * times ahead of its own. What is damaged by less heals by waiting, no later than claims expire.
 */
#ifndef WP_BASE_STAMP_H
#define WP_BASE_STAMP_H

#include "base/types.h"

#define STAMP_SLACK_NS WP_SEC(35)

static inline bool stamp_is_damaged(uint64_t stamp_ns, uint64_t now_ns)
{
	return stamp_ns > now_ns && stamp_ns - now_ns > STAMP_SLACK_NS;
}

static inline uint64_t stamp_age_ns(uint64_t stamp_ns, uint64_t now_ns)
{
	return stamp_is_damaged(stamp_ns, now_ns) ? UINT64_MAX :
						    sub_u64(now_ns, stamp_ns);
}

#endif
