/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a person set while programs run. Why sealed: any number is a possible setting, and a ceiling
 * of 64 KiB/s that nobody asked for would be kept until somebody wonders.
 *
 * Concurrency: a reader between the two words of a writer finds nothing set.
 */
#ifndef WP_SHM_SETTING_H
#define WP_SHM_SETTING_H

#include <writepace/layout.h>

#include "base/order.h"

static inline struct wp_setting setting_of(uint64_t value)
{
	uint64_t mixed = (value ^ WP_LAYOUT_MAGIC) * UINT64_C(0x9e3779b97f4a7c15);

	return (struct wp_setting){ .value = value, .seal = mixed ^ mixed >> 32 };
}

/* 0 = nothing is set. */
static inline uint64_t setting_value(const struct wp_setting *setting)
{
	uint64_t value = word_read(&setting->value);

	return word_read(&setting->seal) == setting_of(value).seal ? value : 0;
}

#endif
