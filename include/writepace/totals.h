/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all processes of one command did, added up in a file that its parent made.
 *
 * Writer: the library of each process, at its exit: word_add() on the sums,
 * compare-and-swap from 0 on a device (one more than the table holds is not named).
 * Reader: writepace-attend after the command ended, and report_line(). The file's path is
 * in WRITEPACE_TOTALS; a process that finds another magic, version or size there leaves
 * the file alone.
 *
 * The library also fills one of these for itself: WRITEPACE_STATS=1 prints the same line.
 */
#ifndef WRITEPACE_TOTALS_H
#define WRITEPACE_TOTALS_H

#include <stdint.h>

#define WP_TOTALS_VARIABLE "WRITEPACE_TOTALS"
#define WP_TOTALS_MAGIC 0x736c61746f747077u /* "wptotals" in memory, little endian */
#define WP_TOTALS_VERSION 1u
#define WP_TOTALS_DEVICES 16

struct totals {
	uint64_t magic;
	uint64_t version;
	uint64_t charged_bytes;   /* passed the calls that the library sees */
	uint64_t dirtied_bytes;   /* made dirty, as the kernel counts */
	uint64_t uncovered_bytes; /* dirtied past the library: mmap, io_uring */
	uint64_t sleeps;
	uint64_t slept_ns;
	uint64_t processes;                  /* that added their numbers */
	uint64_t devices[WP_TOTALS_DEVICES]; /* st_dev, 0 = free */
};

#endif
