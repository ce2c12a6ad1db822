/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * overlayfs: what is written to a file there goes to another one below its upper directory, which
 * has the pages, and a device. Where that directory is hidden (most containers') nobody sees them.
 *
 * A file that came up from a lower layer keeps the inode number it had there: nothing tells that
 * the one above is the same, so it counts as hidden.
 */
#ifndef WP_HELPER_OVERLAY_H
#define WP_HELPER_OVERLAY_H

#include "helper/holder.h"

bool overlay_is(int fd);

/* The upper file of inode @inode behind the holder's, opened for reading; -1 when it is hidden. */
int overlay_open_upper(const char *root, const struct holder *holder, uint64_t inode);

#endif
