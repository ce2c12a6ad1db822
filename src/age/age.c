/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "age/age.h"

#include "age/sample.h"
#include "base/order.h"
#include "base/stamp.h"
#include "core/fprop.h"
#include "core/period.h"

#define PERIOD_MIN_NS WP_MS(10) /* what is read outside of these is damage */
#define PERIOD_MAX_NS WP_SEC(3600)

static uint64_t chosen_ns(const struct wp_segment *segment)
{
	struct period period = period_of_word(word_read(&segment->header.chosen));

	return period_span_ns(&period);
}

static uint64_t period_length_ns(const struct wp_segment *segment)
{
	uint64_t period_ns = word_read(&segment->header.period_ns);

	if (period_ns == WP_PERIOD_AUTO)
		return chosen_ns(segment);
	return period_ns >= PERIOD_MIN_NS && period_ns <= PERIOD_MAX_NS ? period_ns :
									  AGE_PERIOD_NS;
}

bool age_started(struct wp_segment *segment, uint64_t now_ns)
{
	if (word_read(&segment->header.period_end_ns))
		return false;
	fprop_begin(&segment->writeout);
	fprop_begin(&segment->dirtied);
	return word_replace(&segment->header.period_end_ns, 0,
			    now_ns + period_length_ns(segment));
}

/* Both domains, as seen before the claim. True when either has something left to age. */
static bool declare(struct wp_segment *segment, const uint64_t seen[2], uint64_t periods)
{
	bool writeout = fprop_new_periods(&segment->writeout, seen[0], periods);
	bool dirtied = fprop_new_periods(&segment->dirtied, seen[1], periods);

	return writeout || dirtied;
}

/* The periods that are over at @now_ns. Returns when the next one ends, 0 = nothing left. */
static uint64_t end_periods(struct wp_segment *segment, uint64_t now_ns)
{
	uint64_t *word = &segment->header.period_end_ns;
	uint64_t period_ns = period_length_ns(segment);
	uint64_t end_ns = word_read(word);
	uint64_t seen[2] = { word_read(&segment->writeout.period),
			     word_read(&segment->dirtied.period) };
	uint64_t periods;
	uint64_t next_ns;

	/* Why: an end that nobody can have set would stop aging for good. */
	if (stamp_is_damaged(end_ns, now_ns + period_ns)) {
		word_replace(word, end_ns, now_ns + period_ns);
		return now_ns + period_ns;
	}
	if (!end_ns || now_ns < end_ns)
		return end_ns;
	periods = (now_ns - end_ns) / period_ns + 1;
	next_ns = end_ns + periods * period_ns;
	if (!word_replace(word, end_ns, next_ns))
		return word_read(word);
	/* K1.3: nothing left, and the timer stays off until the next event. */
	if (!declare(segment, seen, periods)) {
		word_replace(word, next_ns, 0);
		return 0;
	}
	return next_ns;
}

/* --------------------------------------------------------- the chosen period -- */

static bool is_chosen(const struct wp_segment *segment)
{
	return word_read(&segment->header.period_ns) == WP_PERIOD_AUTO;
}

/*
 * When the sample is due that is to be taken now, 0 = none. One that is due later than a sample
 * from now, or was due before the running period, is damage or of another time: it begins anew.
 */
static uint64_t sample_due_ns(struct wp_segment *segment, uint64_t now_ns)
{
	uint64_t *word = &segment->header.sample_ns;
	uint64_t due_ns = word_read(word);
	uint64_t end_ns = word_read(&segment->header.period_end_ns);

	if (!end_ns)
		return 0;
	if (due_ns > now_ns + PERIOD_SAMPLE_NS ||
	    sub_u64(end_ns, due_ns) > PERIOD_LONGEST_NS + PERIOD_SAMPLE_NS) {
		word_replace(word, due_ns, now_ns + PERIOD_SAMPLE_NS);
		return 0;
	}
	return due_ns <= now_ns ? due_ns : 0;
}

/*
 * As seen before the claim: one that is stopped in between and resumes later changes nothing; one
 * that is killed leaves the sample to the next second.
 */
struct seen {
	uint64_t chosen;
	uint64_t end_ns;
	uint64_t periods[2];
};

static struct seen see(const struct wp_segment *segment)
{
	return (struct seen){
		.chosen = word_read(&segment->header.chosen),
		.end_ns = word_read(&segment->header.period_end_ns),
		.periods = { word_read(&segment->writeout.period),
			     word_read(&segment->dirtied.period) },
	};
}

static void choose(struct wp_segment *segment, const struct seen *seen, uint64_t due_ns)
{
	struct wp_header *header = &segment->header;
	struct period period = period_of_word(seen->chosen);
	uint64_t periods = period_step(&period, sample_deviation(segment));

	/* The running one ends early. Order: first; killed after it, the next sample repeats it. */
	if (periods && word_replace(&header->period_end_ns, seen->end_ns,
				    due_ns + period_span_ns(&period)))
		declare(segment, seen->periods, periods);
	word_replace(&header->chosen, seen->chosen, period_word(&period));
}

/* Later ones that were missed had no completions, or they would not have been missed. */
static void take_sample(struct wp_segment *segment, uint64_t due_ns, uint64_t now_ns)
{
	uint64_t missed = (now_ns - due_ns) / PERIOD_SAMPLE_NS;
	struct seen seen = see(segment);

	if (word_replace(&segment->header.sample_ns, due_ns,
			 due_ns + (missed + 1) * PERIOD_SAMPLE_NS) &&
	    sample_wanted(segment))
		choose(segment, &seen, due_ns);
}

static uint64_t step_chosen(struct wp_segment *segment, uint64_t now_ns)
{
	uint64_t due_ns = sample_due_ns(segment, now_ns);
	uint64_t end_ns;

	if (due_ns) {
		end_periods(segment, due_ns - 1);
		take_sample(segment, due_ns, now_ns);
	}
	end_ns = end_periods(segment, now_ns);
	due_ns = word_read(&segment->header.sample_ns);
	return due_ns > now_ns ? min_u64(end_ns, due_ns) : end_ns;
}

uint64_t age_step(struct wp_segment *segment, uint64_t now_ns)
{
	return is_chosen(segment) ? step_chosen(segment, now_ns) :
				    end_periods(segment, now_ns);
}

void age_set_period(struct wp_segment *segment, uint64_t period_ns)
{
	uint64_t *word = &segment->header.period_ns;
	uint64_t value = period_ns ? period_ns : WP_PERIOD_AUTO;

	if (word_read(word) != value)
		word_write(word, value);
}
