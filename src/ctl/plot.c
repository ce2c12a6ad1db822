/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepacectl plot: a trace as three pictures over the same time, drawn by gnuplot: limits and
 * what is dirty; rates; pauses. Before them, where there is more than one device, all of them
 * together. Lines differ by their dashes, not by colour.
 */
#include "ctl/ctl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zlib.h>

#define LINE_BYTES 4096
#define FIELDS 64
#define DEVICES 32
#define SPEED_S 0.5 /* what was written is shown as the mean of so long */

enum column {
	TIME,
	BDI,
	PID,
	COMM,
	LIMIT,
	SETPOINT,
	DIRTY,
	WB_LIMIT,
	WB_SETPOINT,
	WB_DIRTY,
	AVG_WRITE_BW,
	WRITTEN,
	DIRTY_RATELIMIT,
	TASK_RATELIMIT,
	PAUSE,
	COLUMNS,
};

static const char *const column_names[COLUMNS] = {
	[TIME] = "time",
	[BDI] = "bdi",
	[PID] = "pid",
	[COMM] = "comm",
	[LIMIT] = "limit",
	[SETPOINT] = "setpoint",
	[DIRTY] = "dirty",
	[WB_LIMIT] = "wb_limit",
	[WB_SETPOINT] = "wb_setpoint",
	[WB_DIRTY] = "wb_dirty",
	[AVG_WRITE_BW] = "avg_write_bw",
	[WRITTEN] = "written",
	[DIRTY_RATELIMIT] = "dirty_ratelimit",
	[TASK_RATELIMIT] = "task_ratelimit",
	[PAUSE] = "pause",
};

struct plot {
	const char *path;
	const char *output; /* NULL = on the terminal */
	char device[32];
	unsigned devices; /* in the trace */
	gzFile trace;
	int place[COLUMNS]; /* in a line */
	char line[LINE_BYTES];
	const char *field[FIELDS];
	FILE *gnuplot;
	double end_s;
};

/* ------------------------------------------------------------------ read ---- */

static int split(struct plot *plot)
{
	char *rest = plot->line;
	int count = 0;

	rest[strcspn(rest, "\n")] = '\0';
	while (rest && count < FIELDS)
		plot->field[count++] = strsep(&rest, ",");
	return count;
}

static bool next_line(struct plot *plot)
{
	int wanted = 0;

	for (int i = 0; i < COLUMNS; i++)
		if (plot->place[i] >= wanted)
			wanted = plot->place[i] + 1;
	/* what was cut short, by a kill, is no line */
	return gzgets(plot->trace, plot->line, LINE_BYTES) && split(plot) >= wanted;
}

static const char *value(const struct plot *plot, enum column column)
{
	return plot->field[plot->place[column]];
}

static bool begin(struct plot *plot)
{
	int count;

	gzrewind(plot->trace);
	if (!gzgets(plot->trace, plot->line, LINE_BYTES))
		return false;
	count = split(plot);
	for (int column = 0; column < COLUMNS; column++) {
		int i = 0;

		while (i < count && strcmp(plot->field[i], column_names[column]) != 0)
			i++;
		if (i == count)
			return false;
		plot->place[column] = i;
	}
	return true;
}

/* Count them; where none was asked for, take the one that most lines are of. */
static bool choose_device(struct plot *plot)
{
	struct {
		char id[32];
		unsigned lines;
	} devices[DEVICES] = { 0 };
	bool asked = *plot->device;
	unsigned most = 0;

	while (next_line(plot)) {
		size_t i = 0;

		while (i < DEVICES - 1 && *devices[i].id &&
		       strcmp(devices[i].id, value(plot, BDI)) != 0)
			i++;
		snprintf(devices[i].id, sizeof(devices[i].id), "%s", value(plot, BDI));
		plot->devices += !devices[i].lines;
		if (++devices[i].lines <= most)
			continue;
		most = devices[i].lines;
		if (!asked)
			strcpy(plot->device, devices[i].id);
	}
	return most;
}

