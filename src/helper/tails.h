/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files whose writer stopped writing: what it left dirty is started, unit by unit, at the pace
 * of the device's other writeback (design 8). And files on an overlay, whose writer can not do it
 * itself, for as long as it has them open.
 *
 * One file of a device after the other: units of several in turn would fragment them. A file is
 * left alone as soon as anybody else looks at it.
 */
#ifndef WP_HELPER_TAILS_H
#define WP_HELPER_TAILS_H

#include "helper/helper.h"

#define TAILS 64 /* files known at a time; the others wait */

struct tail {
	int slot;
	uint64_t key;
	uint64_t seen_ns; /* of the file when we looked last: who else looks changes it */
	uint64_t left_bytes;  /* dirty or in flight then */
	uint64_t progress_ns; /* when that last became less */
	bool given_up;
};

struct tails {
	unsigned count;
	struct tail list[TAILS];
};

/* Which files are there? */
void tails_find(struct tails *tails, const struct helper *helper, uint64_t now_ns);

/* Start what is due. Returns the time until the next look, 0 = no tails. */
uint64_t tails_step(struct tails *tails, const struct helper *helper, uint64_t now_ns);

#endif
