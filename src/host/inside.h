/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is this process paced from outside already (writepace --any)? The filter that it is under
 * answers a prctl() that no kernel knows with an error that no kernel gives for it.
 */
#ifndef WP_HOST_INSIDE_H
#define WP_HOST_INSIDE_H

#include "base/types.h"
#include "host/sys.h"

#define INSIDE_PRCTL 0x77706163 /* an option of prctl() */
#define INSIDE_ERRNO EALREADY

static inline bool inside_any(void)
{
	return sys_call(SYS_prctl, INSIDE_PRCTL, 0, 0, 0, 0) == -INSIDE_ERRNO;
}

#endif
