/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which device does a person mean? Follows links and may wait for a file system, so only where
 * a program begins.
 */
#ifndef WP_HOST_LOCATE_H
#define WP_HOST_LOCATE_H

#include "base/types.h"

/*
 * @what is MAJOR:MINOR, a block device's node, or a path on the device. 0, or a negative errno.
 * Changes errno.
 */
int locate_device(const char *what, uint64_t *device_number) WP_MUST_CHECK;

#endif
