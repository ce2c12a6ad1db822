/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Flexible proportions (K1): the share of each member of a domain in its recent events.
 *
 *   p_j = (sum over i >= 0 of x_ij / 2^(i+1)) / (sum over i of x_i / 2^(i+1))
 *
 * where x_ij are the events of j in the i-th last period. The p_j sum to 1 within the stripes'
 * error. Declaring a period is one store: every count, the domain's own included, carries the
 * period it was last aged to in the same word, and is halved once for each period since when it
 * is next read or added to. Why so, and not a walk or a subtraction under a sequence lock as in
 * a kernel: one word is aged and published at once, by whoever comes first; a process that is
 * stopped or killed half-way has changed nothing.
 *
 * A word:  period (20 bits) | events (44 bits)
 *
 * A striped count is a few such words on lines of their own, so that two threads do not fight
 * for one; its sum is exact, for the stripes age like everything else. A kernel's per-CPU counter
 * reads approximately and spills by batches instead; four words are cheaper to read than that is
 * to explain. The single variant, for members with one writer, is one word.
 *
 * Concurrency: any number of tasks. Adds are wait-free: a bounded number of tries, then a plain
 * addition whose worst is an error of one halving of the events it adds.
 * Unit: events are whatever the caller counts, bytes as a rule; a halving rounds down, one event
 * a stripe.
 */
#ifndef WP_CORE_FPROP_H
#define WP_CORE_FPROP_H

#include <writepace/layout.h>

#include "base/types.h"

#define FPROP_EVENT_BITS 44
#define FPROP_MAX_Q10 WP_Q10 /* max fraction that means no maximum */

struct fprop_fraction {
	uint64_t numerator;   /* <= denominator */
	uint64_t denominator; /* > 0 */
};

/* Make a zeroed domain usable. Any number of times: only the first has an effect. */
void fprop_begin(struct fprop_domain *domain);

/* Events of the domain or of a member of it, aged to the present period. */
uint64_t fprop_sum(const struct fprop_domain *domain, const struct fprop_count *count);

/*
 * Declare @periods to be over, @seen being the value of domain->period they follow. False when
 * somebody else has declared meanwhile, or when there is nothing left to age (at most one
 * event): the timer may stop then.
 */
bool fprop_new_periods(struct fprop_domain *domain, uint64_t seen, uint64_t periods);

/* Count @events of a member. @stripe: any number, the same for the same thread or processor. */
void fprop_add(struct fprop_domain *domain, struct fprop_count *member, uint64_t events,
	       unsigned stripe);

/*
 * The same, but no more than brings the member to @max_q10 of the domain (K1.2: add_max).
 * Returns the events counted; the others count nowhere.
 */
uint64_t fprop_add_max(struct fprop_domain *domain, struct fprop_count *member,
		       uint64_t events, uint64_t max_q10, unsigned stripe);

/* The single variant: @member is one word. The domain is striped all the same. */
void fprop_add_single(struct fprop_domain *domain, uint64_t *member, uint64_t events,
		      unsigned stripe);

/* Share of a member. 0 <= numerator <= denominator, denominator > 0, whatever is counted. */
struct fprop_fraction fprop_share(const struct fprop_domain *domain,
				  const struct fprop_count *member);
struct fprop_fraction fprop_share_single(const struct fprop_domain *domain,
					 const uint64_t *member);

/* Both aged to the same period, whatever is declared meanwhile. */
struct fprop_since {
	uint64_t events;
	uint64_t added; /* of them since the mark, rounded down */
};

/* A mark keeps what a count once was, @less than that, and ages as the count does. */
void fprop_mark(const struct fprop_domain *domain, const struct fprop_count *count,
		uint64_t less, uint64_t *mark);
struct fprop_since fprop_since(const struct fprop_domain *domain,
			       const struct fprop_count *count, const uint64_t *mark);

#endif
