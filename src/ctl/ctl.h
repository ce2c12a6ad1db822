/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepacectl: what people ask of paced programs and devices.
 *
 *   main.c      the table of commands, options that all have
 *   view.c      the reader of segments; all others look through it
 *   place.c     a device as people and the kernel know it: name, mount, what is dirty there
 *   table.c     tables and JSON
 *   human.c     numbers with units
 *   the rest    a command each
 *
 * It reads a copy of the segment and files of the kernel; `set` and `reset` alone write, and no
 * more than the words for that.
 */
#ifndef WP_CTL_CTL_H
#define WP_CTL_CTL_H

#include <getopt.h>

#include "base/types.h"

enum ctl_status {
	CTL_DONE = 0,
	CTL_FAILED = 1, /* what was asked for could not be done */
	CTL_USAGE = 2,
	CTL_NOBODY = 3, /* there is no segment: nobody is or was paced */
	CTL_INTERRUPTED = 130,
};

struct ctl {
	const struct command *command;
	const char *segment; /* of this name or path alone; NULL = all */
	bool json;
};

struct command {
	const char *name;
	int (*run)(struct ctl *ctl, int argc, char **argv);
	const char *arguments; /* as usage shows them */
	const char *help;      /* a line */
	const char *options;   /* lines of its own options, "" = none */
	bool prints_data;      /* has --json */
};

/*
 * The next of @own options, or -1 behind the last; those that all commands have are dealt with.
 * Ends the program for --help and for a wrong one. @own may be NULL; `val` is the letter.
 */
int ctl_option(struct ctl *ctl, int argc, char **argv, const struct option *own);

/* One line on stderr. Returns CTL_FAILED, for whoever ends with it. */
__attribute__((format(printf, 1, 2))) int ctl_complain(const char *format, ...);

/* There is more on the command line than the command takes. */
int ctl_usage(const struct ctl *ctl);

/* The path of one of our programs: beside this one in the build tree, else where installed. */
void ctl_program(const char *name, char *path, size_t bytes);

int run_blame(struct ctl *ctl, int argc, char **argv);
int run_devices(struct ctl *ctl, int argc, char **argv);
int run_doctor(struct ctl *ctl, int argc, char **argv);
int run_drain(struct ctl *ctl, int argc, char **argv);
int run_export(struct ctl *ctl, int argc, char **argv);
int run_plot(struct ctl *ctl, int argc, char **argv);
int run_reset(struct ctl *ctl, int argc, char **argv);
int run_set(struct ctl *ctl, int argc, char **argv);
int run_status(struct ctl *ctl, int argc, char **argv);
int run_tasks(struct ctl *ctl, int argc, char **argv);
int run_top(struct ctl *ctl, int argc, char **argv);
int run_trace(struct ctl *ctl, int argc, char **argv);

#endif
