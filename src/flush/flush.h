/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking after one file's writeback: what is there, what to start next.
 *
 * The caller does it, on its slow path, with its own descriptor, in units no larger than the
 * device's window has room for, and never waits for one (design 3, K7.5): started is not done;
 * the next look tells.
 */
#ifndef WP_FLUSH_FLUSH_H
#define WP_FLUSH_FLUSH_H

#include <writepace/layout.h>

#include "base/types.h"
#include "core/control.h"
#include "shm/file.h"

struct flush_file {
	int fd;
	uint64_t size_bytes;  /* 0 = unknown: a block device */
	struct wp_file *file; /* shared entry */
	struct wp_device *device;
	bool blind; /* it can not be asked: flush_guess() was */
	uint64_t
		end_bytes; /* then: what was written in order ends here, 0 = in no order */
};

/*
 * Ask the kernel what of the file is outstanding and settle it: @look holds the time and the
 * new dirt, the rest of it is filled in. With may_rest it may be what is known, less
 * what has landed since. Returns the bytes that are dirty and not yet in flight, or a negative
 * errno when the file can not be asked (EPERM, ENOSYS).
 */
int64_t flush_look(const struct flush_file *flush, struct file_look *look);

/*
 * For a file that can not be asked, whose @dirtied_bytes became orphans: what of them was not
 * started yet. Where they are is guessed: before the position, as long as that moves on; else
 * anywhere, and all of the file is started at once.
 */
uint64_t flush_guess(struct flush_file *flush, uint64_t dirtied_bytes, uint64_t now_ns);

/* Part of the file was cut off: what is outstanding no more was not written. */
void flush_cancelled(const struct flush_file *flush);

/* How much may be started, and how quickly. */
struct flush_pace {
	uint64_t unit_bytes;
	uint64_t window_bytes;
	uint64_t interval_ns; /* between two units, 0 = at once */
	uint64_t slice_bytes; /* before another file's turn */
	bool requeue; /* of measurements: a file without progress keeps its turn (K7.4) */
	bool forced;  /* neither turn, due nor room is asked for, but the clock moves */
	uint64_t now_ns;
};

/* As the control state of the device has it at @now_ns. */
struct flush_pace flush_pace_of(const struct control *control, uint64_t now_ns);

/*
 * Start units of the file while the window has room, the next one is due and something is
 * dirty; @dirty_bytes from the last look. Returns the bytes started, or a negative errno.
 */
int64_t flush_start(const struct flush_file *flush, uint64_t dirty_bytes,
		    const struct flush_pace *pace);

#endif
