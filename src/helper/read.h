/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files of /proc and /sys, and the numbers in them.
 */
#ifndef WP_HELPER_READ_H
#define WP_HELPER_READ_H

#include "base/types.h"

#define READ_PATH_BYTES 512

/* The file at the path that @format gives, as a string; false when there is none. */
__attribute__((format(printf, 3, 4))) bool read_text(char *text, size_t bytes,
						     const char *format, ...);

/* The same for a file that holds one number; 0 when there is none. */
__attribute__((format(printf, 1, 2))) uint64_t read_number(const char *format, ...);

/* The number behind @name in @text, 0 where there is none. */
uint64_t read_value(const char *text, const char *name);

/* "MAJOR:MINOR" -> device number. */
bool read_device_number(const char *text, uint64_t *number);

/*
 * Does the process live that had this pid at @start_ns (CLOCK_BOOTTIME)? One that began later
 * got the pid after it.
 */
bool read_process_lives(const char *root, uint64_t pid, uint64_t start_ns);

#endif
