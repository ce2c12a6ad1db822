/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The next definition of each interposed call, resolved once in the constructor.
 *
 * Before that (other constructors, the loader) the calls that every program makes stand for the
 * system call of the same meaning, the others are NULL and resolve themselves when called.
 */
#ifndef WP_PRELOAD_REAL_H
#define WP_PRELOAD_REAL_H

#include <aio.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

#include "names.h"

#include "base/types.h"

#define WRITE(name, result, parameters, ...) result(*name) parameters;
#define OFFLOAD(name, result, parameters, ...) result(*name) parameters;
#define PUT(name, result, parameters, ...) result(*name) parameters;
#define FORMAT(...)
#define OTHER(name, result, parameters, ...) result(*name) parameters;
#define RAW(...)
struct real {
#include "calls.def"
};
#undef WRITE
#undef OFFLOAD
#undef PUT
#undef FORMAT
#undef OTHER
#undef RAW

/* Why hidden here too: one instruction less on each call. */
extern struct real real __attribute__((visibility("hidden")));

/* Fill every pointer. A name that the libc does not have stays as it was. */
void real_resolve(void);

/* What stands in for a call before the constructor. */
#define WRITE(name, result, parameters, ...) result early_##name parameters;
#define OFFLOAD(name, result, parameters, ...) result early_##name parameters;
#define PUT(...)
#define FORMAT(...)
#define OTHER(...)
#define RAW(...)
#include "calls.def"
#undef WRITE
#undef OFFLOAD
#undef PUT
#undef FORMAT
#undef OTHER
#undef RAW

/* The pointer of one call that has no system call to stand in for it. */
#define real_call(name) \
	(wp_likely(real.name != NULL) ? real.name : (real_resolve(), real.name))

#endif
