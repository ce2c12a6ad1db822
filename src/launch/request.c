/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/request.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "launch/status.h"

void say(const char *format, ...)
{
	char line[2 * PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	dprintf(STDERR_FILENO, "writepace: %s\n", line);
}

int refuse(const struct request *request, const char *path, const char *reason,
	   const char *instead)
{
	if (!request->best_effort) {
		say("%s: %s; not started (%s)", path, reason, instead);
		return WP_STATUS_REFUSED;
	}
	if (!request->quiet)
		say("warning: %s: %s; it runs unpaced", path, reason);
	return 0;
}
