/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Can a program be paced? By the library, which the dynamic loader must take; or by writepace-any,
 * which must know its calls.
 */
#ifndef WP_LAUNCH_REACH_H
#define WP_LAUNCH_REACH_H

#include "launch/request.h"

/* 0, or a status of launch/status.h after a line on stderr. */
int reach_check(struct request *request, const char *path,
		const struct elf_facts *facts) WP_MUST_CHECK;

#endif
