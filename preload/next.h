/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The next definition of a name in the loader's order, after our own library: what
 * dlsym(RTLD_NEXT, name) answers, read in the tables of the libraries themselves. Eighty names
 * by dlsym() were two thirds of all that a start costs.
 *
 * Where anything is unusual (another kind of table, a function chosen at run time, a name that is
 * nowhere) the answer is NULL, and dlsym() is asked.
 */
#ifndef WP_PRELOAD_NEXT_H
#define WP_PRELOAD_NEXT_H

#include <link.h>
#include <stdint.h>

#define NEXT_OBJECTS 32

struct next_object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hashes;
	const ElfW(Half) * versions; /* NULL = it has none */
};

struct next_objects {
	uint32_t count;
	struct next_object list[NEXT_OBJECTS];
};

/* In the constructor alone: nobody changes the list there. */
void next_look(struct next_objects *objects);
void *next_find(const struct next_objects *objects, const char *name);

#endif
