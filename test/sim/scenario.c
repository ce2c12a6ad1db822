/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the simulated disks' own counts, arithmetic (a device's rate by the number of its
 * writers), and the values of the design and of published trials. A bound is what was promised.
 * Where the laws miss it, the bound is what was measured, with `Weak:` and the promise.
 */
#include "scenario.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "age/age.h"
#include "base/fixed.h"
#include "core/period.h"

#define SAMPLE_NS WP_MS(200)
#define SAMPLES_MAX 4000 /* 800 s */
#define WATCHED_MAX 4
#define SECOND 5 /* samples */

unsigned scenario_failed;
static unsigned line_count;

/* -------------------------------------------------------------------------- saying -- */

static void say(const char *what, double value, const char *unit)
{
	printf("# %s: %.3f %s\n", what, value, unit);
}

static void judge(bool good, const char *what, double value, const char *sign,
		  double bound)
{
	if (!good)
		scenario_failed++;
	printf("%sok %u - %s: %.4g %s %.4g\n", good ? "" : "not ", ++line_count, what,
	       value, sign, bound);
}

static void at_least(const char *what, double value, double bound)
{
	judge(value >= bound, what, value, ">=", bound);
}

static void at_most(const char *what, double value, double bound)
{
	judge(value <= bound, what, value, "<=", bound);
}

/*
 * What the laws do not reach yet: judged by what was measured, with room for other seeds, so that
 * it gets no worse; the promise is said. Make it a plain line when it is kept.
 */
static void weak_at_least(const char *what, double value, double promised, double today)
{
	printf("# %s: promised %s >= %.4g\n", value >= promised ? "Kept" : "Weak", what,
	       promised);
	judge(value >= today, what, value, ">=", today);
}

static void judge_invariants(void)
{
	bool good = !scale.broken;

	if (!good)
		scenario_failed++;
	printf("%sok %u - invariants at %" PRIu64 " looks and %" PRIu64 " verdicts\n",
	       good ? "" : "not ", ++line_count, scale.looks, scale.verdicts);
	if (!good)
		printf("# not so: %s (%s)\n", scale.broken, scale.broken_why);
}

/* ------------------------------------------------------------------------ sampling -- */

enum quantity {
	WRITTEN,     /* bytes ever */
	DIRTIED,     /* the same */
	BANDWIDTH,   /* estimate */
	BASE,        /* rate of a writer of weight 100 */
	OUTSTANDING, /* bytes */
	LIMIT,       /* bytes */
	SHARE,       /* of the writeout, 0..1 */
	QUANTITIES,
};

static double samples[WATCHED_MAX][QUANTITIES][SAMPLES_MAX];
static unsigned sample_count;

static void sample(void)
{
	for (unsigned i = 0; i < scale.device_count && i < WATCHED_MAX; i++) {
		const struct scale_device *device = &scale.devices[i];
		struct fprop_fraction share = scale_share(device);
		double *at[QUANTITIES];

		for (int quantity = 0; quantity < QUANTITIES; quantity++)
			at[quantity] = &samples[i][quantity][sample_count];
		*at[WRITTEN] = (double)device->disk.done_bytes;
		*at[DIRTIED] = (double)(device->dirtied_bytes + device->unsettled_bytes);
		*at[BANDWIDTH] = (double)device->control.bandwidth.avg_bps;
		*at[BASE] = (double)device->control.ratelimit.base_bps;
		*at[OUTSTANDING] = (double)scale_outstanding_bytes(device);
		*at[LIMIT] =
			(double)control_limit_bytes(&device->control, &device->bounds);
		*at[SHARE] = (double)share.numerator / (double)share.denominator;
	}
	sample_count++;
}

static void run(double seconds)
{
	for (double at = 0; at < seconds - 0.1; at += 0.2) {
		scale_run(SAMPLE_NS);
		if (sample_count < SAMPLES_MAX)
			sample();
	}
}

static unsigned now(void)
{
	return sample_count;
}

/* Bytes per second between two samples. */
static double rate(unsigned device, enum quantity quantity, unsigned from, unsigned to)
{
	const double *values = samples[device][quantity];

	return to > from ? (values[to - 1] - (from ? values[from - 1] : 0)) /
				   (0.2 * (to - from)) :
			   0;
}

static double mean(unsigned device, enum quantity quantity, unsigned from, unsigned to)
{
	double sum = 0;

	for (unsigned i = from; i < to; i++)
		sum += samples[device][quantity][i];
	return sum / (to - from);
}

static double largest(unsigned device, enum quantity quantity, unsigned from, unsigned to)
{
	double most = 0;

	for (unsigned i = from; i < to; i++)
		most = fmax(most, samples[device][quantity][i]);
	return most;
}

/* The most that was outstanding on all devices together. */
static double largest_sum(unsigned from, unsigned to)
{
	double most = 0;

	for (unsigned i = from; i < to; i++) {
		double sum = 0;

		for (unsigned j = 0; j < scale.device_count; j++)
			sum += samples[j][OUTSTANDING][i];
		most = fmax(most, sum);
	}
	return most;
}

/* Of a rate over the second that ends there, of anything else its mean over it. */
static double second(unsigned device, enum quantity quantity, unsigned end)
{
	unsigned from = end > SECOND ? end - SECOND : 0;

	if (quantity == WRITTEN || quantity == DIRTIED)
		return rate(device, quantity, from, end);
	return mean(device, quantity, from, end);
}

/*
 * Seconds from @from until the mean of a second stays within @tolerance of @target; negative when
 * it does not at the end.
 */
static double settles(unsigned device, enum quantity quantity, unsigned from,
		      double target, double tolerance)
{
	unsigned last = from;

	for (unsigned end = from + 1; end <= sample_count; end++) {
		if (fabs(second(device, quantity, end) - target) > tolerance * target)
			last = end;
	}
	return last == sample_count ? -1 : 0.2 * (last - from);
}

static void say_settled(const char *what, double seconds)
{
	if (seconds < 0)
		printf("# %s: not within the run\n", what);
	else
		printf("# %s after %.1f s\n", what, seconds);
}

/* Half of what means of a second differ by, as a part of their own mean. */
static double swing(unsigned device, enum quantity quantity, unsigned from, unsigned to)
{
	double low = INFINITY;
	double high = 0;
	double sum = 0;

	for (unsigned end = from + SECOND; end <= to; end++) {
		double value = second(device, quantity, end);

		low = fmin(low, value);
		high = fmax(high, value);
		sum += value;
	}
	return (high - low) / 2 / (sum / (to - from - SECOND + 1));
}

/* ------------------------------------------------------------------------- fairness -- */

static uint64_t marks[20000];

