/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>

#include "next.h"

#define WRITE(name, ...) .name = early_##name,
#define OFFLOAD(name, ...) .name = early_##name,
#define PUT(...)
#define FORMAT(...)
#define OTHER(...)
#define RAW(...)
struct real real = {
#include "calls.def"
};
#undef WRITE
#undef OFFLOAD
#undef PUT
#undef FORMAT
#undef OTHER
#undef RAW

/* @pointer to the function pointer: the standard way to take a function from dlsym(). */
static void resolve(void *pointer, const struct next_objects *objects, const char *name)
{
	void *next = next_find(objects, name);

	if (!next)
		next = dlsym(RTLD_NEXT, name);
	if (next)
		*(void **)pointer = next;
}

void real_resolve(void)
{
	struct next_objects objects;
	int saved_errno = errno;

	next_look(&objects);
#define RESOLVE(name) resolve(&real.name, &objects, #name);
#define WRITE(name, ...) RESOLVE(name)
#define OFFLOAD(name, ...) RESOLVE(name)
#define PUT(name, ...) RESOLVE(name)
#define FORMAT(...)
#define OTHER(name, ...) RESOLVE(name)
#define RAW(...)
#include "calls.def"
	errno = saved_errno;
}
