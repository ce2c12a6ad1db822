/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/strangers.h"

#include "base/fixed.h"
#include "base/order.h"

#define ONE_Q10 WP_Q10
#define SEEN_Q10 (3 * WP_Q10) /* a commit of the journal may be two samples or three */
#define FORGOTTEN_Q10_PER_S (2 * WP_Q10 / 3) /* so slowly that one a second is seen */
#define FULL_Q10 (4 * WP_Q10)
#define MEAN_SAMPLES 10
#define READ_BYTES \
	(int64_t) WP_KIB(64) /* in a second; less may be of a directory that grows */
#define READAHEAD_BYTES (int64_t) WP_MIB(8)
#define GAP_NS WP_SEC(10) /* nothing was outstanding, and nobody looked */

static uint64_t forgotten_q10(uint64_t span_ns)
{
	return mul_div(span_ns, FORGOTTEN_Q10_PER_S, WP_SEC(1));
}

static void see_flushes(struct stranger *stranger, struct wp_device *device,
			uint64_t flushes, uint64_t span_ns, uint64_t now_ns)
{
	uint64_t syncs = word_read(&device->syncs);
	bool flushed = flushes != stranger->flushes && syncs == stranger->syncs;

	stranger->flushes = flushes;
	stranger->syncs = syncs;
	stranger->level_q10 = sub_u64(stranger->level_q10, forgotten_q10(span_ns));
	if (!flushed)
		return;
	stranger->level_q10 = min_u64(stranger->level_q10 + ONE_Q10, FULL_Q10);
	if (stranger->level_q10 >= SEEN_Q10)
		word_write(&device->stranger_ns, now_ns);
}

/*
 * Why the sign is kept: the device counts at completion, we at the next look, and only the mean
 * tells who wrote what is between the two.
 */
static void see_writes(struct stranger *stranger, struct wp_device *device,
		       uint64_t written_bytes, uint64_t span_ns)
{
	uint64_t own_bytes = word_read(&device->written_bytes);
	int64_t others_bytes = (int64_t)(written_bytes - stranger->written_bytes) -
			       (int64_t)(own_bytes - stranger->own_bytes);
	int64_t others_bps = others_bytes / (int64_t)max_u64(span_ns / WP_MS(1), 1) *
			     (int64_t)(WP_SEC(1) / WP_MS(1));

	stranger->written_bytes = written_bytes;
	stranger->own_bytes = own_bytes;
	if (stranger->samples < MEAN_SAMPLES)
		stranger->samples++;
	stranger->others_bps += (others_bps - stranger->others_bps) / stranger->samples;
	word_write(&device->others_bps,
		   stranger->others_bps > 0 ? (uint64_t)stranger->others_bps : 0);
}

/* Why twice in a row: the first second of all may be one of a readahead. */
static void judge_second(struct stranger *stranger, struct wp_device *device,
			 uint64_t now_ns)
{
	bool more = stranger->seconds &&
		    stranger->least_bytes > stranger->before_bytes + READ_BYTES;

	stranger->more_seconds = more ? stranger->more_seconds + 1 : 0;
	if (stranger->more_seconds >= 2)
		word_write(&device->stranger_ns, now_ns);
	if (!stranger->seconds || more ||
	    stranger->least_bytes < stranger->before_bytes - READAHEAD_BYTES)
		stranger->before_bytes = stranger->least_bytes;
	stranger->seconds = 1;
}

/*
 * What is read beyond paced programs' reads. Why the least of a second: theirs are known at their
 * next visit only, and until then look like a stranger's. Why the most of all seconds before: the
 * device counts what it has read, a program what it asked for, so after a large readahead there is
 * less for a moment; less for good is what they read elsewhere.
 */
static void see_reads(struct stranger *stranger, struct wp_device *device,
		      uint64_t read_bytes, uint64_t own_read_bytes, uint64_t now_ns)
{
	int64_t beyond_bytes = (int64_t)(read_bytes - own_read_bytes);

	if (sub_u64(now_ns, stranger->reads_ns) < WP_SEC(1)) {
		if (beyond_bytes < stranger->least_bytes)
			stranger->least_bytes = beyond_bytes;
		return;
	}
	judge_second(stranger, device, now_ns);
	stranger->least_bytes = beyond_bytes;
	stranger->reads_ns = now_ns;
}

void stranger_see(struct stranger *stranger, struct wp_device *device,
		  const struct blockstat *stat, uint64_t own_read_bytes, uint64_t now_ns)
{
	uint64_t span_ns = sub_u64(now_ns, stranger->sample_ns);

	stranger->sample_ns = now_ns;
	if (span_ns > GAP_NS) {
		*stranger = (struct stranger){
			.sample_ns = now_ns,
			.flushes = stat->flushes,
			.syncs = word_read(&device->syncs),
			.written_bytes = stat->written_bytes,
			.own_bytes = word_read(&device->written_bytes),
			.reads_ns = now_ns,
			.least_bytes = (int64_t)(stat->read_bytes - own_read_bytes),
		};
		return;
	}
	see_flushes(stranger, device, stat->flushes, span_ns, now_ns);
	see_writes(stranger, device, stat->written_bytes, span_ns);
	see_reads(stranger, device, stat->read_bytes, own_read_bytes, now_ns);
}
