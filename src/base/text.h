/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Building a short line in a fixed buffer, without stdio or locale; async-signal-safe.
 *
 *	char line[80];
 *	struct text text = text_on(line, sizeof(line));
 *
 *	text_add(&text, "charged=");
 *	text_add_u64(&text, charged_bytes);
 *
 * The buffer is always ended; what does not fit is cut and text_fits() says so.
 */
#ifndef WP_BASE_TEXT_H
#define WP_BASE_TEXT_H

#include "base/types.h"

struct text {
	char *buffer;
	size_t buffer_bytes;
	size_t used_bytes; /* what was wanted, the end not counted; may exceed the buffer */
};

/* @buffer_bytes is at least 1. */
static inline struct text text_on(char *buffer, size_t buffer_bytes)
{
	buffer[0] = '\0';
	return (struct text){ .buffer = buffer, .buffer_bytes = buffer_bytes };
}

static inline void text_add_char(struct text *text, char c)
{
	if (text->used_bytes + 1 < text->buffer_bytes) {
		text->buffer[text->used_bytes] = c;
		text->buffer[text->used_bytes + 1] = '\0';
	}
	text->used_bytes++;
}

static inline void text_add(struct text *text, const char *string)
{
	while (*string)
		text_add_char(text, *string++);
}

static inline void text_add_u64(struct text *text, uint64_t value)
{
	char digits[20];
	size_t count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (count)
		text_add_char(text, digits[--count]);
}

static inline bool text_fits(const struct text *text)
{
	return text->used_bytes < text->buffer_bytes;
}

/* Bytes in the buffer, the end not counted. */
static inline size_t text_bytes(const struct text *text)
{
	return text_fits(text) ? text->used_bytes : text->buffer_bytes - 1;
}

#endif
