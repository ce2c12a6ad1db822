/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files under /run/writepace: one for the devices, one for the tasks of each user.
 */
#ifndef WP_OBSERVER_BOARD_H
#define WP_OBSERVER_BOARD_H

#include "observer/gather.h"
#include "publish/publish.h"

#define BOARD_USERS 64

struct board_user {
	uint32_t uid;
	bool used;
	bool current; /* has tasks now */
	struct publication file;
};

struct board {
	const char *folder;
	uint64_t start_ns;
	struct publication devices;
	struct board_user users[BOARD_USERS];
};

/* Only one observer has a folder: false with a line said. Files of an earlier one go. */
bool board_begin(struct board *board, const char *folder, uint64_t now_ns) WP_MUST_CHECK;

void board_devices(struct board *board, const struct gathered_devices *gathered,
		   uint64_t lost, uint64_t now_ns);
void board_tasks(struct board *board, const struct gathered_tasks *gathered,
		 uint64_t now_ns);

/* All files go, so that nobody takes old numbers for new ones. */
void board_end(struct board *board);

#endif
