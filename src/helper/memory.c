/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/memory.h"

#include <string.h>
#include <unistd.h>

#include "core/limits.h"
#include "helper/read.h"

uint64_t memory_step_q10(uint64_t factor_q10, enum strain strain)
{
	if (!factor_q10 || factor_q10 > WP_Q10)
		factor_q10 = WP_Q10;
	switch (strain) {
	case STRAIN_HIGH:
		factor_q10 -= factor_q10 / 4;
		break;
	case STRAIN_NONE:
		factor_q10 += factor_q10 / 4;
		break;
	case STRAIN_SOME:
		break;
	}
	return clamp_u64(factor_q10, MEMORY_FACTOR_MIN_Q10, WP_Q10);
}

static enum strain strain_of(bool high, bool none)
{
	if (high)
		return STRAIN_HIGH;
	return none ? STRAIN_NONE : STRAIN_SOME;
}

/* some avg10=12.34 avg60=... */
static bool ask_pressure(const char *root, enum strain *strain)
{
	char text[512];
	uint64_t percent;

	/* Reading fails where the kernel could but was told not to keep count. */
	if (!read_text(text, sizeof(text), "%s/proc/pressure/memory", root) ||
	    !strstr(text, "some avg10="))
		return false;
	percent = read_value(text, "some avg10=");
	*strain = strain_of(percent >= 10, percent < 2);
	return true;
}

enum strain memory_strain(const char *root)
{
	char text[2048];
	enum strain strain;
	uint64_t total;
	uint64_t available;

	if (ask_pressure(root, &strain))
		return strain;
	if (!read_text(text, sizeof(text), "%s/proc/meminfo", root))
		return STRAIN_NONE;
	total = read_value(text, "MemTotal:");
	available = read_value(text, "MemAvailable:");
	/* 0: a kernel that does not say. */
	if (!available)
		return STRAIN_NONE;
	return strain_of(available<total / 10, available> total / 100 * 15);
}

bool memory_thresholds(const char *root, struct memory_thresholds *thresholds)
{
	char text[16384];
	uint64_t page_bytes = (uint64_t)getpagesize();

	if (!read_text(text, sizeof(text), "%s/proc/vmstat", root))
		return false;
	thresholds->thresh_bytes = read_value(text, "\nnr_dirty_threshold ") * page_bytes;
	thresholds->background_bytes =
		read_value(text, "\nnr_dirty_background_threshold ") * page_bytes;
	return true;
}

bool memory_outstanding(const char *root, uint64_t *bytes)
{
	char text[16384];

	if (!read_text(text, sizeof(text), "%s/proc/vmstat", root) ||
	    !strstr(text, "\nnr_dirty "))
		return false;
	*bytes = (read_value(text, "\nnr_dirty ") + read_value(text, "\nnr_writeback ")) *
		 (uint64_t)getpagesize();
	return true;
}

uint64_t memory_kernel_limit_bytes(const char *root)
{
	struct memory_thresholds machine;

	if (!memory_thresholds(root, &machine))
		return 0;
	return limits_kernel_bytes(machine.thresh_bytes, machine.background_bytes);
}

void memory_look(const struct helper *helper)
{
	struct wp_header *header = &helper->map->header;
	uint64_t factor_q10 = word_read(&header->pressure_q10);

	word_write(&header->pressure_q10,
		   memory_step_q10(factor_q10, memory_strain(helper->root)));
	word_write(&header->kernel_limit_bytes, memory_kernel_limit_bytes(helper->root));
}
