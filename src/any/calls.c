/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "any/calls.h"

#include <sys/syscall.h>

#define CALL(a_class, name, a_compat, a_descriptor, a_length) \
	{ .class = CALL_##a_class,                            \
	  .native = SYS_##name,                               \
	  .compat = a_compat,                                 \
	  .descriptor = a_descriptor,                         \
	  .length = a_length },

const struct call calls[] = {
#include "any/calls.def"
};
const size_t call_count = sizeof(calls) / sizeof(calls[0]);

const struct call *calls_find(uint32_t arch, int number)
{
	for (size_t i = 0; i < call_count; i++) {
		if (number ==
		    (arch == CALLS_NATIVE_ARCH ? calls[i].native : calls[i].compat))
			return &calls[i];
	}
	return NULL;
}
