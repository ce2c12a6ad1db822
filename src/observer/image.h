/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observer.bpf.o, as the build made it, inside the observer.
 */
#ifndef WP_OBSERVER_IMAGE_H
#define WP_OBSERVER_IMAGE_H

#include <stddef.h>

extern const char image_begin[];
extern const char image_end[];

static inline size_t image_bytes(void)
{
	return (size_t)(image_end - image_begin);
}

#endif
