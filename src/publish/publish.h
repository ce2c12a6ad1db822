/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Both ends of a published file: <writepace/published.h> says what is in it.
 *
 * Why written and read by calls, not mapped: a full or truncated file is an error then, and never
 * a SIGBUS.
 */
#ifndef WP_PUBLISH_PUBLISH_H
#define WP_PUBLISH_PUBLISH_H

#include <sys/types.h>

#include <writepace/published.h>

#include "base/types.h"

#define PUBLISH_PATH_BYTES 256

struct publication {
	int fd; /* -1 = none */
	uint32_t entry_bytes;
	uint32_t room;
	uint64_t generation;
	char path[PUBLISH_PATH_BYTES];
};

/*
 * A new file at @folder/@name in place of an older one, for @entries of @entry_bytes; @uid's own,
 * with @mode. False with errno set.
 */
bool publish_begin(struct publication *publication, const char *folder, const char *name,
		   mode_t mode, uid_t uid, uint32_t entry_bytes,
		   uint32_t entries) WP_MUST_CHECK;

/* @set->entries many @entries become what readers see. False: they still see the last ones. */
bool publish(struct publication *publication, const struct wp_published_set *set,
	     const void *entries) WP_MUST_CHECK;

/* The file goes. */
void publish_end(struct publication *publication);

/*
 * Copy the set of this moment from @folder/@name and at most @room of its entries, each of
 * @entry_bytes. False where there is no such file, or another version's, or it changes too often.
 */
bool published_read(const char *folder, const char *name, struct wp_published_set *set,
		    void *entries, uint32_t entry_bytes, uint32_t room) WP_MUST_CHECK;

/*
 * The tasks of all users whose file the caller may read, at most @room. Names are made fit to be
 * printed, in JSON too: they are somebody else's words.
 */
uint32_t published_tasks(const char *folder, struct wp_published_task *tasks,
			 uint32_t room) WP_MUST_CHECK;

#endif
