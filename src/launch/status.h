/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exit statuses of a program that starts another one, as env, nice and timeout have them.
 */
#ifndef WP_LAUNCH_STATUS_H
#define WP_LAUNCH_STATUS_H

#define WP_STATUS_REFUSED 125 /* our own failure: nothing was started */
#define WP_STATUS_NOT_EXECUTABLE 126
#define WP_STATUS_NOT_FOUND 127

#endif