static void mark_tasks(void)
{
	for (unsigned i = 0; i < scale.task_count; i++) {
		marks[i] = scale.tasks[i].written_bytes;
		scale.tasks[i].longest_ns = 0;
	}
}

/* What a task wrote since, by its weight. */
static double since_mark(unsigned task)
{
	return (double)(scale.tasks[task].written_bytes - marks[task]) * 100 /
	       (double)scale.tasks[task].weight;
}

/* Jain's index of tasks @from to @to. */
static double jain(unsigned from, unsigned to)
{
	double sum = 0;
	double squares = 0;

	for (unsigned i = from; i < to; i++) {
		sum += since_mark(i);
		squares += since_mark(i) * since_mark(i);
	}
	return squares > 0 ? sum * sum / ((to - from) * squares) : 0;
}

/* Longest visit of any task to the slow path since the mark, those that go on included. */
static double longest_visit_s(void)
{
	uint64_t most_ns = 0;

	for (unsigned i = 0; i < scale.task_count; i++) {
		const struct scale_task *task = &scale.tasks[i];

		most_ns = max_u64(most_ns, task->longest_ns);
		if (task->sleeps)
			most_ns = max_u64(most_ns, scale.now_ns - task->since_ns);
	}
	return (double)most_ns / 1e9;
}

