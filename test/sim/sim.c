/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a scenario of the laws on a simulated clock, prints its numbers as comments and its
 * promises as TAP.
 *
 *	sim SCENARIO [--trace FILE] [--seed N]
 *	sim --list
 *
 * Exit status: 0 all promises are kept, 1 not, 2 wrong usage or no memory. The trace has a line
 * for each verdict, its first line names the columns; where its time goes back a new world begins.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

static int usage(void)
{
	fprintf(stderr, "usage: sim SCENARIO [--trace FILE] [--seed N]\n"
			"       sim --list\n");
	return 2;
}

static int list(void)
{
	for (unsigned i = 0; i < scenario_count; i++)
		printf("%-16s%s\n", scenarios[i].name, scenarios[i].about);
	return 0;
}

static const struct scenario *find(const char *name)
{
	for (unsigned i = 0; i < scenario_count; i++)
		if (!strcmp(scenarios[i].name, name))
			return &scenarios[i];
	return NULL;
}

static bool open_trace(const char *path)
{
	scale.trace = fopen(path, "we");
	if (!scale.trace) {
		fprintf(stderr, "sim: %s: %s\n", path, strerror(errno));
		return false;
	}
	fputs("time_s\tdevice\ttask\toutstanding_bytes\tdirtied_bytes\tweight\t"
	      "share_numerator\tshare_denominator\tglobal_bytes\tlimit_bytes\t"
	      "task_limit_bytes\tbackground_bytes\tsetpoint_bytes\twall_bytes\t"
	      "credit_bytes\t"
	      "bandwidth_bps\tbase_bps\tpos_q10\ttask_bps\tmax_pause_ns\t"
	      "min_pause_ns\tpause_ns\tpoll_bytes\tpiece_bytes\tfree_running\t"
	      "at_wall\towed_bytes\twindow_bytes\tflight_bytes\twritten_bytes\t"
	      "unit_bytes\twriteout_numerator\twriteout_denominator\tperiod_ns\n",
	      scale.trace);
	return true;
}

static int run(const struct scenario *scenario, const char *trace_path, uint64_t seed)
{
	if (trace_path && !open_trace(trace_path))
		return 2;
	if (!scenario_run(scenario, seed)) {
		fprintf(stderr, "sim: no memory\n");
		return 2;
	}
	if (scale.trace && fclose(scale.trace)) {
		fprintf(stderr, "sim: %s: %s\n", trace_path, strerror(errno));
		return 2;
	}
	return scenario_failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct scenario *scenario = NULL;
	const char *trace_path = NULL;
	uint64_t seed = 1;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--trace") && i + 1 < argc)
			trace_path = argv[++i];
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 10);
		else if (argv[i][0] == '-' || scenario)
			return usage();
		else if (!(scenario = find(argv[i])))
			return fprintf(stderr, "sim: no scenario '%s', see --list\n",
				       argv[i]),
			       2;
	}
	return scenario ? run(scenario, trace_path, seed) : usage();
}
