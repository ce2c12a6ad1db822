/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/report.h"

#include <sys/sysmacros.h>

#include <writepace/verdict.h>

#include "base/foreign.h"

#define NAME_LONGEST 48

static void put_field(struct text *text, const char *name, uint64_t number)
{
	text_add_char(text, ' ');
	text_add(text, name);
	text_add_char(text, '=');
	text_add_u64(text, number);
}

static void put_slept(struct text *text, uint64_t slept_ns)
{
	uint64_t slept_ms = slept_ns % WP_SEC(1) / WP_MS(1);

	text_add(text, " slept=");
	text_add_u64(text, slept_ns / WP_SEC(1));
	text_add_char(text, '.');
	text_add(text, slept_ms < 10 ? "00" : slept_ms < 100 ? "0" : "");
	text_add_u64(text, slept_ms);
	text_add_char(text, 's');
}

static void put_program(struct text *text, const char *name, long pid)
{
	text_add(text, "writepace: ");
	text_add_foreign(text, name, NAME_LONGEST);
	text_add_char(text, '[');
	text_add_u64(text, pid > 0 ? (uint64_t)pid : 0);
	text_add_char(text, ']');
}

static void put_number(struct text *text, uint64_t device)
{
	text_add_u64(text, major(device));
	text_add_char(text, ':');
	text_add_u64(text, minor(device));
}

static void put_devices(struct text *text, const uint64_t *devices)
{
	char separator = '=';

	text_add(text, " devices");
	for (unsigned i = 0; i < WP_TOTALS_DEVICES; i++) {
		if (!devices[i])
			continue;
		text_add_char(text, separator);
		put_number(text, devices[i]);
		separator = ',';
	}
	if (separator == '=')
		text_add(text, "=-");
}

size_t report_line(char *line, size_t bytes, const char *name, long pid,
		   const struct totals *totals)
{
	struct text text = text_on(line, bytes);

	put_program(&text, name, pid);
	put_field(&text, "charged", totals->charged_bytes);
	put_field(&text, "dirtied", totals->dirtied_bytes);
	put_field(&text, "uncovered", totals->uncovered_bytes);
	put_field(&text, "sleeps", totals->sleeps);
	put_slept(&text, totals->slept_ns);
	put_devices(&text, totals->devices);
	text_add_char(&text, '\n');
	return text_bytes(&text);
}

const char *report_source(uint64_t source)
{
	static const char *const names[] = {
		[WP_SOURCE_OBSERVER] = "observer",
		[WP_SOURCE_CACHESTAT] = "cachestat",
		[WP_SOURCE_STATISTICS] = "statistics",
		[WP_SOURCE_RATE] = "rate",
	};

	return source < sizeof(names) / sizeof(names[0]) ? names[source] : "unknown";
}

size_t report_found_line(char *line, size_t bytes, const char *name, long pid,
			 uint64_t device, uint64_t limit_bytes, const char *source)
{
	struct text text = text_on(line, bytes);

	put_program(&text, name, pid);
	text_add(&text, " device=");
	put_number(&text, device);
	put_field(&text, "limit", limit_bytes);
	text_add(&text, " source=");
	text_add(&text, source);
	text_add_char(&text, '\n');
	return text_bytes(&text);
}
