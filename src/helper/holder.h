/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The descriptor that somebody holds on a file of the segment, and one of our own for it.
 *
 * The segment's word for it may be old or damaged: the process must be the one that wrote it,
 * the descriptor must be of that device and inode. Nothing is opened before that is known: an
 * open can block, rewind a tape, wake a reader.
 */
#ifndef WP_HELPER_HOLDER_H
#define WP_HELPER_HOLDER_H

#include "helper/helper.h"

struct holder {
	uint32_t pid;
	uint32_t fd;
};

/* Who has @file open, as far as that is true; false: nobody that we can tell. */
bool holder_find(const struct helper *helper, const struct wp_file *file,
		 struct holder *holder) WP_MUST_CHECK;

/*
 * That very file, or on an overlay the one that has its pages, opened for reading: no lock, no lease on writing, no ETXTBSY of the holder is
 * touched. @size_bytes: 0 for a block device. -1 when it can not be.
 */
int holder_open(const struct helper *helper, const struct wp_file *file,
		uint64_t *size_bytes) WP_MUST_CHECK;

#endif
