/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the clock. Periods end at fixed moments and their number follows from the time, whoever
 * declares them; a timer that is called at every end is the model of all other callers. With
 * threads: as many periods as passed, however many declare.
 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "age/age.h"
#include "base/order.h"
#include "core/fprop.h"
#include "core/period.h"

#define BEGIN_NS WP_SEC(1000)

/* One segment, its clock and who declares its periods. */
struct world {
	struct wp_segment *segment;
	uint64_t
		timer_ns; /* the timer's next call, 0 = it sleeps; not used by the others */
	bool timed;
};

static struct wp_segment *new_segment(void)
{
	struct wp_segment *segment = calloc(1, sizeof(*segment));

	if (!segment)
		fail_msg("no memory");
	return segment;
}

/* Of the writeout domain; the other one has the same as long as both have events. */
static uint64_t periods(const struct wp_segment *segment)
{
	return segment->writeout.period;
}

static void write_out(struct wp_segment *segment, unsigned device, uint64_t bytes)
{
	fprop_add(&segment->writeout, &segment->devices[device].writeout, bytes, 0);
}

static void dirty(struct wp_segment *segment, unsigned task, uint64_t bytes)
{
	fprop_add_single(&segment->dirtied, &segment->tasks[task].dirtied_word, bytes, 0);
}

