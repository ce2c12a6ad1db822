/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/locate.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* The digits at *@text, moved past; false where there is none or they are no part of a number. */
static bool take_number(const char **text, uint64_t *number)
{
	const char *begin = *text;

	*number = 0;
	for (; **text >= '0' && **text <= '9' && *number <= UINT32_MAX; ++*text)
		*number = *number * 10 + (uint64_t)(**text - '0');
	return *text > begin && *number <= UINT32_MAX;
}

static bool is_numbers(const char *what, uint64_t *device_number)
{
	uint64_t major;
	uint64_t minor;

	if (!take_number(&what, &major) || *what++ != ':' ||
	    !take_number(&what, &minor) || *what)
		return false;
	*device_number = makedev((unsigned)major, (unsigned)minor);
	return true;
}

int locate_device(const char *what, uint64_t *device_number)
{
	struct stat st;

	if (is_numbers(what, device_number))
		return 0;
	if (stat(what, &st))
		return -errno;
	*device_number = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	return 0;
}
