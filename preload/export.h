/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything is hidden but the interposed names, by -fvisibility and by shim.map.
 */
#ifndef WP_PRELOAD_EXPORT_H
#define WP_PRELOAD_EXPORT_H

#define WP_EXPORT __attribute__((visibility("default")))

#endif
