/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>

#define WRITE(name, ...) .name = early_##name,
#define OFFLOAD(name, ...) .name = early_##name,
#define PUT(...)
#define FORMAT(...)
#define OTHER(...)
struct real real = {
#include "calls.def"
};
#undef WRITE
#undef OFFLOAD
#undef PUT
#undef FORMAT
#undef OTHER

/* @pointer to the function pointer: the standard way to take a function from dlsym(). */
static void resolve(void *pointer, const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	if (next)
		*(void **)pointer = next;
}

void real_resolve(void)
{
	int saved_errno = errno;

#define RESOLVE(name) resolve(&real.name, #name);
#define WRITE(name, ...) RESOLVE(name)
#define OFFLOAD(name, ...) RESOLVE(name)
#define PUT(name, ...) RESOLVE(name)
#define FORMAT(name, ...) RESOLVE(name)
#define OTHER(name, ...) RESOLVE(name)
#include "calls.def"
	errno = saved_errno;
}