static int set_up(void **state)
{
	*state = new_segment();
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

/* --------------------------------------------------------------- one after another -- */

static void first_event_starts_the_period(void **state)
{
	struct wp_segment *segment = *state;

	/* idle: nothing to declare, at any time */
	assert_int_equal(age_step(segment, BEGIN_NS), 0);
	assert_int_equal(age_step(segment, BEGIN_NS + WP_SEC(100)), 0);
	assert_int_equal(periods(segment), 0);

	write_out(segment, 0, 1000);
	assert_true(age_started(segment, BEGIN_NS));
	assert_int_equal(segment->header.period_end_ns, BEGIN_NS + AGE_PERIOD_NS);
	/* the others find it running */
	assert_false(age_started(segment, BEGIN_NS + 1));
	assert_int_equal(segment->header.period_end_ns, BEGIN_NS + AGE_PERIOD_NS);
}

static void period_is_declared_at_its_end(void **state)
{
	struct wp_segment *segment = *state;
	uint64_t end_ns = BEGIN_NS + AGE_PERIOD_NS;

	age_started(segment, BEGIN_NS);
	write_out(segment, 0, 1000);
	dirty(segment, 0, 500);
	assert_int_equal(age_step(segment, BEGIN_NS), end_ns);
	assert_int_equal(age_step(segment, end_ns - 1), end_ns);
	assert_int_equal(periods(segment), 0);
	assert_int_equal(age_step(segment, end_ns), end_ns + AGE_PERIOD_NS);
	assert_int_equal(periods(segment), 1);
	assert_int_equal(segment->dirtied.period, 1);
	/* once */
	assert_int_equal(age_step(segment, end_ns), end_ns + AGE_PERIOD_NS);
	assert_int_equal(age_step(segment, end_ns + AGE_PERIOD_NS - 1),
			 end_ns + AGE_PERIOD_NS);
	assert_int_equal(periods(segment), 1);
	assert_int_equal(fprop_sum(&segment->writeout, &segment->devices[0].writeout),
			 500);
	assert_int_equal(
		fprop_share_single(&segment->dirtied, &segment->tasks[0].dirtied_word)
			.numerator,
		250);
}

static void missed_periods_are_declared_at_once(void **state)
{
	struct wp_segment *segment = *state;
	uint64_t end_ns = BEGIN_NS + AGE_PERIOD_NS;

	age_started(segment, BEGIN_NS);
	write_out(segment, 0, 1 << 20);
	/* in the middle of the sixth period */
	assert_int_equal(age_step(segment, BEGIN_NS + 5 * AGE_PERIOD_NS + WP_SEC(1)),
			 end_ns + 5 * AGE_PERIOD_NS);
	assert_int_equal(periods(segment), 5);
	assert_int_equal(fprop_sum(&segment->writeout, &segment->devices[0].writeout),
			 1 << 15);
}

static void length_of_a_period_is_the_segments(void **state)
{
	struct wp_segment *segment = *state;

	segment->header.period_ns = WP_SEC(1);
	age_started(segment, BEGIN_NS);
	write_out(segment, 0, 1 << 20);
	assert_int_equal(age_step(segment, BEGIN_NS + WP_MS(4500)), BEGIN_NS + WP_SEC(5));
	assert_int_equal(periods(segment), 4);
	/* what nobody would have chosen counts as the default */
	segment->header.period_ns = 1;
	assert_int_equal(age_step(segment, BEGIN_NS + WP_SEC(5)), BEGIN_NS + WP_SEC(8));
	assert_int_equal(periods(segment), 5);
}

/* --------------------------------------------------------------- stopping by itself -- */

/* Call age_step() at each end until it says that nothing is left; returns how often. */
static unsigned run_timer(struct wp_segment *segment)
{
	uint64_t end_ns = segment->header.period_end_ns;
	unsigned calls = 0;

	while (end_ns && calls < 1000) {
		end_ns = age_step(segment, end_ns);
		calls++;
	}
	return calls;
}

static void timer_stops_when_nothing_is_left(void **state)
{
	struct wp_segment *segment = *state;

	age_started(segment, BEGIN_NS);
	write_out(segment, 0, 1 << 10);
	/* 1024 and the one of the beginning: after ten periods one is left, the next call stops */
	assert_int_equal(run_timer(segment), 11);
	assert_int_equal(segment->header.period_end_ns, 0);
	assert_int_equal(periods(segment), 10);
	/* and nothing happens any more */
	assert_int_equal(age_step(segment, BEGIN_NS + WP_SEC(3600)), 0);
	assert_int_equal(periods(segment), 10);
}

static void either_domain_keeps_the_timer_going(void **state)
{
	struct wp_segment *segment = *state;

	age_started(segment, BEGIN_NS);
	dirty(segment, 0, 1 << 20);
	assert_int_equal(run_timer(segment), 21);
	/* the other had nothing to declare: its periods did not pass, its shares are the same */
	assert_int_equal(segment->dirtied.period, 20);
	assert_int_equal(segment->writeout.period, 0);
}

static void first_event_starts_the_timer_again(void **state)
{
	struct wp_segment *segment = *state;
	uint64_t later_ns = BEGIN_NS + WP_SEC(7200) + 1;
	uint64_t before;

	age_started(segment, BEGIN_NS);
	write_out(segment, 0, 1 << 10);
	run_timer(segment);
	before = periods(segment);

	write_out(segment, 1, 300);
	assert_true(age_started(segment, later_ns));
	/* the hours between are no periods: nobody was there to be aged */
	assert_int_equal(segment->header.period_end_ns, later_ns + AGE_PERIOD_NS);
	age_step(segment, later_ns + AGE_PERIOD_NS);
	assert_int_equal(periods(segment), before + 1);
	assert_int_equal(fprop_sum(&segment->writeout, &segment->devices[1].writeout),
			 150);
}

/* -------------------------------------------------------------------- side by side -- */

/* What takes the slow path at @now_ns: declares what is overdue, then counts. */
static void visit(struct world *world, uint64_t now_ns, unsigned device, uint64_t bytes)
{
	struct wp_segment *segment = world->segment;

	while (world->timed && world->timer_ns && world->timer_ns <= now_ns)
		world->timer_ns = age_step(segment, world->timer_ns);
	if (!world->timed)
		age_step(segment, now_ns);
	if (!bytes)
		return;
	write_out(segment, device, bytes);
	dirty(segment, device, bytes / 2);
	if (age_started(segment, now_ns))
		world->timer_ns = age_step(segment, now_ns);
}

static void assert_same_fraction(struct fprop_fraction one, struct fprop_fraction other)
{
	assert_int_equal(one.numerator, other.numerator);
	assert_int_equal(one.denominator, other.denominator);
}

static void assert_same(const struct wp_segment *one, const struct wp_segment *other)
{
	for (unsigned i = 0; i < 4; i++) {
		assert_same_fraction(
			fprop_share(&one->writeout, &one->devices[i].writeout),
			fprop_share(&other->writeout, &other->devices[i].writeout));
		assert_same_fraction(
			fprop_share_single(&one->dirtied, &one->tasks[i].dirtied_word),
			fprop_share_single(&other->dirtied,
					   &other->tasks[i].dirtied_word));
	}
}

/* The helper ends or is stopped, or comes back late: then it looks at once. */
static void change_hands(struct world *world, uint64_t now_ns)
{
	world->timed = !world->timed;
	world->timer_ns = world->timed ? age_step(world->segment, now_ns) : 0;
}

/*
 * The same visits in a world with a timer, in one without, and in one where it comes and goes,
 * @gap_ns apart or at random; all are compared at each visit. The visits without bytes only look; no more than two follow one
 * another, so that nothing is ever forgotten as a whole.
 */
static void assert_both_ways_agree(uint64_t gap_ns, uint64_t *seed)
{
	struct world timer = { .segment = new_segment(), .timed = true };
	struct world caller = { .segment = new_segment() };
	struct world mixed = { .segment = new_segment() };
	uint64_t now_ns = BEGIN_NS;

	for (int i = 0; i < 2000; i++) {
		uint64_t draw = next_random(seed);
		bool writes = i % 3 == 0 || draw % 3;
		uint64_t bytes = writes ? WP_MIB(100) + draw % WP_GIB(1) : 0;
		unsigned device = (unsigned)(draw >> 40) % 4;

		visit(&timer, now_ns, device, bytes);
		visit(&caller, now_ns, device, bytes);
		visit(&mixed, now_ns, device, bytes);
		assert_same(timer.segment, caller.segment);
		assert_same(timer.segment, mixed.segment);
		if (draw >> 60 == 0)
			change_hands(&mixed, now_ns);
		assert_int_equal(periods(timer.segment),
				 (now_ns - BEGIN_NS) / AGE_PERIOD_NS);
		assert_int_equal(periods(caller.segment),
				 (now_ns - BEGIN_NS) / AGE_PERIOD_NS);
		assert_int_equal(periods(mixed.segment),
				 (now_ns - BEGIN_NS) / AGE_PERIOD_NS);
		now_ns += gap_ns ? gap_ns : next_random(seed) % WP_SEC(20);
	}
	free(mixed.segment);
	free(timer.segment);
	free(caller.segment);
}

TEST(timer_and_callers_every_17_s_see_the_same)
{
	uint64_t seed = 11;

	assert_both_ways_agree(WP_SEC(17), &seed);
}

TEST(timer_and_callers_exactly_at_the_ends_see_the_same)
{
	uint64_t seed = 5;

	assert_both_ways_agree(AGE_PERIOD_NS, &seed);
}

TEST(timer_and_callers_at_random_see_the_same)
{
	uint64_t seed = 12345;

	for (int i = 0; i < 20; i++)
		assert_both_ways_agree(0, &seed);
}

/*
 * After so long a silence that everything has aged away the timer is off, and its next period
 * begins with the next event; callers keep the old ends. Both have forgotten all the same, and
 * what comes then differs by no more than the one period by whose part they differ.
 */
TEST(after_a_long_silence_both_ways_differ_by_a_part_of_a_period)
{
	struct world timer = { .segment = new_segment(), .timed = true };
	struct world caller = { .segment = new_segment() };
	uint64_t later_ns = BEGIN_NS + 1000 * AGE_PERIOD_NS + WP_SEC(1);
	uint64_t now_ns;

	visit(&timer, BEGIN_NS, 0, 1000);
	visit(&caller, BEGIN_NS, 0, 1000);
	for (now_ns = later_ns; now_ns < later_ns + WP_SEC(60); now_ns += WP_MS(500)) {
		uint64_t one;
		uint64_t other;

		visit(&timer, now_ns, 1, WP_MIB(1));
		visit(&caller, now_ns, 1, WP_MIB(1));
		assert_true(fprop_sum(&timer.segment->writeout,
				      &timer.segment->devices[0].writeout) <= 1);
		assert_true(fprop_sum(&caller.segment->writeout,
				      &caller.segment->devices[0].writeout) <= 1);
		one = fprop_sum(&timer.segment->writeout,
				&timer.segment->devices[1].writeout);
		other = fprop_sum(&caller.segment->writeout,
				  &caller.segment->devices[1].writeout);
		assert_true(one <= 2 * other && other <= 2 * one);
	}
	free(timer.segment);
	free(caller.segment);
}

/* ------------------------------------------------------------------ chosen periods -- */

static struct wp_segment *new_chosen_segment(void)
{
	struct wp_segment *segment = new_segment();

	age_set_period(segment, 0);
	for (uint64_t i = 0; i < 4; i++)
		segment->devices[i].key = i + 1;
	return segment;
}

static int set_up_chosen(void **state)
{
	*state = new_chosen_segment();
	return 0;
}

static struct period chosen(const struct wp_segment *segment)
{
	return period_of_word(segment->header.chosen);
}

static void length_is_chosen_where_asked_for(void **state)
{
	struct wp_segment *segment = *state;

	write_out(segment, 0, WP_GIB(1));
	age_started(segment, BEGIN_NS);
	assert_int_equal(segment->header.period_end_ns, BEGIN_NS + PERIOD_SHORTEST_NS);
	/* and no more than that where a length is named afterwards */
	age_set_period(segment, WP_SEC(5));
	assert_int_equal(age_step(segment, BEGIN_NS + PERIOD_SHORTEST_NS),
			 BEGIN_NS + PERIOD_SHORTEST_NS + WP_SEC(5));
}

/* Each second from @from_s to @to_s after the beginning @device writes. */
static void write_seconds(struct wp_segment *segment, unsigned device, unsigned from_s,
			  unsigned to_s)
{
	for (unsigned i = from_s; i < to_s; i++) {
		age_step(segment, BEGIN_NS + WP_SEC(i));
		write_out(segment, device, WP_MIB(100));
		dirty(segment, device, WP_MIB(50));
		age_started(segment, BEGIN_NS + WP_SEC(i));
	}
}

static void running_period_ends_when_the_load_moves(void **state)
{
	struct wp_segment *segment = *state;
	struct fprop_fraction before;
	struct fprop_fraction after;
	uint64_t old_periods;

	write_seconds(segment, 0, 0, 60);
	assert_int_equal(chosen(segment).level, PERIOD_LEVELS - 1);
	write_seconds(segment, 1, 60, 61);
	assert_int_equal(chosen(segment).level, PERIOD_LEVELS - 1);
	before = fprop_share(&segment->writeout, &segment->devices[1].writeout);
	old_periods = periods(segment);

	age_step(segment, BEGIN_NS + WP_SEC(61));
	/* now, and as many more as there were steps; the shares are what they were */
	assert_int_equal(chosen(segment).level, 0);
	assert_int_equal(periods(segment), old_periods + PERIOD_LEVELS);
	assert_int_equal(segment->header.period_end_ns,
			 BEGIN_NS + WP_SEC(61) + PERIOD_SHORTEST_NS);
	after = fprop_share(&segment->writeout, &segment->devices[1].writeout);
	assert_near(1000 * after.numerator / after.denominator,
		    1000 * before.numerator / before.denominator, 1);

	write_seconds(segment, 1, 61, 70);
	after = fprop_share(&segment->writeout, &segment->devices[1].writeout);
	assert_true(after.numerator * 100 > after.denominator * 99);
}

/* Claimed, and then the claimant was killed. */
static void lost_sample_is_made_up_for_by_the_next(void **state)
{
	struct wp_segment *segment = *state;

	write_seconds(segment, 0, 0, 60);
	write_seconds(segment, 1, 60, 61);
	assert_true(word_replace(&segment->header.sample_ns, BEGIN_NS + WP_SEC(61),
				 BEGIN_NS + WP_SEC(62)));
	age_step(segment, BEGIN_NS + WP_SEC(61));
	assert_int_equal(chosen(segment).level, PERIOD_LEVELS - 1);
	age_step(segment, BEGIN_NS + WP_SEC(62));
	assert_int_equal(chosen(segment).level, 0);
}

static void idle_time_says_nothing(void **state)
{
	struct wp_segment *segment = *state;
	uint64_t before;

	write_seconds(segment, 0, 0, 10);
	age_step(segment, BEGIN_NS + WP_SEC(10));
	before = segment->header.chosen;
	for (unsigned i = 11; i < 40; i++)
		age_step(segment, BEGIN_NS + WP_SEC(i));
	assert_int_equal(segment->header.chosen, before);
	assert_true(segment->header.period_end_ns > 0);
}

static void chosen_timer_stops_when_nothing_is_left(void **state)
{
	struct wp_segment *segment = *state;

	write_seconds(segment, 0, 0, 1);
	assert_true(run_timer(segment) < 100);
	assert_int_equal(segment->header.period_end_ns, 0);
	assert_int_equal(age_step(segment, BEGIN_NS + WP_SEC(3600)), 0);
}

/* One of four writes for a while, then another; or all of them at random. */
static unsigned chosen_device(unsigned visit, uint64_t draw)
{
	return visit / 400 == 4 ? (unsigned)(draw >> 40) % 4 : visit / 400;
}

/* As assert_both_ways_agree(). Returns how often the period was made shorter. */
static unsigned assert_both_ways_choose(uint64_t most_ns, uint64_t *seed)
{
	struct world timer = { .segment = new_chosen_segment(), .timed = true };
	struct world caller = { .segment = new_chosen_segment() };
	uint64_t now_ns = BEGIN_NS;
	unsigned shorter = 0;

	for (unsigned i = 0; i < 2000; i++) {
		uint64_t draw = next_random(seed);
		uint64_t level = chosen(caller.segment).level;
		bool writes = i % 3 == 0 || draw % 3;
		uint64_t bytes = writes ? WP_MIB(100) + draw % WP_MIB(100) : 0;

		visit(&timer, now_ns, chosen_device(i, draw), bytes);
		visit(&caller, now_ns, chosen_device(i, draw), bytes);
		assert_same(timer.segment, caller.segment);
		assert_int_equal(periods(timer.segment), periods(caller.segment));
		assert_int_equal(timer.segment->header.chosen,
				 caller.segment->header.chosen);
		assert_int_equal(timer.segment->header.period_end_ns,
				 caller.segment->header.period_end_ns);
		shorter += chosen(caller.segment).level < level;
		now_ns += WP_MS(1) + next_random(seed) % most_ns;
	}
	free(timer.segment);
	free(caller.segment);
	return shorter;
}

TEST(timer_and_callers_choose_the_same)
{
	uint64_t seed = 4711;

	for (int i = 0; i < 20; i++) {
		assert_true(assert_both_ways_choose(WP_MS(300), &seed) >= 3);
		assert_true(assert_both_ways_choose(WP_SEC(2), &seed) >= 3);
		/* a period and more, often */
		assert_both_ways_choose(WP_SEC(4), &seed);
	}
}

TEST(timer_and_callers_at_the_ends_choose_the_same)
{
	struct world timer = { .segment = new_chosen_segment(), .timed = true };
	struct world caller = { .segment = new_chosen_segment() };

	/* every sample and every end falls on a visit */
	for (unsigned i = 0; i < 2000; i++) {
		visit(&timer, BEGIN_NS + i * WP_MS(500), i / 150 % 4, WP_MIB(100));
		visit(&caller, BEGIN_NS + i * WP_MS(500), i / 150 % 4, WP_MIB(100));
		assert_same(timer.segment, caller.segment);
		assert_int_equal(timer.segment->header.chosen,
				 caller.segment->header.chosen);
	}
	free(timer.segment);
	free(caller.segment);
}

/*
 * Whatever stands in the words of the choice: samples and periods go on, and soon the choice is
 * what it would have been.
 */
TEST(damaged_choice_heals)
{
	uint64_t seed = 99;

	alarm(60); /* an endless loop ends here, and the test with it */
	for (int round = 0; round < 300; round++) {
		struct wp_segment *segment = new_chosen_segment();
		struct wp_header *header = &segment->header;
		uint64_t before;

		write_seconds(segment, 0, 0, 40);
		header->sample_ns = next_random(&seed) >> next_random(&seed) % 64;
		header->sample_mark = next_random(&seed);
		header->chosen = next_random(&seed);
		for (unsigned i = 0; i < 4; i++)
			segment->devices[i].sample_mark = next_random(&seed);
		before = periods(segment);
		write_seconds(segment, 0, 40, 60);
		assert_in_range(periods(segment) - before, 2, 1000);
		assert_in_range(header->sample_ns, BEGIN_NS + WP_SEC(59) + 1,
				BEGIN_NS + WP_SEC(60));
		write_seconds(segment, 0, 60, 1500);
		assert_int_equal(chosen(segment).level, PERIOD_LEVELS - 1);
		write_seconds(segment, 1, 1500, 1504);
		assert_int_equal(chosen(segment).level, 0);
		free(segment);
	}
	alarm(0);
}

/* Nothing is what it was: nobody crashes, nobody loops, what comes back is no time before now. */
TEST(damaged_segment_ages_without_end)
{
	struct wp_segment *segment = new_chosen_segment();
	uint64_t *words = (uint64_t *)segment;
	uint64_t seed = 98;

	alarm(60);
	for (int round = 0; round < 200; round++) {
		uint64_t now_ns = BEGIN_NS + (uint64_t)round * WP_SEC(100);

		for (size_t i = 0; i < sizeof(*segment) / sizeof(*words); i++)
			words[i] = next_random(&seed) >> (next_random(&seed) >> 58);
		segment->header.period_ns = WP_PERIOD_AUTO;
		for (int i = 0; i < 20; i++) {
			uint64_t next_ns = age_step(segment, now_ns);

			assert_true(!next_ns || next_ns > now_ns);
			write_out(segment, (unsigned)i % 4, WP_MIB(1));
			now_ns += WP_MS(700);
		}
	}
	alarm(0);
	free(segment);
}

/* -------------------------------------------------------------------------- claims -- */

#define THREADS 2
#define ENDS 20000

static struct wp_segment *shared;
static uint64_t arrived; /* at each end all wait for all, so that they do compete */
static uint64_t starts;

static void meet(uint64_t round)
{
	word_add(&arrived, 1);
	while (word_read(&arrived) < (round + 1) * THREADS)
		sched_yield();
}

static void *declare_all(void *arg)
{
	for (uint64_t i = 1; i <= ENDS; i++) {
		meet(i - 1);
		age_step(shared, BEGIN_NS + i * AGE_PERIOD_NS);
		/* so that there is always something left */
		fprop_add(&shared->writeout, &shared->devices[0].writeout, 1000, 0);
		fprop_add(&shared->dirtied, &shared->devices[1].writeout, 1000, 0);
	}
	return arg;
}

static void *start_all(void *arg)
{
	for (uint64_t i = 0; i < ENDS; i++) {
		meet(3 * i);
		if (age_started(shared, BEGIN_NS + i))
			word_add(&starts, 1);
		meet(3 * i + 1);
		word_write(&shared->header.period_end_ns, 0);
		meet(3 * i + 2);
	}
	return arg;
}

static void run_two(void *(*run)(void *))
{
	pthread_t threads[THREADS];

	arrived = 0;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			fail_msg("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void two_callers_one_declares(void **state)
{
	shared = *state;
	write_out(shared, 0, WP_GIB(1));
	dirty(shared, 0, WP_GIB(1));
	age_started(shared, BEGIN_NS);
	run_two(declare_all);
	assert_int_equal(periods(shared), ENDS);
	assert_int_equal(shared->header.period_end_ns,
			 BEGIN_NS + (ENDS + 1) * AGE_PERIOD_NS);
}

static void two_first_events_one_starts(void **state)
{
	shared = *state;
	starts = 0;
	run_two(start_all);
	assert_int_equal(starts, ENDS);
}

#define SAMPLES 250 /* calm counts no further than 255 */
#define ROUNDS 40

static void *sample_all(void *arg)
{
	for (uint64_t i = 1; i <= 2 * SAMPLES; i++) {
		meet(2 * i - 2);
		age_step(shared, BEGIN_NS + i * WP_MS(500));
		meet(2 * i - 1);
		fprop_add(&shared->writeout, &shared->devices[0].writeout, WP_MIB(100),
			  0);
	}
	return arg;
}

/* Both step at each moment: every sample is taken, and once. */
TEST(two_callers_take_each_sample_once)
{
	for (int round = 0; round < ROUNDS; round++) {
		shared = new_chosen_segment();
		write_out(shared, 0, WP_MIB(100));
		age_started(shared, BEGIN_NS);
		age_step(shared, BEGIN_NS);
		run_two(sample_all);
		assert_int_equal(chosen(shared).level, PERIOD_LEVELS - 1);
		/* 4 + 4 + 8 + 16 of them lengthened it */
		assert_int_equal(chosen(shared).calm, SAMPLES - 32);
		free(shared);
	}
}

/* One that was stopped before its claim resumes when all is over. */
static void late_caller_declares_nothing(void **state)
{
	struct wp_segment *segment = *state;
	uint64_t seen;

	age_started(segment, BEGIN_NS);
	write_out(segment, 0, 1 << 20);
	dirty(segment, 0, 1 << 20);
	seen = segment->writeout.period;
	age_step(segment, BEGIN_NS + AGE_PERIOD_NS);
	assert_false(fprop_new_periods(&segment->writeout, seen, 1));
	/* one whose clock is behind, too */
	assert_int_equal(age_step(segment, BEGIN_NS + WP_SEC(1)),
			 BEGIN_NS + 2 * AGE_PERIOD_NS);
	assert_int_equal(periods(segment), 1);
}

#define IN_SEGMENT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define IN_CHOSEN(test) cmocka_unit_test_setup_teardown(test, set_up_chosen, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SEGMENT(first_event_starts_the_period),
		IN_SEGMENT(period_is_declared_at_its_end),
		IN_SEGMENT(missed_periods_are_declared_at_once),
		IN_SEGMENT(length_of_a_period_is_the_segments),
		IN_SEGMENT(timer_stops_when_nothing_is_left),
		IN_SEGMENT(either_domain_keeps_the_timer_going),
		IN_SEGMENT(first_event_starts_the_timer_again),
		cmocka_unit_test(timer_and_callers_every_17_s_see_the_same),
		cmocka_unit_test(timer_and_callers_exactly_at_the_ends_see_the_same),
		cmocka_unit_test(timer_and_callers_at_random_see_the_same),
		cmocka_unit_test(
			after_a_long_silence_both_ways_differ_by_a_part_of_a_period),
		IN_CHOSEN(length_is_chosen_where_asked_for),
		IN_CHOSEN(running_period_ends_when_the_load_moves),
		IN_CHOSEN(lost_sample_is_made_up_for_by_the_next),
		IN_CHOSEN(idle_time_says_nothing),
		IN_CHOSEN(chosen_timer_stops_when_nothing_is_left),
		cmocka_unit_test(timer_and_callers_choose_the_same),
		cmocka_unit_test(timer_and_callers_at_the_ends_choose_the_same),
		cmocka_unit_test(damaged_choice_heals),
		cmocka_unit_test(damaged_segment_ages_without_end),
		cmocka_unit_test(two_callers_take_each_sample_once),
		IN_SEGMENT(two_callers_one_declares),
		IN_SEGMENT(two_first_events_one_starts),
		IN_SEGMENT(late_caller_declares_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
