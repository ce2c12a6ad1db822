/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys of keys.def, read once from an environment into one struct.
 *
 * Concurrency: conf_read() is called before there is a second thread; the struct is then
 * only read. No heap, no stdio, no getenv: the library calls this in its constructor.
 */
#ifndef WP_CONF_CONF_H
#define WP_CONF_CONF_H

#include "base/types.h"
#include "conf/devices.h"

#define WP_CONF_LINE_BYTES 512 /* longest complaint with its end */

#define CONF_AUTO UINT64_MAX

enum conf_helper { CONF_HELPER_AUTO, CONF_HELPER_OFF };
enum conf_front { CONF_FRONT_PRELOAD, CONF_FRONT_ANY, CONF_FRONT_AUTO };

struct conf {
	uint64_t drain_ns;
	uint64_t latency_ns;
	uint64_t headroom_pm;  /* CONF_AUTO, or thousandths */
	uint64_t sync_hold_ns; /* 0 = never */
	uint64_t rate_bps;     /* 0 = no ceiling */
	uint64_t limit_bytes;  /* 0 = auto */
	uint64_t burst_bytes;
	uint64_t background_pm; /* of the limit */
	uint64_t helper;        /* enum conf_helper */
	uint64_t front;         /* enum conf_front */
	uint64_t observer;      /* enum conf_helper */
	uint64_t period_ns;     /* 0 = auto */
	uint64_t weight;        /* 0 = by I/O priority */
	uint64_t task_limit;    /* enum limits_penalty */
	uint64_t stats;
	uint64_t verbose;
	uint64_t disable;
	uint64_t requeue; /* of measurements: flush/flush.h */
	char only[WP_CONF_TEXT_BYTES];
	char skip[WP_CONF_TEXT_BYTES];
	char segment[WP_CONF_TEXT_BYTES];
	struct conf_devices devices;
};

struct conf_key {
	const char *variable; /* WRITEPACE_... */
	const char *standard; /* the default, as a person would write it */
	const char *option;   /* of the wrapper, "" = none */
	const char *letter;
	const char *argument;
	const char *help;
};

extern const struct conf_key conf_keys[];
extern const size_t conf_key_count;

/* Called with one finished line (no newline) for each value that was not taken. */
typedef void conf_complain(const char *line, void *opaque);

/* Fill @conf with every key's default. */
void conf_defaults(struct conf *conf);

/*
 * Read the WRITEPACE_ variables of @environment (NULL-ended, "NAME=value") over what
 * @conf holds. A bad value leaves its key as it was and is complained of; an unknown
 * WRITEPACE_ name too (save WRITEPACE_TOTALS, which --stats sets, and WRITEPACE_BUILD and _LONG of
 * the test suite). An empty value means the default. Returns the number of complaints.
 */
int conf_read(struct conf *conf, char *const *environment, conf_complain *complain,
	      void *opaque);

/*
 * Set one key from its text. Returns false and writes one line that names key, value and
 * what is allowed into @line (WP_CONF_LINE_BYTES) where the value is not taken.
 */
bool conf_set(struct conf *conf, const char *variable, const char *value,
	      char *line) WP_MUST_CHECK;

/* Does @name match one of @globs (* and ?, by commas)? False for an empty list. */
bool conf_glob_list(const char *globs, const char *name);

/* Shall a program of this name be paced, by disable, only and skip? */
bool conf_wants(const struct conf *conf, const char *program_name);

#endif
