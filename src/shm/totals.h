/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of a command's totals, in each of its processes (<writepace/totals.h>).
 */
#ifndef WP_SHM_TOTALS_H
#define WP_SHM_TOTALS_H

#include <writepace/totals.h>

/* Opens and maps, so only in a constructor. NULL where it is not such a file. */
struct totals *totals_map(const char *path);

#endif
