/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * --once: what the running observer has published, as a table or as JSON.
 */
#ifndef WP_OBSERVER_SHOW_H
#define WP_OBSERVER_SHOW_H

#include "base/types.h"

/* False with a line said where no observer runs. */
bool show(const char *folder, bool json) WP_MUST_CHECK;

#endif
