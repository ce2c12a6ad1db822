/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of a file is outstanding. A look costs 3 to 9 ns a page in the page cache (10 GB: 24 ms), so
 * it leaves out the head that is known to be clean, and rests in between: meanwhile only where
 * units were started is looked at.
 */
#include "base/order.h"
#include "base/stamp.h"
#include "flush/flush.h"
#include "host/kernel.h"

#define WHOLE_NS WP_SEC(1)       /* how often the whole file is looked at */
#define LOW_STEP_BYTES WP_MIB(1) /* the clean head grows in steps of at least this */
#define PAGE_BYTES WP_KIB(4)     /* or a part of one */
#define REST_NS_PER_PAGE 200 /* a tenth of the time at most, and there may be two looks */
#define REST_MAX_NS WP_SEC(1)
#define FLIGHT_LONG_BYTES WP_MIB(1)

static bool is_clean(const struct kernel_pages *pages)
{
	return !pages->dirty_bytes && !pages->writeback_bytes;
}

/* Somebody went back to below the low offset: from now on the whole file is looked at. */
static bool has_gone_back(const struct flush_file *flush, uint64_t low_bytes,
			  uint64_t now_ns)
{
	struct kernel_pages pages;

	word_write(&flush->file->whole_ns, now_ns);
	if (!kernel_cachestat(flush->fd, 0, low_bytes, &pages) && is_clean(&pages))
		return false;
	word_write(&flush->file->low_bytes, 0);
	return true;
}

/*
 * Move the offset below which nothing is outstanding. Why: a sequential writer has all that
 * matters at its end. What is in flight is just below the cursor. Once a second the head is looked
 * at too, because somebody may have gone back to it.
 */
static void move_low(const struct flush_file *flush, uint64_t now_ns)
{
	uint64_t low_bytes = word_read(&flush->file->low_bytes);
	uint64_t end_bytes = sub_u64(word_read(&flush->file->cursor_bytes),
				     word_read(&flush->file->inflight_bytes));
	struct kernel_pages pages;

	/* Somebody truncated it, perhaps by opening it anew. */
	if (low_bytes > flush->size_bytes && flush->size_bytes) {
		word_write(&flush->file->low_bytes, 0);
		return;
	}
	if (low_bytes &&
	    stamp_age_ns(word_read(&flush->file->whole_ns), now_ns) > WHOLE_NS &&
	    has_gone_back(flush, low_bytes, now_ns))
		return;
	if (end_bytes >= low_bytes + LOW_STEP_BYTES &&
	    !kernel_cachestat(flush->fd, low_bytes, end_bytes - low_bytes, &pages) &&
	    is_clean(&pages))
		word_replace(&flush->file->low_bytes, low_bytes, end_bytes);
}

static uint64_t rest_ns(uint64_t looked_at_bytes)
{
	return looked_at_bytes / PAGE_BYTES * REST_NS_PER_PAGE;
}

/*
 * More of it is gone than was in flight: the kernel wrote by itself, or what was dirtied last is
 * below the low offset, as with writes at random places.
 */
static bool is_missed(const struct flush_file *flush, const struct kernel_pages *pages,
		      const struct file_look *look)
{
	uint64_t low_bytes = word_read(&flush->file->low_bytes);
	uint64_t expected_bytes =
		sub_u64(word_read(&flush->file->accounted_bytes) + look->dirtied_bytes,
			word_read(&flush->file->inflight_bytes));

	return low_bytes &&
	       pages->dirty_bytes + pages->writeback_bytes < expected_bytes &&
	       stamp_age_ns(word_read(&flush->file->whole_ns), look->now_ns) >
		       rest_ns(low_bytes) &&
	       has_gone_back(flush, low_bytes, look->now_ns);
}

/*
 * What there is where units were started, which they have not all been if some of it is dirty. What
 * has landed is left behind; of a long range, half of it.
 */
