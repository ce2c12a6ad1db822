/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel allows on one device: a strict limit makes it hold writers there below the
 * machine's thresholds.
 */
#ifndef WP_HELPER_BDI_H
#define WP_HELPER_BDI_H

#include "base/types.h"

/*
 * Half of what the kernel lets writers run free below, as for the machine (core/limits.h). @folder:
 * of its backing device in /sys. 0 = no limit of its own.
 */
uint64_t bdi_limit_bytes(const char *root, const char *folder);

#endif
