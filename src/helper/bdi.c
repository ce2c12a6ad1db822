/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/bdi.h"

#include "base/fixed.h"
#include "core/limits.h"
#include "helper/memory.h"
#include "helper/read.h"

/* Linux before 6.2 knows no bytes, only the share of the machine's threshold. */
static uint64_t most_bytes(const char *folder, uint64_t thresh_bytes)
{
	uint64_t bytes = read_number("%s/max_bytes", folder);
	uint64_t percent = read_number("%s/max_ratio", folder);

	return limits_least(bytes, mul_div(thresh_bytes, percent, 100));
}

uint64_t bdi_limit_bytes(const char *root, const char *folder)
{
	struct memory_thresholds machine;
	uint64_t bytes;

	if (!read_number("%s/strict_limit", folder) ||
	    !memory_thresholds(root, &machine) || !machine.thresh_bytes)
		return 0;
	bytes = most_bytes(folder, machine.thresh_bytes);
	return limits_kernel_bytes(
		bytes, mul_div(bytes, machine.background_bytes, machine.thresh_bytes));
}
