/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The programs of observer.bpf.c in the kernel: what of them this one can run, loaded, attached.
 */
#ifndef WP_OBSERVER_LOAD_H
#define WP_OBSERVER_LOAD_H

#include "base/types.h"

struct loaded {
	struct bpf_object *object;
	int devices_fd;
	int tasks_fd;
	int names_fd;
	int runs_fd;
	unsigned cpus;
	const uint64_t *lost; /* the programs' own counter, mapped */
};

/*
 * @all_syncs: waits in fsync on all file systems, at a price for every system call.
 * What is missing in this kernel is said on stderr, once each, and left out. False with a line
 * said: nothing can be observed.
 */
bool load_programs(struct loaded *loaded, bool all_syncs, bool verbose) WP_MUST_CHECK;

#endif
