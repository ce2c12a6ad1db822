/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A terminal that is drawn over: lines that differ alone are seen to change. One at a time.
 */
#ifndef WP_CTL_SCREEN_H
#define WP_CTL_SCREEN_H

#include "base/types.h"

enum screen_event { SCREEN_TIME, SCREEN_KEY, SCREEN_RESIZED, SCREEN_END };

/* Another page of the terminal, keys without Return. False: it is no terminal. */
bool screen_begin(void);

/* As it was. */
void screen_end(void);

/* Columns and rows of this moment. */
void screen_size(unsigned *columns, unsigned *rows);

/* Draw from the top; whatever of @text does not fit is left out. */
void screen_draw(const char *text);

/* Wait for a key (its letter in @key), another size, an end by a signal, at most @span_ns. */
enum screen_event screen_wait(uint64_t span_ns, char *key);

#endif
