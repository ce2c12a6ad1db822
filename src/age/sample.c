/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "age/sample.h"

#include "base/order.h"
#include "core/fprop.h"
#include "core/period.h"

/* What has completed on a device, and of that in the last seconds. */
static struct fprop_since since_mark(const struct wp_segment *segment,
				     const struct wp_device *device)
{
	if (!word_read(&device->key))
		return (struct fprop_since){ 0, 0 };
	return fprop_since(&segment->writeout, &device->writeout, &device->sample_mark);
}

static struct fprop_since sum_of_all(const struct wp_segment *segment)
{
	struct fprop_since all = { 0, 0 };

	for (size_t slot = 0; slot < WP_DEVICES; slot++) {
		struct fprop_since one = since_mark(segment, &segment->devices[slot]);

		all.events += one.events;
		all.added += one.added;
	}
	return all;
}

bool sample_wanted(const struct wp_segment *segment)
{
	return fprop_since(&segment->writeout, &segment->writeout.count,
			   &segment->header.sample_mark)
		       .added > 0;
}

uint64_t sample_deviation(struct wp_segment *segment)
{
	struct fprop_domain *domain = &segment->writeout;
	struct fprop_since all = sum_of_all(segment);
	uint64_t sum = 0;

	fprop_mark(domain, &domain->count, 0, &segment->header.sample_mark);
	for (size_t slot = 0; slot < WP_DEVICES; slot++) {
		struct wp_device *device = &segment->devices[slot];
		struct fprop_since one = since_mark(segment, device);

		sum += period_difference(one.added, all.added, one.events, all.events);
		if (one.events)
			fprop_mark(domain, &device->writeout, one.added / 2,
				   &device->sample_mark);
	}
	return sum / 2;
}
