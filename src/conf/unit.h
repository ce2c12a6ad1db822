/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers with units, as keys.def describes them: text to number and back. Pure.
 */
#ifndef WP_CONF_UNIT_H
#define WP_CONF_UNIT_H

#include "base/text.h"
#include "base/types.h"

struct unit {
	const char *name;
	uint64_t scale;
};

/* Each ends with a unit without a name. */
extern const struct unit unit_durations[]; /* -> nanoseconds */
extern const struct unit unit_bytes[];     /* -> bytes; letters in any case */
extern const struct unit unit_percents[];  /* -> per mille */
extern const struct unit unit_none[];      /* a plain number, without a fraction */

/*
 * digits [ . digits ] unit [ @suffix ] -> @value, UINT64_MAX where it does not fit.
 * False: the text is not of this form.
 */
bool unit_parse(const struct unit *units, const char *suffix, const char *string,
		uint64_t *value) WP_MUST_CHECK;

/* Add @value to @text with the last of @units that divides it: 640K, 10ms. */
void unit_put(struct text *text, const struct unit *units, uint64_t value);

#endif
