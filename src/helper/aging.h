/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that ends periods of the proportion domains on time (K1.3).
 *
 * Why a thread of its own: everything else here reads files, and may wait for a device that
 * does not answer; periods go on meanwhile.
 */
#ifndef WP_HELPER_AGING_H
#define WP_HELPER_AGING_H

#include "helper/helper.h"

/*
 * Start it. Each time it wakes, by the clock or by somebody who changed header.wake, it also
 * writes to helper->wake_fd. It goes on until the program ends: whoever lost the place ages
 * nothing twice, the claim is in age_step().
 */
bool aging_start(struct helper *helper) WP_MUST_CHECK;

/* Sleep until @word is not @seen any more, or until @until_ns, 0 = for as long as it takes. */
void aging_wait(const uint32_t *word, uint32_t seen, uint64_t until_ns);

#endif