/* ----------------------------------------------------------------- write ---- */

/* Only digits and a point go to gnuplot: it would run what stands in a file it trusts. */
static double number(const struct plot *plot, enum column column, double scale)
{
	return strtod(value(plot, column), NULL) / scale;
}

static bool is_wanted(const struct plot *plot)
{
	return !strcmp(value(plot, BDI), plot->device);
}

#define MIB 1048576.0

/* What is not known yet is left out. */
static void put_known(struct plot *plot, enum column column)
{
	double known = number(plot, column, MIB);

	if (known > 0)
		fprintf(plot->gnuplot, " %f", known);
	else
		fputs(" NaN", plot->gnuplot);
}

static size_t put_devices(struct plot *plot)
{
	size_t lines = 0;

	fprintf(plot->gnuplot, "$device << EOD\n");
	begin(plot);
	while (next_line(plot)) {
		if (!is_wanted(plot) || *value(plot, PID))
			continue;
		plot->end_s = number(plot, TIME, 1);
		fprintf(plot->gnuplot, "%f", plot->end_s);
		put_known(plot, WB_LIMIT);
		put_known(plot, WB_SETPOINT);
		fprintf(plot->gnuplot, " %f", number(plot, WB_DIRTY, MIB));
		put_known(plot, AVG_WRITE_BW);
		put_known(plot, DIRTY_RATELIMIT);
		put_known(plot, LIMIT);
		put_known(plot, SETPOINT);
		fprintf(plot->gnuplot, " %f", number(plot, DIRTY, MIB));
		fputc('\n', plot->gnuplot);
		lines++;
	}
	fprintf(plot->gnuplot, "EOD\n");
	return lines;
}

static void put_tasks(struct plot *plot)
{
	fprintf(plot->gnuplot, "$task << EOD\n-1 NaN NaN\n");
	begin(plot);
	while (next_line(plot))
		if (is_wanted(plot) && *value(plot, PID))
			fprintf(plot->gnuplot, "%f %f %f\n", number(plot, TIME, 1),
				number(plot, TASK_RATELIMIT, MIB),
				number(plot, PAUSE, 1));
	fprintf(plot->gnuplot, "EOD\n");
}

static void put_speed(struct plot *plot)
{
	double from = -1;
	double from_mib = 0;

	fprintf(plot->gnuplot, "$speed << EOD\n-1 NaN\n");
	begin(plot);
	while (next_line(plot)) {
		double time = number(plot, TIME, 1);
		double mib = number(plot, WRITTEN, MIB);

		if (!is_wanted(plot) || *value(plot, PID))
			continue;
		if (from >= 0 && time - from >= SPEED_S)
			fprintf(plot->gnuplot, "%f %f\n", (from + time) / 2,
				(mib - from_mib) / (time - from));
		if (from >= 0 && time - from < SPEED_S)
			continue;
		from = time;
		from_mib = mib;
	}
	fprintf(plot->gnuplot, "EOD\n");
}

static const char script_begin[] = "set monochrome\n"
				   "set style data lines\n"
				   "set grid\n"
				   "set key outside right top samplen 3\n"
				   "set rmargin 24\n"
				   "set yrange [0:*]\n"
				   "set ylabel 'MiB'\n";
static const char script_all[] = "plot $device using 1:7 title 'limit, all' lw 2 dt 1,"
				 " '' using 1:8 title 'setpoint, all' dt 2,"
				 " '' using 1:9 title 'dirty, all' dt 1\n";
static const char script[] =
	"plot $device using 1:2 title 'limit' lw 2 dt 1, '' using 1:3 title 'setpoint' dt 2,"
	" '' using 1:4 title 'dirty + writeback' dt 1\n"
	"set ylabel 'MiB/s'\n"
	"plot $speed using 1:2 title 'written' lw 2 dt 1,"
	" $device using 1:5 title 'bandwidth' dt 2, '' using 1:6 title 'base rate' dt 4,"
	" $task using 1:2 with points pt 7 ps 0.3 title 'task rate'\n"
	"set ylabel 'ms'\n"
	"set xlabel 'seconds'\n"
	"plot $task using 1:3 with impulses title 'pauses of tasks'\n";

