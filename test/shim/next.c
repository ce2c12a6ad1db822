/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded alone: is what preload/next.c finds what dlsym(RTLD_NEXT) finds, for every name of
 * calls.def? Built and used by test/shim/hazards.sh.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "../../preload/next.c"

static const char *const names[] = {
#define NAME(name, ...) #name,
#define WRITE NAME
#define OFFLOAD NAME
#define PUT NAME
#define FORMAT NAME
#define OTHER NAME
#define RAW NAME
#include "../../preload/calls.def"
};

__attribute__((constructor)) static void check(void)
{
	struct next_objects objects;
	int found = 0;

	next_look(&objects);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *next = next_find(&objects, names[i]);

		found += next != NULL;
		if (next && next != dlsym(RTLD_NEXT, names[i]))
			dprintf(2, "next: %s is another\n", names[i]);
	}
	dprintf(2, "next: found %d\n", found);
}
