/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attaching the one segment (design 9): a file of the user's own, mapped, its descriptor closed
 * at once. Where there is none to be had, an anonymous mapping serves this process and its
 * children.
 *
 * segment_attach() runs in the constructor and opens files; segment_ready() is its other half,
 * on the first slow path: it is the first to touch the mapping.
 */
#ifndef WP_SHM_SEGMENT_H
#define WP_SHM_SEGMENT_H

#include <writepace/layout.h>

#include "base/types.h"

enum segment_state {
	SEGMENT_NONE,    /* not even anonymous memory: no pacing */
	SEGMENT_SHARED,  /* a file */
	SEGMENT_PRIVATE, /* anonymous: this process and its children */
};

struct segment {
	enum segment_state state;
	bool checked;
	struct wp_segment *map;
};

/*
 * @name: of a separate segment, "" = the common one. Never fails: the state says what came of
 * it. No errno is changed.
 */
void segment_attach(struct segment *segment, const char *name);

/* The same in @directory, which must be the user's own; anything else counts as nowhere. */
void segment_attach_in(struct segment *segment, const char *directory, const char *name);

/* True when the mapping may be used; false for good once its header was found damaged. */
bool segment_ready(struct segment *segment) WP_MUST_CHECK;

/*
 * A file of ours whose header is damaged serves nobody who comes: another takes its name, and
 * @segment is attached to that. For who starts programs; opens files.
 */
void segment_renew(struct segment *segment, const char *name);
void segment_renew_in(struct segment *segment, const char *directory, const char *name);

/* Is what the helper wrote into the header of this moment? A silent one's words are not used. */
bool segment_is_helped(const struct wp_segment *map, uint64_t now_ns);

/* The path of the segment of this user with this name; false where it does not fit. */
bool segment_path(char *path, size_t path_bytes, const char *directory, const char *name);

#endif
