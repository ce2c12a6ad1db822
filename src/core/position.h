/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the outstanding bytes of a device stand between its background line and its limit,
 * as a factor on the rate of its writers (K3.1, K3.3). Pure.
 *
 *   f(x) = 1 + ((setpoint - x) / (limit - setpoint))^3
 *
 *   2 |*
 *     |  *
 *   1 |- - - * * * * - - - -        flat round the setpoint: small errors do not move the rate
 *     |      .        *
 *   0 |______.__________*_______
 *     2*setpoint-limit  |  limit
 *            setpoint
 *
 * Properties (one unit test each):
 *   1. f(2 * setpoint - limit) = 2
 *   2. f(setpoint) = 1
 *   3. f(limit) = 0, and 0 for all above
 *   4. f never rises with x
 *   5. 0 <= f <= 2
 */
#ifndef WP_CORE_POSITION_H
#define WP_CORE_POSITION_H

#include "base/types.h"

/* f of K3.1 in q10. One unit for all three, pages or bytes; 0 where setpoint >= limit. */
uint64_t position_cubic_q10(uint64_t setpoint, uint64_t level, uint64_t limit);

/* (limit + background) / 2: f is 1 there (K3.3). */
uint64_t position_setpoint(uint64_t limit, uint64_t background);

/*
 * Half way from background to setpoint: below it writers run free (K5.3 step 2). Why not the
 * setpoint itself, as for strict limits in the kernel: the base rate rises only from samples
 * below the setpoint (K4.4), and where nobody is paced there it can only ever fall.
 */
uint64_t position_free(uint64_t limit, uint64_t background);

/*
 * K3.3 with a gentle wall. From @limit_bytes up the factor is 0, or a quarter to an eighth
 * while the level is still below @wall_bytes: the limit fell, and its bytes drain without
 * stopping anybody (K3.2's floor). @wall_bytes <= @limit_bytes means there is no such room.
 */
uint64_t position_strict_q10(uint64_t limit_bytes, uint64_t background_bytes,
			     uint64_t wall_bytes, uint64_t outstanding_bytes);

#endif
