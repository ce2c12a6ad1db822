/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a command's word to the file that the kernel will load: PATH and #! lines.
 */
#ifndef WP_LAUNCH_FIND_H
#define WP_LAUNCH_FIND_H

#include <limits.h>

#include "base/types.h"

#define WP_SCRIPT_LINE_BYTES 256 /* as much of a #! line as the kernel reads */

struct script {
	char interpreter[WP_SCRIPT_LINE_BYTES];
	char argument[WP_SCRIPT_LINE_BYTES]; /* all the rest of the line, "" = none */
};

/*
 * Find @command as execvp() does; @path gets what was found (PATH_MAX bytes). Returns 0,
 * -ENOENT, or -EACCES (and @path) when there are only files that must not be executed.
 */
int find_command(const char *command, char *path) WP_MUST_CHECK;

/* The last part of a path. */
const char *find_name(const char *path);

/* Does the file start with a usable #! line? */
bool find_script(const char *path, struct script *script);

/*
 * The command that `env` would run, from the argument of a #!/usr/bin/env line. False
 * where that cannot be said.
 */
bool find_env_command(const char *argument, char command[WP_SCRIPT_LINE_BYTES]);

#endif
