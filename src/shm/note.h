/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The note of a task: what it tells those who look, and what they set for it.
 *
 * Concurrency: written by the task alone, set_weight apart. A reader may find words of two
 * verdicts; each is valid by itself.
 */
#ifndef WP_SHM_NOTE_H
#define WP_SHM_NOTE_H

#include <writepace/layout.h>
#include <writepace/verdict.h>

#include "shm/task.h"

/* The note beside the task's slot, emptied where it was another's. */
struct wp_note *note_of(struct wp_segment *segment, int slot,
			const struct task_identity *identity);

/* Is it the note of that task? */
bool note_is_of(const struct wp_note *note, const struct wp_task *task);

void note_put(struct wp_note *note, const struct verdict *verdict);

/* The last verdict; false where there was none yet. */
bool note_get(const struct wp_note *note, struct verdict *verdict);

#endif
