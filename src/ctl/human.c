/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/human.h"

#include <inttypes.h>
#include <stdio.h>

static const char *scaled(char *text, double value, const char *unit)
{
	/* Why 9.95: 9.96 with one digit would be 10.0, one more than fits three. */
	snprintf(text, HUMAN_BYTES, value < 9.95 ? "%.1f%s" : "%.0f%s", value, unit);
	return text;
}

static const char *put_bytes(char *text, uint64_t bytes, const char *const *units)
{
	double value = (double)bytes;
	int unit = 0;

	while (value >= 1023.5 && unit < 5) {
		value /= 1024;
		unit++;
	}
	if (unit)
		return scaled(text, value, units[unit]);
	snprintf(text, HUMAN_BYTES, "%" PRIu64 "%s", bytes, units[0]);
	return text;
}

const char *human_bytes(char text[HUMAN_BYTES], uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P" };

	return put_bytes(text, bytes, units);
}

const char *human_rate(char text[HUMAN_BYTES], uint64_t bps)
{
	static const char *const units[] = { "/s", "K/s", "M/s", "G/s", "T/s", "P/s" };

	return put_bytes(text, bps, units);
}

const char *human_span(char text[HUMAN_BYTES], uint64_t span_ns)
{
	if (!span_ns)
		snprintf(text, HUMAN_BYTES, "0");
	else if (span_ns < WP_MS(1))
		scaled(text, (double)span_ns / 1e3, "us");
	else if (span_ns < WP_SEC(1))
		scaled(text, (double)span_ns / 1e6, "ms");
	else
		scaled(text, (double)span_ns / 1e9, "s");
	return text;
}

const char *human_ratio(char text[HUMAN_BYTES], uint64_t ratio_q10)
{
	snprintf(text, HUMAN_BYTES, "%.0f%%", (double)ratio_q10 * 100 / WP_Q10);
	return text;
}

static const char *put_wait(char *text, uint64_t seconds)
{
	if (seconds < 60)
		snprintf(text, HUMAN_BYTES, "%" PRIu64 "s", seconds);
	else
		snprintf(text, HUMAN_BYTES, "%" PRIu64 "min %" PRIu64 "s",
			 min_u64(seconds / 60, 99999), seconds % 60);
	return text;
}

const char *human_wait(char text[HUMAN_BYTES], uint64_t span_ns)
{
	if (span_ns >= WP_SEC(10))
		return put_wait(text, (span_ns + WP_SEC(1) - 1) / WP_SEC(1));
	snprintf(text, HUMAN_BYTES, "%.1fs", (double)span_ns / 1e9);
	return text;
}
