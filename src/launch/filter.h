/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A filter on system calls that was there before the command (a service's SystemCallFilter=).
 */
#ifndef WP_LAUNCH_FILTER_H
#define WP_LAUNCH_FILTER_H

/*
 * Would one of the library's calls be the command's end? A child tries. A status of
 * launch/status.h, after a line on stderr; 0 for no, and where there is no filter.
 */
int check_filter(void);

#endif
