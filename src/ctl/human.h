/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers as people read them: three digits and a unit. K, M, G are powers of 1024, as in the
 * settings.
 */
#ifndef WP_CTL_HUMAN_H
#define WP_CTL_HUMAN_H

#include "base/types.h"

#define HUMAN_BYTES 24 /* longest of them, with its end */

/* Each returns @text. */
const char *human_bytes(char text[HUMAN_BYTES], uint64_t bytes);
const char *human_rate(char text[HUMAN_BYTES], uint64_t bps);
const char *human_span(char text[HUMAN_BYTES], uint64_t span_ns);
const char *human_ratio(char text[HUMAN_BYTES], uint64_t ratio_q10); /* 50% */

/* A time to come: 7.3s, 20s, 3min 20s. */
const char *human_wait(char text[HUMAN_BYTES], uint64_t span_ns);

#endif