static const char *terminal_of(const char *output)
{
	size_t length = output ? strlen(output) : 0;

	if (length > 4 && !strcmp(output + length - 4, ".svg"))
		return "svg size 1000,900";
	if (length > 4 && !strcmp(output + length - 4, ".png"))
		return "pngcairo size 1000,900";
	return NULL;
}

/* gnuplot's quoted string: ' is doubled. */
static void put_quoted(FILE *file, const char *text)
{
	putc('\'', file);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', file);
		putc(*text == '\n' ? '?' : *text, file);
	}
	putc('\'', file);
}

static unsigned terminal_columns(void)
{
	struct winsize size;

	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 40 ?
		       size.ws_col - 1u :
		       79u;
}

static void put_terminal(const struct plot *plot)
{
	if (!plot->output) {
		fprintf(plot->gnuplot, "set terminal dumb noenhanced size %u,20\n",
			terminal_columns());
		return;
	}
	fprintf(plot->gnuplot, "set terminal %s\nset output ", terminal_of(plot->output));
	put_quoted(plot->gnuplot, plot->output);
	fprintf(plot->gnuplot, "\nset multiplot layout %d,1 title ",
		plot->devices > 1 ? 4 : 3);
	put_quoted(plot->gnuplot, plot->path);
	fprintf(plot->gnuplot, "\nset lmargin 10\n");
}

static int draw(struct plot *plot)
{
	size_t lines;
	int status;

	signal(SIGPIPE, SIG_IGN); /* what gnuplot thinks of it, it says itself */
	plot->gnuplot = popen("exec gnuplot -d 2>&1", "we");
	if (!plot->gnuplot)
		return ctl_complain("gnuplot: %m");
	lines = put_devices(plot);
	put_tasks(plot);
	put_speed(plot);
	put_terminal(plot);
	fprintf(plot->gnuplot, "set xrange [0:%f]\n", plot->end_s > 0 ? plot->end_s : 1);
	if (lines) {
		fputs(script_begin, plot->gnuplot);
		fputs(plot->devices > 1 ? script_all : "", plot->gnuplot);
		fputs(script, plot->gnuplot);
	}
	status = pclose(plot->gnuplot);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return ctl_complain("gnuplot is needed for this (Debian: gnuplot-nox)");
	if (!lines)
		return ctl_complain("%s: nothing about device %s", plot->path,
				    plot->device);
	if (status)
		return ctl_complain("gnuplot could not draw it");
	return CTL_DONE;
}

static int open_trace(struct plot *plot)
{
	plot->trace = gzopen(plot->path, "rbe");
	if (!plot->trace)
		return ctl_complain("%s: %m", plot->path);
	if (!begin(plot))
		return ctl_complain("%s: not a trace of writepacectl", plot->path);
	if (!choose_device(plot))
		return ctl_complain("%s: nothing in it", plot->path);
	return CTL_DONE;
}

int run_plot(struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "device", required_argument, NULL, 'D' },
		{ "text", no_argument, NULL, 0x100 + 'T' },
		{ 0 },
	};
	static struct plot plot;
	bool text = false;
	int option;
	int status;

	while ((option = ctl_option(ctl, argc, argv, options)) != -1) {
		if (option == 'o')
			plot.output = optarg;
		else if (option == 'D')
			snprintf(plot.device, sizeof(plot.device), "%s", optarg);
		else
			text = true;
	}
	if (argc - optind != 1 || text == !!plot.output)
		return ctl_usage(ctl);
	if (plot.output && !terminal_of(plot.output))
		return ctl_complain("%s: neither .png nor .svg", plot.output);
	plot.path = argv[optind];
	status = open_trace(&plot);
	return status ? status : draw(&plot);
}
