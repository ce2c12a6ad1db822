/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interposed calls, as they are exported: everything else is hidden, by -fvisibility and by
 * the version script, both made from calls.def.
 *
 * Why declared once more: some have no prototype in any header, and where there is one the
 * compiler holds the two against each other.
 */
#ifndef WP_PRELOAD_EXPORT_H
#define WP_PRELOAD_EXPORT_H

#include <aio.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

#include "names.h"

#define WP_EXPORT __attribute__((visibility("default")))

#define WRITE(name, result, parameters, ...) WP_EXPORT result name parameters;
#define OFFLOAD(name, result, parameters, ...) WP_EXPORT result name parameters;
#define PUT(name, result, parameters, ...) WP_EXPORT result name parameters;
#define FORMAT(name, result, parameters, ...) WP_EXPORT result name parameters;
#define OTHER(name, result, parameters, ...) WP_EXPORT result name parameters;
#define RAW(name, result, parameters, ...) WP_EXPORT result name parameters;
#include "calls.def"
#undef WRITE
#undef OFFLOAD
#undef PUT
#undef FORMAT
#undef OTHER
#undef RAW

#endif
