/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings of single devices, as one text:
 *
 *   WHAT:NAME=VALUE[,NAME=VALUE...][;WHAT:...]
 *
 * WHAT is an absolute path on the device, its node, or MAJOR:MINOR; it may hold ':' and ',' but no ';':
 * the settings begin at the last ':' with one of the names and '=' after it. NAME is one of
 *
 *   min_ratio, max_ratio   share of the limit over all devices that the device has at least, at
 *                          most: 0 to 100, with a fraction, with % or without
 *   max_bytes              ceiling of what is outstanding on it
 *   bandwidth              what it is taken to write until that is measured
 *
 * At most WP_CONF_DEVICES of them. Pure.
 */
#ifndef WP_CONF_DEVICES_H
#define WP_CONF_DEVICES_H

#include "base/text.h"
#include "base/types.h"

#define WP_CONF_TEXT_BYTES 256 /* longest text value with its end */
#define WP_CONF_DEVICES 8

struct conf_device {
	char what[WP_CONF_TEXT_BYTES];
	uint64_t number; /* of the device; set by whoever looks WHAT up */
	uint64_t min_ratio_ppm;
	uint64_t max_ratio_ppm; /* 1000000 = no maximum */
	uint64_t max_bytes;     /* 0 = no ceiling */
	uint64_t bandwidth_bps; /* 0 = not said */
};

struct conf_devices {
	uint64_t count;
	struct conf_device list[WP_CONF_DEVICES];
};

/* Fill @devices from @value, or add to @why what is wrong with it. */
bool devices_parse(struct conf_devices *devices, const char *value,
		   struct text *why) WP_MUST_CHECK;

#endif
