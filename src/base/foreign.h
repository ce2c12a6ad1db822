/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Somebody else's words (a program's name, a refused value) inside one of our lines.
 */
#ifndef WP_BASE_FOREIGN_H
#define WP_BASE_FOREIGN_H

#include "base/text.h"

/*
 * Add at most @longest bytes of @string, control characters as '?': a name must not break
 * the line or command the terminal.
 */
static inline void text_add_foreign(struct text *text, const char *string, size_t longest)
{
	for (; *string && longest; string++, longest--) {
		unsigned char c = (unsigned char)*string;

		text_add_char(text, c < ' ' || c == 0x7f ? '?' : (char)c);
	}
	if (*string)
		text_add(text, "...");
}

#endif
