/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scenarios of the simulator and what they say: numbers as comments, promises as TAP.
 */
#ifndef WP_TEST_SCENARIO_H
#define WP_TEST_SCENARIO_H

#include "scale.h"

struct scenario {
	const char *name;
	const char *about;
	void (*run)(void);
};

extern const struct scenario scenarios[];
extern const unsigned scenario_count;

/* Lines begun with "not ok" so far. */
extern unsigned scenario_failed;

/* Run one in a new world and print its plan. False when memory is short. */
bool scenario_run(const struct scenario *scenario, uint64_t seed) WP_MUST_CHECK;

#endif