static int ask_flight(const struct flush_file *flush, struct kernel_pages *pages)
{
	uint64_t begin_bytes = word_read(&flush->file->flight_bytes);
	uint64_t length_bytes =
		sub_u64(word_read(&flush->file->cursor_bytes), begin_bytes);
	uint64_t near_bytes =
		length_bytes > FLIGHT_LONG_BYTES ? length_bytes / 2 : length_bytes;
	struct kernel_pages near = { 0 };
	struct kernel_pages far = { 0 };
	int error = 0;

	if (near_bytes)
		error = kernel_cachestat(flush->fd, begin_bytes, near_bytes, &near);
	if (!error && near_bytes < length_bytes)
		error = kernel_cachestat(flush->fd, begin_bytes + near_bytes,
					 length_bytes - near_bytes, &far);
	if (!error && is_clean(&near))
		word_replace(&flush->file->flight_bytes, begin_bytes,
			     begin_bytes + near_bytes);
	pages->dirty_bytes = near.dirty_bytes + far.dirty_bytes;
	pages->writeback_bytes = near.writeback_bytes + far.writeback_bytes;
	return error;
}

/* Of what the kernel started by itself, or as one folio, nobody sees the landing there. */
static bool is_all_in_flight_ours(const struct flush_file *flush,
				  const struct kernel_pages *pages)
{
	struct kernel_pages flight;

	return !pages->writeback_bytes ||
	       (!ask_flight(flush, &flight) &&
		flight.writeback_bytes == pages->writeback_bytes);
}

static int ask(const struct flush_file *flush, const struct file_look *look,
	       struct kernel_pages *pages)
{
	int error;

	move_low(flush, look->now_ns);
	error = kernel_cachestat(flush->fd, word_read(&flush->file->low_bytes), 0, pages);
	if (!error && is_missed(flush, pages, look))
		error = kernel_cachestat(flush->fd, 0, 0, pages);
	if (error)
		return error;
	word_write(&flush->file->looked_ns, look->now_ns);
	word_write(&flush->file->look_every_ns, is_all_in_flight_ours(flush, pages) ?
							rest_ns(pages->cached_bytes) :
							0);
	return 0;
}

static bool may_rest(const struct flush_file *flush, const struct file_look *look)
{
	uint64_t every_ns = min_u64(word_read(&flush->file->look_every_ns), REST_MAX_NS);

	return look->may_rest &&
	       stamp_age_ns(word_read(&flush->file->looked_ns), look->now_ns) < every_ns;
}

/* What is known, less what has landed since. */
static int ask_less(const struct flush_file *flush, const struct file_look *look,
		    struct kernel_pages *pages)
{
	uint64_t known_bytes =
		word_level(&flush->file->accounted_bytes) + look->dirtied_bytes;
	uint64_t inflight_bytes = word_level(&flush->file->inflight_bytes);
	int error = ask_flight(flush, pages);
	/* in flight as far as somebody claims it: none of it when the visit before ended */
	uint64_t landed_bytes =
		sub_u64(inflight_bytes, pages->dirty_bytes + pages->writeback_bytes);

	pages->dirty_bytes = sub_u64(known_bytes, landed_bytes + pages->writeback_bytes);
	return error;
}

int64_t flush_look(const struct flush_file *flush, struct file_look *look)
{
	struct kernel_pages pages;
	int error = may_rest(flush, look) ? ask_less(flush, look, &pages) :
					    ask(flush, look, &pages);

	if (error)
		return error;
	look->present_bytes = pages.dirty_bytes + pages.writeback_bytes;
	look->inflight_bytes = pages.writeback_bytes;
	file_settle(flush->file, flush->device, look);
	return (int64_t)pages.dirty_bytes;
}

void flush_cancelled(const struct flush_file *flush)
{
	struct kernel_pages pages;

	if (!kernel_cachestat(flush->fd, 0, 0, &pages))
		file_cancelled(flush->file, flush->device,
			       pages.dirty_bytes + pages.writeback_bytes);
}
