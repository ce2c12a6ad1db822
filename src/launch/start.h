/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The helper beside a command: see to it that one runs.
 *
 * Nothing here fails or holds up the command: where there can be no helper, there is none.
 */
#ifndef WP_LAUNCH_START_H
#define WP_LAUNCH_START_H

#include "base/types.h"

/*
 * @path: of writepaced. @segment_name: where the command will look. @pid: of the command, known
 * to the helper from now on, so that it stays until that wrote something or ended.
 */
void start_helper(const char *path, const char *segment_name, uint64_t pid);

#endif
