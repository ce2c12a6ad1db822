/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The summary line of one process (WRITEPACE_STATS=1) or of one command (--stats).
 */
#ifndef WP_BASE_REPORT_H
#define WP_BASE_REPORT_H

#include <writepace/totals.h>

#include "base/types.h"

#define WP_REPORT_LINE_BYTES 768 /* room for every line that report_line() can make */

/*
 * Write into @line, newline and NUL included:
 *
 *   writepace: CMD[PID] charged=N dirtied=N uncovered=N sleeps=N slept=N.NNNs devices=M:m
 *
 * Returns the length without the NUL. Bytes are plain numbers; devices by
 * commas, `-` for none. Signal: pure, may be called anywhere.
 */
size_t report_line(char *line, size_t bytes, const char *name, long pid,
		   const struct totals *totals);

/* Where what is outstanding is known from (enum wp_source), as a word. */
const char *report_source(uint64_t source);

/*
 * The same for what a process found at its first paced write:
 *
 *   writepace: CMD[PID] device=M:m limit=N source=cachestat
 */
size_t report_found_line(char *line, size_t bytes, const char *name, long pid,
			 uint64_t device, uint64_t limit_bytes, const char *source);

#endif
