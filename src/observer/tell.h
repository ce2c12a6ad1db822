/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the observer tells people (stderr) and the one who started it (systemd's socket).
 */
#ifndef WP_OBSERVER_TELL_H
#define WP_OBSERVER_TELL_H

/* One line. */
__attribute__((format(printf, 1, 2))) void tell(const char *format, ...);

/* "READY=1" and such, where $NOTIFY_SOCKET asks for it. */
void tell_starter(const char *state);

#endif