/* Design 13: 250 ms and the bytes of a threshold and a piece at the task's fair rate. */
static double visit_promised_s(double fair_bps)
{
	return 0.25 + (double)(WP_KIB(128) + WP_KIB(64)) / fair_bps;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* -------------------------------------------------------------------------- worlds -- */

/* A device capped in slices of 100 ms, as in the laboratory. */
static const struct scale_disk capped = {
	.rate_bps = 10485760,
	.slice_ns = WP_MS(100),
	.medium_bps = 1000000000,
	.latency_ns = WP_US(300),
};

static struct scale_disk even(uint64_t rate_bps)
{
	return (struct scale_disk){ .rate_bps = rate_bps, .latency_ns = WP_US(300) };
}

static unsigned add_tasks(unsigned device, unsigned count)
{
	unsigned first = scale.task_count;

	for (unsigned i = 0; i < count; i++)
		scale_add_task(device);
	return first;
}

static double rate_of_disk(unsigned device)
{
	return (double)scale.devices[device].disk.rate_bps;
}

/* -------------------------------------------------------------------- equal writers -- */

static void say_convergence(unsigned writers, double bps, unsigned from)
{
	say_settled("bandwidth within 10 % of the device's",
		    settles(0, BANDWIDTH, 0, bps, 0.1));
	say_settled("base rate within 10 % of bandwidth / writers",
		    settles(0, BASE, 0, bps / writers, 0.1));
	say_settled("base rate within 10 % of where it ends",
		    settles(0, BASE, 0, mean(0, BASE, now() - 50, now()), 0.1));
	say_settled("outstanding within 10 % of its mean",
		    settles(0, OUTSTANDING, 0, mean(0, OUTSTANDING, from, now()), 0.1));
	say("base rate by bandwidth / writers",
	    mean(0, BASE, from, now()) * writers / bps, "");
	say("outstanding", mean(0, OUTSTANDING, from, now()) / 1e6, "MB");
	say("limit", mean(0, LIMIT, from, now()) / 1e6, "MB");
	say("swing of outstanding", swing(0, OUTSTANDING, from, now()), "");
	say("most above wall and limit", (double)scale.devices[0].over_bytes / 1e6, "MB");
	say("window", (double)scale.devices[0].control.window.kept_bytes / 1024, "KiB");
}

static void equal_on(const struct scale_disk *disk, unsigned writers, double warm_up)
{
	double bps = (double)disk->rate_bps;
	double promised_s = visit_promised_s(bps / writers);
	unsigned from;

	scale_add_device(disk);
	add_tasks(0, writers);
	run(warm_up);
	from = now();
	mark_tasks();
	scale.devices[0].over_bytes = 0;
	run(60);
	say_convergence(writers, bps, from);
	at_least("throughput by the device's", rate(0, WRITTEN, from, now()) / bps, 0.97);
	/* and a unit more or less in a second */
	at_most("swing of the rate written", swing(0, WRITTEN, from, now()),
		0.1 + (double)WINDOW_MIN_BYTES / bps);
	at_most("outstanding by the limit",
		largest(0, OUTSTANDING, from, now()) / mean(0, LIMIT, from, now()), 1.1);
	at_least("Jain's index", jain(0, writers), 0.99);
	at_most("swing of the base rate", swing(0, BASE, from, now()), 0.1);
	at_most("seconds of the longest visit", longest_visit_s(), promised_s);
}

static void one(void)
{
	equal_on(&capped, 1, 20);
}

static void equal_2(void)
{
	/* the base rate begins at twice what it should be, and takes 40 s to come down */
	equal_on(&capped, 2, 60);
}

static void equal_10(void)
{
	equal_on(&capped, 10, 20);
}

static void equal_100(void)
{
	equal_on(&capped, 100, 30);
}

static void equal_1000(void)
{
	struct scale_disk disk = even(100000000);

	equal_on(&disk, 1000, 30);
}

static void many_slow(void)
{
	equal_on(&capped, 512, 60);
}

static void ten_slowest(void)
{
	struct scale_disk disk = even(256000);

	equal_on(&disk, 10, 120);
}

static void weights(void)
{
	static const uint64_t given[] = { 50, 100, 200, 400 };
	double sum = 0;
	double most = 0;

	scale_add_device(&capped);
	add_tasks(0, 4);
	for (unsigned i = 0; i < 4; i++)
		scale.tasks[i].weight = given[i];
	run(20);
	mark_tasks();
	run(60);
	for (unsigned i = 0; i < 4; i++)
		sum += since_mark(i) / 4;
	for (unsigned i = 0; i < 4; i++) {
		printf("# weight %" PRIu64 ": %.3f of its share\n", given[i],
		       since_mark(i) / sum);
		most = fmax(most, fabs(since_mark(i) / sum - 1));
	}
	at_least("throughput by the device's",
		 rate(0, WRITTEN, 100, now()) / rate_of_disk(0), 0.97);
	at_most("largest error of a share", most, 0.1);
}

/* Ten backups beside somebody's work: half of the device is left to that. */
static void backups(void)
{
	double work;
	double most = 0;

	scale_add_device(&capped);
	add_tasks(0, 11);
	for (unsigned i = 1; i < 11; i++)
		scale.tasks[i].weight = 10;
	run(20);
	mark_tasks();
	run(60);
	work = since_mark(0);
	for (unsigned i = 1; i < 11; i++)
		most = fmax(most, fabs(since_mark(i) / work - 1));
	at_least("throughput by the device's",
		 rate(0, WRITTEN, 100, now()) / rate_of_disk(0), 0.97);
	at_most("largest error of a share", most, 0.1);
	at_least("weight 100 beside ten of 10, of the device",
		 (double)(scale.tasks[0].written_bytes - marks[0]) / 60 / rate_of_disk(0),
		 0.45);
}

/* ------------------------------------------------------------------ several devices -- */

static double periods(double seconds)
{
	return seconds / ((double)AGE_PERIOD_NS / 1e9);
}

/* First second from @from on at which @device has @share of the writeout. */
static double reaches(unsigned device, unsigned from, double share)
{
	for (unsigned i = from; i < now(); i++)
		if (samples[device][SHARE][i] >= share)
			return 0.2 * (i - from);
	return INFINITY;
}

/*
 * A fast device and one 32 times slower: for @turn_ns the fast one is written to, as long the slow
 * one, and then both.
 */
static void add_moving_load(uint64_t turn_ns)
{
	const struct scale_disk fast = even(320000000);
	const struct scale_disk slow = even(10000000);

	scale_add_device(&fast);
	scale_add_device(&slow);
	for (unsigned i = 0; i < 2; i++)
		scale.devices[i].bounds.ceiling_bytes = WP_MIB(200);
	add_tasks(0, 2);
	add_tasks(1, 2);
	for (unsigned i = 0; i < 2; i++) {
		scale.tasks[i].rest_from_ns = SCALE_BEGIN_NS + turn_ns;
		scale.tasks[i].rest_until_ns = SCALE_BEGIN_NS + 2 * turn_ns;
		scale.tasks[2 + i].begin_ns = SCALE_BEGIN_NS + turn_ns;
	}
}

/* The load moves from a fast device to a slow one, then both are written to. */
static void two_devices(void)
{
	unsigned moved;
	unsigned both;
	unsigned later;

	add_moving_load(WP_SEC(60));
	run(60);
	moved = now();
	say("share of the fast one, alone", samples[0][SHARE][moved - 1], "");
	run(60);
	both = now();
	at_most("periods until the shares are 1:1 (published: 5)",
		periods(reaches(1, moved, 0.5)), 6);
	at_most("periods until the share is within 10 % (published: 9 to 10)",
		periods(reaches(1, moved, 0.9)), 10);
	at_least("throughput of the slow one while its share grows",
		 rate(1, WRITTEN, moved + 25, moved + 25 + 50) / rate_of_disk(1), 0.97);
	run(60);
	at_most("limit of the slow one by what it writes in a second",
		largest(1, LIMIT, moved + 50, now()) / rate_of_disk(1), 1.1);
	later = both + 5 * 30;
	say_settled("both: share of the slow one within 10 % of 1/33",
		    settles(1, SHARE, both, 1.0 / 33, 0.1));
	at_least("both: throughput of the fast one",
		 rate(0, WRITTEN, later, now()) / rate_of_disk(0), 0.97);
	at_least("both: throughput of the slow one",
		 rate(1, WRITTEN, later, now()) / rate_of_disk(1), 0.97);
	at_most("both: error of the slow one's share",
		fabs(mean(1, SHARE, later, now()) * 33 - 1), 0.1);
	at_most("both: swing of the slow one's share", swing(1, SHARE, later, now()),
		0.1);
}

/* Readers take half of one device after the other, 30 s each. */
static void four_devices(void)
{
	const uint64_t bps = 400000000;
	const struct scale_disk disk = even(bps);
	double slowest_periods = 0;
	double most = 0;
	double swings = 0;
	double slowest = INFINITY;

	for (unsigned i = 0; i < 4; i++) {
		scale_add_device(&disk);
		scale.devices[i].bounds.ceiling_bytes = WP_MIB(800);
		add_tasks(i, 10);
	}
	run(30);
	mark_tasks();
	for (unsigned turn = 0; turn < 4; turn++) {
		unsigned from = now();
		double error;
		double seconds;

		for (unsigned i = 0; i < 4; i++)
			scale.devices[i].disk.rate_bps = i == turn ? bps / 2 : bps;
		run(30);
		seconds = settles(turn, SHARE, from, 1.0 / 7, 0.1);
		error = fabs(mean(turn, SHARE, now() - 25, now()) * 7 - 1);
		printf("# device %u: share %.3f at the end of its turn, within 10 %% of 1/7 "
		       "after %.1f s; outstanding %.0f MB, limit %.0f MB; written %.3f\n",
		       turn, samples[turn][SHARE][now() - 1], seconds,
		       mean(turn, OUTSTANDING, now() - 25, now()) / 1e6,
		       mean(turn, LIMIT, now() - 25, now()) / 1e6,
		       rate(turn, WRITTEN, from + 50, now()) / ((double)bps / 2));
		slowest_periods =
			fmax(slowest_periods, seconds < 0 ? INFINITY : periods(seconds));
		most = fmax(most, error);
		swings = fmax(swings, swing(turn, SHARE, now() - 50, now()));
		/* the one before, whose readers have gone: its eleventh to twentieth second */
		if (turn)
			slowest = fmin(slowest,
				       rate(turn - 1, WRITTEN, from + 50, from + 100) /
					       (double)bps);
	}
	at_most("periods until the share follows a turn", slowest_periods, 10);
	at_most("error of the share at the end of a turn", most, 0.1);
	at_most("swing of the share in the last 10 s of a turn", swings, 0.1);
	at_most("outstanding on all devices by the global limit",
		largest_sum(50, now()) / (double)WP_MIB(800), 1.1);
	at_least("throughput 10 s after the readers have gone", slowest, 0.8);
	at_least("throughput of the undisturbed fourth",
		 rate(3, WRITTEN, 100, 600) / (double)bps, 0.97);
	at_most("seconds of the longest visit", longest_visit_s(),
		visit_promised_s((double)bps / 20));
}

/* --------------------------------------------------------------------------- changes -- */

static void burst(void)
{
	struct scale_task *heavy;
	struct scale_task *light;
	uint64_t before_ns;
	double known;
	unsigned from;

	scale_add_device(&capped);
	add_tasks(0, 2);
	heavy = &scale.tasks[0];
	light = &scale.tasks[1];
	heavy->rest_from_ns = SCALE_BEGIN_NS + WP_SEC(20);
	heavy->rest_until_ns = SCALE_BEGIN_NS + WP_SEC(100);
	/*
	 * While nobody else writes, and what the heavy one left has become too old for the kernel:
	 * 2 MB at once, then 8 s of thought.
	 */
	light->begin_ns = SCALE_BEGIN_NS + WP_SEC(60);
	light->end_ns = SCALE_BEGIN_NS + WP_SEC(80);
	light->burst_bytes = 2000000;
	light->think_ns = WP_SEC(8);
	run(20);
	known = (double)scale.devices[0].control.bandwidth.avg_bps;
	run(30);
	before_ns = light->paused_ns;
	run(50);
	at_most("seconds slept in bursts of a fifth of the limit",
		(double)(light->paused_ns - before_ns) / 1e9, 0);
	at_most("change of the bandwidth known over 80 s of idling",
		fabs((double)scale.devices[0].control.bandwidth.avg_bps / known - 1),
		0.05);
	from = now();
	run(10);
	at_least("throughput of the first 10 s of a large burst",
		 rate(0, WRITTEN, from, now()) / rate_of_disk(0), 0.97);
	at_most("outstanding in it by the limit",
		largest(0, OUTSTANDING, from, now()) / mean(0, LIMIT, from, now()), 1.1);
}

static void limit_drop(void)
{
	const struct scale_disk disk = even(100000000);
	double promised_s;
	double seconds;
	double slowest = INFINITY;
	unsigned from;

	scale_add_device(&disk);
	add_tasks(0, 4);
	run(20);
	mark_tasks();
	from = now();
	say("limit before", mean(0, LIMIT, from - 5, from) / 1e6, "MB");
	say("outstanding before", mean(0, OUTSTANDING, from - 5, from) / 1e6, "MB");
	/* for bytes of a time when the limit was another */
	promised_s = 0.25 + (double)scale.tasks[0].room_bytes / (rate_of_disk(0) / 4);
	scale.devices[0].bounds.kernel_bytes = 20000000;
	run(40);
	for (unsigned end = from + SECOND; end < from + 50; end++)
		slowest = fmin(slowest, second(0, DIRTIED, end));
	seconds = settles(0, OUTSTANDING, from, 15000000, 0.34); /* 10 to 20 MB */
	say_settled("outstanding below the new limit", seconds);
	at_most("seconds until outstanding is below the new limit",
		seconds < 0 ? INFINITY : seconds, 5);
	at_least("slowest second of the writers meanwhile, by the device's",
		 slowest / rate_of_disk(0), 0.1);
	at_most("seconds of the longest visit", longest_visit_s(), promised_s);
	at_least("throughput under the new limit",
		 rate(0, WRITTEN, now() - 100, now()) / rate_of_disk(0), 0.97);
}

static void stall(void)
{
	double known;
	double before;
	unsigned from;

	scale_add_device(&capped);
	add_tasks(0, 2);
	run(10);
	known = (double)scale.devices[0].control.bandwidth.avg_bps;
	scale.devices[0].disk.stall_until_ns = scale.now_ns + WP_SEC(10);
	run(4);
	before = samples[0][DIRTIED][now() - 1];
	run(2);
	at_least("bytes written by the callers after 5 s, let go",
		 samples[0][DIRTIED][now() - 1] - before, 1);
	run(4);
	say("outstanding at the end of the stall",
	    samples[0][OUTSTANDING][now() - 1] / 1e6, "MB");
	say("most above wall and limit", (double)scale.devices[0].over_bytes / 1e6, "MB");
	say("callers let go", (double)scale.devices[0].releases, "times");
	from = now();
	run(30);
	at_most("seconds of the longest visit", longest_visit_s(), 5.3);
	at_most("change of the bandwidth known, 3 s after the stall",
		fabs(samples[0][BANDWIDTH][from + 15] / known - 1), 0.2);
	at_least("throughput after it",
		 rate(0, WRITTEN, from + 5, now()) / rate_of_disk(0), 0.97);
	say_settled("outstanding below the limit again",
		    settles(0, OUTSTANDING, from, 7000000, 0.5));
}

static void change_of_speed(uint64_t before_bps, uint64_t after_bps)
{
	const struct scale_disk disk = {
		.rate_bps = before_bps,
		.slice_ns = WP_MS(100),
		.medium_bps = 2000000000,
		.latency_ns = WP_US(300),
	};
	double bps = (double)after_bps;
	double promised_s;
	unsigned from;
	unsigned last;

	scale_add_device(&disk);
	add_tasks(0, 2);
	run(20);
	mark_tasks();
	from = now();
	last = from;
	/* at the rate that is fair now, for bytes of a time when another was */
	promised_s = 0.25 + (double)scale.tasks[0].room_bytes / (bps / 2);
	scale.devices[0].disk.rate_bps = after_bps;
	run(60);
	for (unsigned i = from; i < now(); i++)
		if (samples[0][OUTSTANDING][i] > 2 * bps)
			last = i + 1;
	say_settled("bandwidth within 20 %", settles(0, BANDWIDTH, from, bps, 0.2));
	at_most("seconds until outstanding is 2 s of the new speed", 0.2 * (last - from),
		10);
	at_least("written in the tenth second, by the new speed",
		 second(0, WRITTEN, from + 50) / bps, 0.8);
	at_least("throughput of the last 20 s",
		 rate(0, WRITTEN, now() - 100, now()) / bps, 0.97);
	at_most("seconds of the longest visit", longest_visit_s(), promised_s);
}

static void slower(void)
{
	change_of_speed(100000000, 10000000);
}

static void faster(void)
{
	change_of_speed(10000000, 100000000);
}

/* ----------------------------------------------------------------------- unequal ones -- */

static void light_writer(void)
{
	struct scale_task *light;
	struct scale_task *middle;
	uint64_t light_ns;
	uint64_t middle_ns;

	scale_add_device(&capped);
	add_tasks(0, 6);
	/* 80 KB/s in steps of 4 KiB, and 1 MB/s: two thirds of an equal share */
	light = &scale.tasks[4];
	light->call_bytes = 4096;
	light->rate_bps = 81920;
	middle = &scale.tasks[5];
	middle->call_bytes = WP_KIB(16);
	middle->rate_bps = 1000000;
	run(20);
	light_ns = light->paused_ns;
	middle_ns = middle->paused_ns;
	mark_tasks();
	run(60);
	say("limit", mean(0, LIMIT, 100, now()) / 1e6, "MB");
	say("outstanding", mean(0, OUTSTANDING, 100, now()) / 1e6, "MB");
	at_most("seconds of 60 that the light one slept",
		(double)(light->paused_ns - light_ns) / 1e9, 0.1);
	at_most("seconds of 60 that the middle one slept",
		(double)(middle->paused_ns - middle_ns) / 1e9, 1);
	at_least("rate of the light one, by what it wants", since_mark(4) / 60 / 81920,
		 0.98);
	at_least("rate of the middle one, by what it wants", since_mark(5) / 60 / 1000000,
		 0.98);
	at_least("Jain's index of the heavy ones", jain(0, 4), 0.99);
	at_least("throughput by the device's",
		 rate(0, WRITTEN, 100, now()) / rate_of_disk(0), 0.97);
}

/*
 * Somebody else writes 16 KiB every 45 to 55 ms and waits for it, for @seconds. The middle and the
 * hundredth longest of those waits, in ms.
 */
static void stranger(double seconds, double *p50_ms, double *p99_ms)
{
	static double waits_ms[10000];
	unsigned count = (unsigned)(seconds * 20);

	for (unsigned i = 0; i < count; i++) {
		scale_run(WP_MS(45) + scale_random() % WP_MS(10));
		if (i % 4 == 3)
			sample();
		waits_ms[i] =
			(double)scale_stranger_ns(&scale.devices[0], WP_KIB(16)) / 1e6;
	}
	qsort(waits_ms, count, sizeof(waits_ms[0]), by_size);
	*p50_ms = waits_ms[count / 2];
	*p99_ms = waits_ms[count - 1 - count / 100];
}

/* Others use the device while @writers write; the headroom is the one of auto. */
static void headroom_beside(const struct scale_disk *disk, unsigned writers,
			    double promised_p50_ms)
{
	double p50_ms;
	double p99_ms;
	unsigned from;

	scale_add_device(disk);
	add_tasks(0, writers);
	run(20);
	stranger(20, &p50_ms, &p99_ms);
	say("without, middle wait of others", p50_ms, "ms");
	say("without, hundredth longest wait", p99_ms, "ms");
	scale.devices[0].bounds.headroom_pm = 40;
	run(5);
	mark_tasks();
	from = now();
	stranger(60, &p50_ms, &p99_ms);
	say("speed known, by the device's",
	    (double)scale.devices[0].control.speed.bps / rate_of_disk(0), "");
	at_most("middle wait of others, ms", p50_ms, promised_p50_ms);
	at_most("hundredth longest wait, ms", p99_ms, 10);
	at_least("throughput by the device's, less what is left",
		 rate(0, WRITTEN, from, now()) / rate_of_disk(0), 0.925);
	at_most("outstanding, MB", largest(0, OUTSTANDING, from, now()) / 1e6, 0.8);
	at_least("Jain's index", jain(0, writers), 0.99);
	scale.devices[0].bounds.headroom_pm = 0;
	run(5);
	from = now();
	run(20);
	at_least("throughput when they have gone",
		 rate(0, WRITTEN, from, now()) / rate_of_disk(0), 0.97);
}

static void headroom(void)
{
	headroom_beside(&capped, 1, 4);
}

static void headroom_of_ten(void)
{
	headroom_beside(&capped, 10, 4);
}

static void headroom_even(void)
{
	const struct scale_disk disk = even(10485760);

	/* half a unit of 64 KiB and their own 16 */
	headroom_beside(&disk, 1, 5);
}

/* Held for four minutes, nobody else there: what is known of the device must not sink. */
static void headroom_long(void)
{
	const struct scale_disk deep = { .rate_bps = 100000000, .latency_ns = WP_MS(1) };

	scale_add_device(&deep);
	add_tasks(0, 1);
	run(20);
	scale.devices[0].bounds.headroom_pm = 30;
	run(240);
	at_least("speed known, by the device's",
		 (double)scale.devices[0].control.speed.bps / rate_of_disk(0), 0.97);
	at_least("throughput by the device's",
		 rate(0, WRITTEN, now() - 100, now()) / rate_of_disk(0), 0.94);
	scale.devices[0].bounds.headroom_pm = 0;
	run(10);
	at_least("throughput as soon as it is over",
		 rate(0, WRITTEN, now() - 25, now()) / rate_of_disk(0), 0.97);
}

/* It becomes a fifth slower, and then ten times, while it is held. */
static void headroom_slower(void)
{
	scale_add_device(&capped);
	add_tasks(0, 2);
	run(20);
	scale.devices[0].bounds.headroom_pm = 30;
	run(10);
	scale.devices[0].disk.rate_bps = capped.rate_bps * 4 / 5;
	run(10);
	at_most("a fifth slower: error of the speed known after 10 s",
		fabs((double)scale.devices[0].control.speed.bps / rate_of_disk(0) - 1),
		0.03);
	scale.devices[0].disk.rate_bps = capped.rate_bps / 10;
	run(10);
	at_most("ten times slower: error of the speed known after 10 s",
		fabs((double)scale.devices[0].control.speed.bps / rate_of_disk(0) - 1),
		0.1);
}

/* Probes cost others next to nothing, and find a device that has become ten times faster. */
static void headroom_faster(void)
{
	double p50_ms;
	double p99_ms;
	double before_ms;
	unsigned from;

	scale_add_device(&capped);
	add_tasks(0, 2);
	run(20);
	scale.devices[0].bounds.headroom_pm = 30;
	run(5);
	stranger(100, &p50_ms, &before_ms);
	say("before any probe, hundredth longest wait of others", before_ms, "ms");
	stranger(160, &p50_ms, &p99_ms);
	at_most("the same, two probes among them, ms", p99_ms, before_ms + 5);
	at_most("error of the speed known then",
		fabs((double)scale.devices[0].control.speed.bps / rate_of_disk(0) - 1),
		0.03);
	scale.devices[0].disk.rate_bps = capped.rate_bps * 10;
	run(135);
	from = now();
	run(10);
	at_least("ten times faster: rate by the new speed after 135 s",
		 rate(0, WRITTEN, from, now()) / rate_of_disk(0), 0.8);
}

/* Each command costs 5 ms beside its bytes at 20 MB/s. */
static void stick(void)
{
	const struct scale_disk disk = { .rate_bps = 20000000, .command_ns = WP_MS(5) };
	double written;
	double window;

	scale_add_device(&disk);
	add_tasks(0, 2);
	run(60);
	written = rate(0, WRITTEN, 150, now());
	window = (double)scale.devices[0].control.window.kept_bytes;
	say("window", window / 1024, "KiB");
	say("rate written", written / 1e6, "MB/s");
	say("time that the window takes", 1000 * window / written, "ms");
	/* one command of 50 ms holds 900 KB: 18 MB/s */
	say_settled("rate written within 10 % of its mean",
		    settles(0, WRITTEN, 0, written, 0.1));
	at_least("rate by what one command of 50 ms gives", written / 18e6, 0.9);
	at_most("swing of the rate written", swing(0, WRITTEN, 150, now()), 0.1);
}

/* --------------------------------------------------------------- the user's settings -- */

/* A program that writes this much at once, at this second. */
static unsigned add_burst(double at_s, uint64_t bytes)
{
	unsigned number = add_tasks(0, 1);
	struct scale_task *task = &scale.tasks[number];

	task->begin_ns = SCALE_BEGIN_NS + (uint64_t)(at_s * 1e9);
	task->burst_bytes = bytes;
	task->think_ns = WP_SEC(3600);
	return number;
}

static double slept_s(unsigned task)
{
	return (double)scale.tasks[task].paused_ns / 1e9;
}

/* 24 MB above the limit: a writer for a minute, then bursts of 20 MB at 120, 120.5 and 200 s. */
static void credit(void)
{
	const double bytes = 20e6;
	const double most = 24e6;
	double limit;
	unsigned first;
	unsigned next;
	unsigned third;

	scale_add_device(&capped);
	scale.devices[0].bounds.burst_bytes = (uint64_t)most;
	add_tasks(0, 1);
	scale.tasks[0].end_ns = SCALE_BEGIN_NS + WP_SEC(60);
	first = add_burst(120, (uint64_t)bytes);
	next = add_burst(120.5, (uint64_t)bytes);
	third = add_burst(200, (uint64_t)bytes);
	run(20);
	mark_tasks();
	run(40);
	at_most("outstanding of a steady writer by the limit",
		largest(0, OUTSTANDING, 100, 300) / mean(0, LIMIT, 100, 300), 1.1);
	at_least("its throughput by the device's",
		 rate(0, WRITTEN, 100, 300) / rate_of_disk(0), 0.97);
	at_most("seconds of its longest visit", longest_visit_s(),
		visit_promised_s(rate_of_disk(0)));
	run(60.2);
	at_most("seconds slept in a burst after idling", slept_s(first), 0);
	at_least("written of it in a fifth of a second",
		 (double)scale.tasks[first].written_bytes / bytes, 1);
	run(59.8);
	limit = mean(0, LIMIT, 300, now());
	/* 14 of its 20 MB have credit; the others come at an eighth of the device's speed or more */
	at_least("seconds slept in a burst right after it", slept_s(next), 0.5);
	at_most("seconds slept in it", slept_s(next), 8 * 6e6 / rate_of_disk(0) + 0.5);
	at_most("seconds of its longest visit",
		(double)scale.tasks[next].longest_ns / 1e9, 0.3);
	at_most("outstanding by limit and credit",
		largest(0, OUTSTANDING, 300, now()) / (limit + most), 1.02);
	at_least("outstanding by limit and credit, used",
		 largest(0, OUTSTANDING, 300, now()) / (limit + most), 0.9);
	run(40);
	at_most("seconds slept in a burst after idling again", slept_s(third), 0);
}

/* Two devices of 100 and 10 MB/s under a ceiling of 20 MB. */
static void under_ceiling(void)
{
	const struct scale_disk fast = even(100000000);
	const struct scale_disk slow = even(10000000);

	scale_add_device(&fast);
	scale_add_device(&slow);
	for (unsigned i = 0; i < 2; i++) {
		scale.devices[i].bounds.ceiling_bytes = 20000000;
		add_tasks(i, 2);
	}
}

/* Run, say what the last 20 s of it were like, and where they begin. */
static unsigned run_and_say(double seconds)
{
	unsigned from;

	run(seconds);
	from = now() - 100;
	for (unsigned i = 0; i < 2; i++)
		printf("# device %u: limit %.1f MB, outstanding %.1f MB, share %.3f, "
		       "throughput %.3f\n",
		       i, mean(i, LIMIT, from, now()) / 1e6,
		       mean(i, OUTSTANDING, from, now()) / 1e6,
		       mean(i, SHARE, from, now()),
		       rate(i, WRITTEN, from, now()) / rate_of_disk(i));
	return from;
}

static void ratios(void)
{
	unsigned from;

	under_ceiling();
	from = run_and_say(40);
	at_most("limit of the slow one without a promise, in MB",
		mean(1, LIMIT, from, now()) / 1e6, 3);
	/* 30 % promised to the slow one: 6 MB and its share of the other 14 */
	for (unsigned i = 0; i < 2; i++)
		scale.devices[i].bounds.others_min_ratio_q10 = 307;
	scale.devices[1].bounds.min_ratio_q10 = 307;
	from = run_and_say(40);
	at_least("limit of the slow one with 30 % promised, in MB",
		 mean(1, LIMIT, from, now()) / 1e6, 6);
	at_most("limit of the fast one beside it, in MB",
		mean(0, LIMIT, from, now()) / 1e6, 14);
	for (unsigned i = 0; i < 2; i++)
		at_least("throughput by the device's",
			 rate(i, WRITTEN, from, now()) / rate_of_disk(i), 0.97);
	/* and 20 % at most for the fast one: 4 MB, and a fifth of the writeout counted */
	scale.devices[0].bounds.max_ratio_q10 = 205;
	from = run_and_say(60);
	at_most("limit of the fast one with 20 % at most, in MB",
		largest(0, LIMIT, from, now()) / 1e6, 4.01);
	at_most("outstanding on it by that", largest(0, OUTSTANDING, from, now()) / 4e6,
		1.1);
	at_most("its share of the writeout", mean(0, SHARE, from, now()), 0.21);
	at_least("limit of the slow one then, in MB", mean(1, LIMIT, from, now()) / 1e6,
		 9);
	for (unsigned i = 0; i < 2; i++)
		at_least("throughput by the device's",
			 rate(i, WRITTEN, from, now()) / rate_of_disk(i), 0.97);
	/* a ceiling of its own */
	scale.devices[1].bounds.max_bytes = 2000000;
	from = run_and_say(60);
	at_most("limit of the slow one with 2 MB at most, in MB",
		largest(1, LIMIT, from, now()) / 1e6, 2);
	at_most("outstanding on it by that", largest(1, OUTSTANDING, from, now()) / 2e6,
		1.1);
}

/* The user's rate on a device fifty times as fast, a credit notwithstanding. */
static void users_rate(void)
{
	const struct scale_disk disk = even(100000000);
	const uint64_t rate_bps = 2000000;
	double written;

	scale_add_device(&disk);
	scale.devices[0].bounds.rate_bps = rate_bps;
	scale.devices[0].bounds.burst_bytes = 24000000;
	add_tasks(0, 10);
	run(20);
	mark_tasks();
	run(60);
	written = rate(0, DIRTIED, 100, now()) / (double)rate_bps;
	at_most("dirtied by the user's rate", written, 1.01);
	at_least("dirtied by the user's rate, used", written, 0.99);
	at_least("Jain's index", jain(0, 10), 0.99);
	at_most("swing of what is dirtied", swing(0, DIRTIED, 100, now()), 0.2);
}

/* ------------------------------------------------------------------------------ large -- */

#define LARGE_DEVICES 1000u
#define LARGE_TASKS 10000u

static double cpu_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* From 256 KB/s to 16 MB/s, even steps of the exponent. */
static uint64_t large_bps(unsigned device)
{
	return (uint64_t)(256000 * pow(2, 6.0 * device / (LARGE_DEVICES - 1)));
}

static void large(void)
{
	static double before[LARGE_DEVICES];
	double begin_s = cpu_s();
	double least = INFINITY;
	double least_jain = INFINITY;
	double sum = 0;
	double share_error = 0;
	double all_bps = 0;
	unsigned poor = 0;
	struct rusage usage;

	scale.look_ns = WP_MS(1);
	scale.merge = true;
	for (unsigned i = 0; i < LARGE_DEVICES; i++) {
		struct scale_disk disk = even(large_bps(i));

		scale_add_device(&disk);
		all_bps += (double)disk.rate_bps;
	}
	for (unsigned i = 0; i < LARGE_TASKS; i++)
		scale_add_task(i % LARGE_DEVICES);
	run(300);
	mark_tasks();
	for (unsigned i = 0; i < LARGE_DEVICES; i++)
		before[i] = (double)scale.devices[i].disk.done_bytes;
	run(300);
	for (unsigned i = 0; i < LARGE_DEVICES; i++) {
		const struct scale_device *device = &scale.devices[i];
		struct fprop_fraction share = scale_share(device);
		double busy = ((double)device->disk.done_bytes - before[i]) / 300 /
			      (double)device->disk.rate_bps;
		double squares = 0;
		double own = 0;
		double fair;

		for (unsigned j = i; j < LARGE_TASKS; j += LARGE_DEVICES) {
			own += since_mark(j);
			squares += since_mark(j) * since_mark(j);
		}
		fair = own * own / (LARGE_TASKS / LARGE_DEVICES * squares);
		poor += busy < 0.97;
		least = fmin(least, busy);
		sum += busy / LARGE_DEVICES;
		least_jain = fmin(least_jain, fair);
		share_error =
			fmax(share_error,
			     fabs((double)share.numerator / (double)share.denominator /
					  ((double)device->disk.rate_bps / all_bps) -
				  1));
	}
	getrusage(RUSAGE_SELF, &usage);
	say("throughput, mean", sum, "of the device");
	say("devices below 0.97", poor, "");
	say("longest visit of the last five minutes", longest_visit_s(), "s");
	say("events", (double)(scale.verdicts + scale.looks) / 1e6, "million");
	/*
	 * Weak: looks come at the moment a unit is done, so a window of one unit idles only for the
	 * latency of each, 7 % at 16 MB/s; a window of two is kept where it gains 15 %.
	 */
	weak_at_least("throughput, least of 1000", least, 0.97, 0.88);
	at_least("Jain's index, least of 1000", least_jain, 0.99);
	at_most("largest error of a share", share_error, 0.25);
	at_most("seconds of CPU", cpu_s() - begin_s, 60);
	at_most("megabytes", (double)usage.ru_maxrss / 1024, 200);
}

/* ------------------------------------------------------------------ the chosen period -- */

/* The same load under each of them, one after another. */
static const struct {
	const char *name;
	uint64_t ns; /* 0 = chosen */
} lengths[] = { { "3 s", WP_SEC(3) }, { "8 s", WP_SEC(8) }, { "auto", 0 } };

enum { LENGTH_3_S, LENGTH_8_S, LENGTH_AUTO, LENGTHS };

static uint64_t scenario_seed;

/* A new world, aged by that length; the one before is judged first. */
static void begin_with(unsigned length, uint64_t seed)
{
	if (scale.now_ns > SCALE_BEGIN_NS) {
		judge_invariants();
		scale_end();
		sample_count = 0;
		if (!scale_begin(seed))
			abort();
	}
	age_set_period(scale.segment, lengths[length].ns);
}

static double chosen_s(void)
{
	struct period period = period_of_word(scale.segment->header.chosen);

	return (double)period_span_ns(&period) / 1e9;
}

static void say_for(unsigned length, const char *what, double value, const char *unit)
{
	printf("# %s: %s %.4f %s\n", lengths[length].name, what, value, unit);
}

/* The load moves from a fast device to a slow one, which stays alone, then both are written to. */
static void move_load(unsigned length, double *alone_s, double *both_s)
{
	unsigned moved;

	begin_with(length, scenario_seed);
	add_moving_load(WP_SEC(120));
	run(120);
	if (length == LENGTH_AUTO)
		at_least("seconds of the chosen period before the load moves", chosen_s(),
			 8);
	moved = now();
	run(120);
	*alone_s = reaches(1, moved, 0.9);
	moved = now();
	run(120);
	*both_s = settles(1, SHARE, moved, 1.0 / 33, 0.1);
	say_for(length, "the share is within 10 % of 1 after", *alone_s, "s");
	say_for(length, "both: it is within 10 % of 1/33 after", *both_s, "s");
}

static void period_move(void)
{
	double alone_s[LENGTHS];
	double both_s[LENGTHS];

	for (unsigned length = 0; length < LENGTHS; length++)
		move_load(length, &alone_s[length], &both_s[length]);
	at_least("seconds of the chosen period in the end", chosen_s(), 8);
	at_most("chosen: seconds until the share is within 10 %", alone_s[LENGTH_AUTO],
		15);
	at_most("chosen: the same by that with 3 s",
		alone_s[LENGTH_AUTO] / alone_s[LENGTH_3_S], 0.5);
	at_most("chosen, both: the same by that with 3 s",
		both_s[LENGTH_AUTO] / both_s[LENGTH_3_S], 0.5);
	/* else there were nothing to choose */
	at_least("8 s: the same by that with 3 s",
		 alone_s[LENGTH_8_S] / alone_s[LENGTH_3_S], 2);
}

/* Two devices of one speed, until one becomes 32 times slower. */
static double slow_down(unsigned length)
{
	const struct scale_disk disk = even(320000000);
	unsigned from;
	double seconds;

	begin_with(length, scenario_seed);
	for (unsigned i = 0; i < 2; i++) {
		scale_add_device(&disk);
		scale.devices[i].bounds.ceiling_bytes = WP_MIB(200);
		add_tasks(i, 2);
	}
	run(120);
	from = now();
	scale.devices[1].disk.rate_bps /= 32;
	run(180);
	seconds = settles(1, SHARE, from, 1.0 / 33, 0.1);
	say_for(length, "the share is within 10 % of 1/33 after", seconds, "s");
	return seconds < 0 ? INFINITY : seconds;
}

static void period_speed(void)
{
	double seconds[LENGTHS];

	for (unsigned length = 0; length < LENGTHS; length++)
		seconds[length] = slow_down(length);
	at_most("chosen: seconds until the share is within 10 %", seconds[LENGTH_AUTO],
		15);
	at_most("chosen: the same by that with 3 s",
		seconds[LENGTH_AUTO] / seconds[LENGTH_3_S], 0.5);
}

static void speed_uneven(unsigned device, uint64_t bps, uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1;
	scale.devices[device].disk.rate_bps =
		bps / 10 + bps * 18 / 10 * (*seed >> 44) / (1 << 20);
}

/* Run while devices do from 0.1 to 1.9 of @bps, anew each 200 ms; returns the changes found. */
static unsigned run_uneven(uint64_t bps, double seconds, uint64_t *seed)
{
	double before_s = chosen_s();
	unsigned changes = 0;

	for (double at = 0; at < seconds - 0.1; at += 0.2) {
		for (unsigned i = 0; i < scale.device_count; i++)
			speed_uneven(i, bps, seed);
		run(0.2);
		changes += chosen_s() < before_s;
		before_s = chosen_s();
	}
	return changes;
}

/* The same while the first one stands still for 2 s of every 30 s. */
static unsigned run_stalling(uint64_t bps, double seconds, uint64_t *seed)
{
	unsigned changes = 0;

	for (double at = 0; at < seconds - 1; at += 30) {
		scale.devices[0].disk.stall_until_ns = scale.now_ns + WP_SEC(2);
		changes += run_uneven(bps, 30, seed);
	}
	return changes;
}

/* Variance of the share itself. */
static double variance(unsigned device, unsigned from, unsigned to)
{
	double about = mean(device, SHARE, from, to);
	double squares = 0;

	for (unsigned i = from; i < to; i++) {
		double off = samples[device][SHARE][i] - about;

		squares += off * off;
	}
	return squares / (to - from);
}

#define WORLDS 8 /* ten minutes of one differ by a tenth from the next */

typedef unsigned run_load(uint64_t bps, double seconds, uint64_t *seed);

/* Ten minutes after the first two. The unevenness is the same under every length. */
static double fluctuate(unsigned length, uint64_t seed, run_load *run_it,
			unsigned *changes)
{
	const uint64_t bps = 40000000;
	const struct scale_disk disk = even(bps);

	begin_with(length, seed);
	for (unsigned i = 0; i < 2; i++) {
		scale_add_device(&disk);
		scale.devices[i].bounds.ceiling_bytes = WP_MIB(200);
		add_tasks(i, 2);
	}
	run_it(bps, 120, &seed);
	*changes += run_it(bps, 600, &seed);
	return variance(0, 120 * SECOND, now());
}

static void fluctuate_under_each(run_load *run_it)
{
	double deviations[LENGTHS];
	unsigned changes[LENGTHS] = { 0 };

	for (unsigned length = 0; length < LENGTHS; length++) {
		double sum = 0;

		for (unsigned world = 0; world < WORLDS; world++)
			sum += fluctuate(length, scenario_seed * WORLDS + world, run_it,
					 &changes[length]);
		deviations[length] = sqrt(sum / WORLDS);
		say_for(length, "standard deviation of the share", deviations[length],
			"");
	}
	at_least("fluctuation with 3 s by that with 8 s, to be more",
		 deviations[LENGTH_3_S] / deviations[LENGTH_8_S], 1.2);
	/* The same, but periods end at other moments: three times what seeds make of that. */
	at_most("chosen: fluctuation by that with 8 s",
		deviations[LENGTH_AUTO] / deviations[LENGTH_8_S], 1.1);
	at_most("chosen: changes found in 80 minutes", changes[LENGTH_AUTO], 0);
}

static void period_steady(void)
{
	fluctuate_under_each(run_uneven);
}

static void period_stalls(void)
{
	fluctuate_under_each(run_stalling);
}

/* --------------------------------------------------------------------------- the list -- */

const struct scenario scenarios[] = {
	{ "one", "one writer on a device capped at 10 MB/s", one },
	{ "equal-2", "2 equal writers", equal_2 },
	{ "equal-10", "10 equal writers", equal_10 },
	{ "equal-100", "100 equal writers", equal_100 },
	{ "equal-1000", "1000 equal writers on 100 MB/s", equal_1000 },
	{ "many-slow", "512 equal writers on 10 MB/s", many_slow },
	{ "ten-slowest", "10 equal writers on 256 KB/s", ten_slowest },
	{ "weights", "writers of weight 50, 100, 200, 400", weights },
	{ "backups", "ten writers of weight 10 beside one of 100", backups },
	{ "two-devices", "two devices 1:32, the load moves from the fast one",
	  two_devices },
	{ "four-devices", "four fast devices, readers disturb them in turns of 30 s",
	  four_devices },
	{ "burst", "idle, then small bursts, then a large one", burst },
	{ "limit-drop", "the limit falls to a fifth", limit_drop },
	{ "stall", "the device stands still for 10 s", stall },
	{ "slower", "the device becomes ten times slower", slower },
	{ "faster", "the device becomes ten times faster", faster },
	{ "light", "light writers beside four heavy ones", light_writer },
	{ "headroom", "one writer, others use the device", headroom },
	{ "headroom-10", "ten writers, others use the device", headroom_of_ten },
	{ "headroom-even", "one writer, others use a device without slices",
	  headroom_even },
	{ "headroom-long", "headroom for four minutes on a device that needs depth",
	  headroom_long },
	{ "headroom-faster", "a device that becomes faster under headroom",
	  headroom_faster },
	{ "headroom-slower", "a device that becomes slower under headroom",
	  headroom_slower },
	{ "stick", "a device whose commands cost 5 ms each", stick },
	{ "credit", "bursts after idling, with a credit of 24 MB", credit },
	{ "ratios", "two devices under a ceiling, with shares promised and bounded",
	  ratios },
	{ "rate", "10 writers under a user's rate", users_rate },
	{ "large", "1000 devices, 10,000 writers, 10 minutes", large },
	{ "period-move", "chosen period: 1:32, the load moves", period_move },
	{ "period-speed", "chosen period: one of two becomes 32 times slower",
	  period_speed },
	{ "period-steady", "chosen period: a steady load on uneven devices",
	  period_steady },
	{ "period-stalls", "chosen period: the same, one stands still now and then",
	  period_stalls },
};

const unsigned scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);

bool scenario_run(const struct scenario *scenario, uint64_t seed)
{
	line_count = 0;
	sample_count = 0;
	scenario_seed = seed;
	if (!scale_begin(seed))
		return false;
	printf("# %s: %s, seed %" PRIu64 "\n", scenario->name, scenario->about, seed);
	scenario->run();
	judge_invariants();
	printf("1..%u\n", line_count);
	scale_end();
	return true;
}
