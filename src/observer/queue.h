/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's own counts of a writeback queue, from debugfs where it is mounted. No event tells
 * when a page's writeback is done, or that a dirty page was thrown away; these counts do.
 */
#ifndef WP_OBSERVER_QUEUE_H
#define WP_OBSERVER_QUEUE_H

#include "base/types.h"

struct queue {
	uint64_t dirtied_bytes; /* ever */
	uint64_t written_bytes; /* ever */
	uint64_t dirty_bytes;
	uint64_t inflight_bytes;
};

/* @name as in debugfs, below @root, "" but for tests. False where it can not be read. */
bool queue_read(const char *root, const char *name, struct queue *queue) WP_MUST_CHECK;

/* The same from the file's text. */
bool queue_parse(const char *text, struct queue *queue) WP_MUST_CHECK;

#endif
