/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the forms and limits that the comment of keys.def and design section 11
 * promise, written out here as numbers by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "conf/conf.h"

struct said {
	int count;
	char last[WP_CONF_LINE_BYTES];
};

static void hear(const char *line, void *opaque)
{
	struct said *said = opaque;

	said->count++;
	strncpy(said->last, line, sizeof(said->last) - 1);
}

static struct conf fresh(void)
{
	struct conf conf;

	conf_defaults(&conf);
	return conf;
}

static void takes(const char *variable, const char *value, size_t field,
		  uint64_t expected)
{
	struct conf conf = fresh();
	char line[WP_CONF_LINE_BYTES] = "";
	uint64_t got;

	if (!conf_set(&conf, variable, value, line))
		fail_msg("%s", line);
	memcpy(&got, (const char *)&conf + field, sizeof(got));
	if (got != expected)
		fail_msg("%s=%s gave %llu, not %llu", variable, value,
			 (unsigned long long)got, (unsigned long long)expected);
}

/* Refused, named in the line with @why, and nothing changed. */
static void refuses(const char *variable, const char *value, const char *why)
{
	struct conf before = fresh();
	struct conf conf = before;
	char line[WP_CONF_LINE_BYTES] = "";

	if (conf_set(&conf, variable, value, line))
		fail_msg("%s=%s was taken", variable, value);
	assert_memory_equal(&conf, &before, sizeof(conf));
	if (strncmp(line, variable, strlen(variable)) != 0 || !strstr(line, why))
		fail_msg("complaint without '%s': %s", why, line);
	assert_null(strchr(line, '\n'));
}

static int read_entries(struct conf *conf, const char **environment,
			conf_complain *complain, void *opaque)
{
	return conf_read(conf, (char *const *)environment, complain, opaque);
}

#define FIELD(name) offsetof(struct conf, name)

/* -------------------------------------------------------------- defaults ---- */

static void defaults_are_those_of_the_table(void **state)
{
	struct conf conf = fresh();

	(void)state;
	assert_int_equal(conf.drain_ns, 1000000000);
	assert_int_equal(conf.latency_ns, 50000000);
	assert_int_equal(conf.rate_bps, 0);
	assert_int_equal(conf.limit_bytes, 0);
	assert_int_equal(conf.background_pm, 500);
	assert_int_equal(conf.period_ns, 3000000000);
	assert_int_equal(conf.stats, 0);
	assert_int_equal(conf.verbose, 0);
	assert_int_equal(conf.disable, 0);
	assert_string_equal(conf.only, "");
	assert_string_equal(conf.skip, "");
	assert_string_equal(conf.segment, "");
}

static void every_default_text_reads_as_the_default(void **state)
{
	struct conf expected = fresh();

	(void)state;
	assert_int_equal(conf_key_count, 22);
	for (size_t key = 0; key < conf_key_count; key++) {
		struct conf conf = expected;
		char line[WP_CONF_LINE_BYTES] = "";

		if (!conf_set(&conf, conf_keys[key].variable, conf_keys[key].standard,
			      line))
			fail_msg("%s", line);
		assert_memory_equal(&conf, &expected, sizeof(conf));
	}
}

static void empty_value_is_the_default(void **state)
{
	const char *environment[] = { "WRITEPACE_DRAIN=", "WRITEPACE_RATE=",
				      "WRITEPACE_ONLY=", NULL };
	struct conf expected = fresh();
	struct conf conf = expected;

	(void)state;
	conf.drain_ns = 5;
	conf.rate_bps = 5;
	strcpy(conf.only, "cp");
	assert_int_equal(read_entries(&conf, environment, NULL, NULL), 0);
	assert_memory_equal(&conf.drain_ns, &expected.drain_ns, sizeof(conf.drain_ns));
	assert_int_equal(conf.rate_bps, 0);
	assert_string_equal(conf.only, "");
}

/* --------------------------------------------------------------- numbers ---- */

static void times_have_six_units_and_fractions(void **state)
{
	(void)state;
	takes("WRITEPACE_DRAIN", "20000000ns", FIELD(drain_ns), 20000000);
	takes("WRITEPACE_DRAIN", "20000us", FIELD(drain_ns), 20000000);
	takes("WRITEPACE_DRAIN", "20ms", FIELD(drain_ns), 20000000);
	takes("WRITEPACE_DRAIN", "2s", FIELD(drain_ns), 2000000000);
	takes("WRITEPACE_DRAIN", "3min", FIELD(drain_ns), 180000000000);
	takes("WRITEPACE_DRAIN", "1h", FIELD(drain_ns), 3600000000000);
	takes("WRITEPACE_DRAIN", "1.5s", FIELD(drain_ns), 1500000000);
	takes("WRITEPACE_DRAIN", "0.25min", FIELD(drain_ns), 15000000000);
	takes("WRITEPACE_DRAIN", "0010.000s", FIELD(drain_ns), 10000000000);
	takes("WRITEPACE_LATENCY", "1ms", FIELD(latency_ns), 1000000);
	takes("WRITEPACE_LATENCY", "10s", FIELD(latency_ns), 10000000000);
}

static void a_fraction_finer_than_the_unit_is_cut_off(void **state)
{
	(void)state;
	takes("WRITEPACE_DRAIN", "10000000.9ns", FIELD(drain_ns), 10000000);
	takes("WRITEPACE_DRAIN", "1.99999999999999999999999999999s", FIELD(drain_ns),
	      1999999999);
	takes("WRITEPACE_BACKGROUND", "0.09%", FIELD(background_pm), 0);
}

static void sizes_have_units_of_1024_and_of_1000(void **state)
{
	(void)state;
	takes("WRITEPACE_LIMIT", "auto", FIELD(limit_bytes), 0);
	takes("WRITEPACE_LIMIT", "655360", FIELD(limit_bytes), 655360);
	takes("WRITEPACE_LIMIT", "655360B", FIELD(limit_bytes), 655360);
	takes("WRITEPACE_LIMIT", "640K", FIELD(limit_bytes), 655360);
	takes("WRITEPACE_LIMIT", "640KiB", FIELD(limit_bytes), 655360);
	takes("WRITEPACE_LIMIT", "640k", FIELD(limit_bytes), 655360);
	takes("WRITEPACE_LIMIT", "700KB", FIELD(limit_bytes), 700000);
	takes("WRITEPACE_LIMIT", "2.5M", FIELD(limit_bytes), 2621440);
	takes("WRITEPACE_LIMIT", "2.5MiB", FIELD(limit_bytes), 2621440);
	takes("WRITEPACE_LIMIT", "2.5MB", FIELD(limit_bytes), 2500000);
	takes("WRITEPACE_LIMIT", "3G", FIELD(limit_bytes), 3221225472);
	takes("WRITEPACE_LIMIT", "3GiB", FIELD(limit_bytes), 3221225472);
	takes("WRITEPACE_LIMIT", "3gb", FIELD(limit_bytes), 3000000000);
	takes("WRITEPACE_LIMIT", "1T", FIELD(limit_bytes), 1099511627776);
	takes("WRITEPACE_LIMIT", "1TiB", FIELD(limit_bytes), 1099511627776);
	takes("WRITEPACE_LIMIT", "1TB", FIELD(limit_bytes), 1000000000000);
}

static void rates_are_sizes_that_may_say_per_second(void **state)
{
	(void)state;
	takes("WRITEPACE_RATE", "none", FIELD(rate_bps), 0);
	takes("WRITEPACE_RATE", "0", FIELD(rate_bps), 0);
	takes("WRITEPACE_RATE", "64K", FIELD(rate_bps), 65536);
	takes("WRITEPACE_RATE", "64K/s", FIELD(rate_bps), 65536);
	takes("WRITEPACE_RATE", "1000000/s", FIELD(rate_bps), 1000000);
	takes("WRITEPACE_RATE", "1.5MB/s", FIELD(rate_bps), 1500000);
}

static void shares_are_per_mille(void **state)
{
	(void)state;
	takes("WRITEPACE_BACKGROUND", "0%", FIELD(background_pm), 0);
	takes("WRITEPACE_BACKGROUND", "0.5%", FIELD(background_pm), 5);
	takes("WRITEPACE_BACKGROUND", "12.5%", FIELD(background_pm), 125);
	takes("WRITEPACE_BACKGROUND", "90%", FIELD(background_pm), 900);
}

static void switches_are_0_and_1(void **state)
{
	(void)state;
	takes("WRITEPACE_STATS", "1", FIELD(stats), 1);
	takes("WRITEPACE_STATS", "0", FIELD(stats), 0);
	takes("WRITEPACE_DISABLE", "1", FIELD(disable), 1);
	refuses("WRITEPACE_STATS", "2", "not a switch");
	refuses("WRITEPACE_STATS", "yes", "allowed: 0 or 1");
	refuses("WRITEPACE_DISABLE", "01", "not a switch");
	refuses("WRITEPACE_DISABLE", "0.5", "not a switch");
}

static void a_choice_is_the_place_of_its_word(void **state)
{
	(void)state;
	takes("WRITEPACE_HELPER", "auto", FIELD(helper), 0);
	takes("WRITEPACE_HELPER", "off", FIELD(helper), 1);
	takes("WRITEPACE_OBSERVER", "auto", FIELD(observer), 0);
	takes("WRITEPACE_OBSERVER", "off", FIELD(observer), 1);
	takes("WRITEPACE_TASK_LIMIT", "linear", FIELD(task_limit), 1);
	takes("WRITEPACE_TASK_LIMIT", "off", FIELD(task_limit), 2);
	refuses("WRITEPACE_HELPER", "on", "allowed: auto|off");
	takes("WRITEPACE_FRONT", "any", FIELD(front), CONF_FRONT_ANY);
	takes("WRITEPACE_FRONT", "auto", FIELD(front), CONF_FRONT_AUTO);
	refuses("WRITEPACE_TASK_LIMIT", "sqrt|", "not a choice");
	refuses("WRITEPACE_TASK_LIMIT", "sqr", "not a choice");
}

static void a_weight_is_a_whole_number_or_auto(void **state)
{
	(void)state;
	takes("WRITEPACE_WEIGHT", "auto", FIELD(weight), 0);
	takes("WRITEPACE_WEIGHT", "10000", FIELD(weight), 10000);
	refuses("WRITEPACE_WEIGHT", "0", "out of range");
	refuses("WRITEPACE_WEIGHT", "10001", "out of range");
	refuses("WRITEPACE_WEIGHT", "5K", "not a number");
}

static void a_period_is_a_time_or_auto(void **state)
{
	(void)state;
	takes("WRITEPACE_PERIOD", "auto", FIELD(period_ns), 0);
	takes("WRITEPACE_PERIOD", "100ms", FIELD(period_ns), 100000000);
	takes("WRITEPACE_PERIOD", "8s", FIELD(period_ns), 8000000000);
	takes("WRITEPACE_PERIOD", "1h", FIELD(period_ns), 3600000000000);
	refuses("WRITEPACE_PERIOD", "0s", "out of range");
	refuses("WRITEPACE_PERIOD", "99ms", "out of range");
	refuses("WRITEPACE_PERIOD", "3601s", "out of range");
	refuses("WRITEPACE_PERIOD", "0", "not a time");
	refuses("WRITEPACE_PERIOD", "Auto", "not a time; allowed: auto or a number");
	refuses("WRITEPACE_PERIOD", "auto ", "not a time");
}

static void headroom_is_a_share_or_auto(void **state)
{
	(void)state;
	takes("WRITEPACE_HEADROOM", "auto", FIELD(headroom_pm), CONF_AUTO);
	takes("WRITEPACE_HEADROOM", "0%", FIELD(headroom_pm), 0);
	takes("WRITEPACE_HEADROOM", "2.5%", FIELD(headroom_pm), 25);
	takes("WRITEPACE_HEADROOM", "50%", FIELD(headroom_pm), 500);
	refuses("WRITEPACE_HEADROOM", "51%", "out of range");
	refuses("WRITEPACE_HEADROOM", "10", "not a share");
}

static void a_hold_is_a_time_or_0(void **state)
{
	(void)state;
	takes("WRITEPACE_SYNC_HOLD", "0", FIELD(sync_hold_ns), 0);
	takes("WRITEPACE_SYNC_HOLD", "20ms", FIELD(sync_hold_ns), 20000000);
	refuses("WRITEPACE_SYNC_HOLD", "2s", "out of range");
	refuses("WRITEPACE_SYNC_HOLD", "0s", "out of range");
	refuses("WRITEPACE_SYNC_HOLD", "auto", "not a time; allowed: 0 or a number");
}

/* ---------------------------------------------------------------- devices ---- */

static struct conf_devices devices_of(const char *value)
{
	struct conf conf = fresh();
	char line[WP_CONF_LINE_BYTES] = "";

	if (!conf_set(&conf, "WRITEPACE_DEVICE", value, line))
		fail_msg("%s", line);
	return conf.devices;
}

static void a_device_has_any_of_four_settings(void **state)
{
	struct conf_devices devices = devices_of(
		"/mnt/a:max_bytes=2M;8:16:min_ratio=12.5,max_ratio=50%,bandwidth=10MB/s");

	(void)state;
	assert_int_equal(devices.count, 2);
	assert_string_equal(devices.list[0].what, "/mnt/a");
	assert_int_equal(devices.list[0].max_bytes, 2097152);
	assert_int_equal(devices.list[0].min_ratio_ppm, 0);
	assert_int_equal(devices.list[0].max_ratio_ppm, 1000000);
	assert_int_equal(devices.list[0].bandwidth_bps, 0);
	assert_string_equal(devices.list[1].what, "8:16");
	assert_int_equal(devices.list[1].min_ratio_ppm, 125000);
	assert_int_equal(devices.list[1].max_ratio_ppm, 500000);
	assert_int_equal(devices.list[1].bandwidth_bps, 10000000);
	assert_int_equal(devices.list[1].max_bytes, 0);
	assert_int_equal(devices_of("/a:min_ratio=0.0001").list[0].min_ratio_ppm, 1);
	assert_int_equal(devices_of("").count, 0);
	assert_int_equal(devices_of(";/a:max_bytes=1M;;").count, 1);
}

static void settings_begin_at_the_last_colon_before_a_name(void **state)
{
	(void)state;
	assert_string_equal(devices_of("/a:b:max_bytes=2M").list[0].what, "/a:b");
	assert_string_equal(devices_of("/a:max_byte=1:max_bytes=2M").list[0].what,
			    "/a:max_byte=1");
	assert_string_equal(devices_of("/a:max_bytes=1,x:max_bytes=2M").list[0].what,
			    "/a:max_bytes=1,x");
	assert_string_equal(devices_of("/a,b=c:bandwidth=2M").list[0].what, "/a,b=c");
}

static void what_is_no_list_of_devices_is_refused(void **state)
{
	char value[300] = "/";

	(void)state;
	refuses("WRITEPACE_DEVICE", "/a", "/a: not of the form WHAT:NAME=VALUE");
	refuses("WRITEPACE_DEVICE", "max_bytes=2M", "not of the form");
	refuses("WRITEPACE_DEVICE", ":max_bytes=2M", "not of the form");
	refuses("WRITEPACE_DEVICE", "/a:maxbytes=2M", "not of the form");
	refuses("WRITEPACE_DEVICE", "/a:max_bytes=2M,x=1", "x=1: not of the form");
	refuses("WRITEPACE_DEVICE", "/a:max_bytes", "not of the form");
	refuses("WRITEPACE_DEVICE", "a:max_bytes=2M", "a: neither an absolute path nor");
	refuses("WRITEPACE_DEVICE", "/a:max_bytes=639K", "from 640K to 1T");
	refuses("WRITEPACE_DEVICE", "/a:max_bytes=2M/s", "from 640K to 1T");
	refuses("WRITEPACE_DEVICE", "/a:max_bytes=", "from 640K to 1T");
	refuses("WRITEPACE_DEVICE", "/a:bandwidth=1K", "from 64K to 1T");
	refuses("WRITEPACE_DEVICE", "/a:min_ratio=101", "from 0 to 100%");
	refuses("WRITEPACE_DEVICE", "/a:max_ratio=-1", "from 0 to 100%");
	refuses("WRITEPACE_DEVICE", "/a:min_ratio=6,max_ratio=5", "above max_ratio");
	refuses("WRITEPACE_DEVICE", "/a:min_ratio=50;/b:min_ratio=50", "less than 100%");
	memset(value + 1, 'x', 255);
	strcpy(value + 256, ":max_bytes=2M");
	refuses("WRITEPACE_DEVICE", value, "a path of more than 255 bytes");
	memmove(value + 255, value + 256, 14);
	assert_int_equal(strlen(devices_of(value).list[0].what), 255);
}

static void eight_devices_and_no_ninth(void **state)
{
	(void)state;
	assert_int_equal(devices_of("1:1:max_ratio=1;1:2:max_ratio=1;1:3:max_ratio=1;"
				    "1:4:max_ratio=1;1:5:max_ratio=1;1:6:max_ratio=1;"
				    "1:7:max_ratio=1;1:8:max_ratio=1")
				 .count,
			 8);
	refuses("WRITEPACE_DEVICE",
		"1:1:max_ratio=1;1:2:max_ratio=1;1:3:max_ratio=1;1:4:max_ratio=1;"
		"1:5:max_ratio=1;1:6:max_ratio=1;1:7:max_ratio=1;1:8:max_ratio=1;"
		"1:9:max_ratio=1",
		"1:9:max_ratio=1: the ninth");
}

static void a_complaint_of_a_device_names_its_part(void **state)
{
	struct conf conf = fresh();
	char line[WP_CONF_LINE_BYTES];

	(void)state;
	assert_false(conf_set(&conf, "WRITEPACE_DEVICE", "/a:max_bytes=1", line));
	assert_string_equal(line, "WRITEPACE_DEVICE=/a:max_bytes=1: max_bytes=1: out of "
				  "range or not a number; allowed: from 640K to 1T");
	assert_false(conf_set(&conf, "WRITEPACE_DEVICE", "/a:foo=1", line));
	assert_string_equal(
		line, "WRITEPACE_DEVICE=/a:foo=1: /a:foo=1: not of the form "
		      "WHAT:NAME=VALUE[,NAME=VALUE...][;...]; allowed names: min_ratio "
		      "max_ratio max_bytes bandwidth");
}

static void a_burst_is_a_size(void **state)
{
	(void)state;
	takes("WRITEPACE_BURST", "0", FIELD(burst_bytes), 0);
	takes("WRITEPACE_BURST", "24M", FIELD(burst_bytes), 25165824);
	refuses("WRITEPACE_BURST", "auto", "allowed: a number of bytes, or with K");
	refuses("WRITEPACE_BURST", "2T", "out of range");
}

/* ------------------------------------------------------------ bad values ---- */

static void what_is_no_time_is_refused(void **state)
{
	static const char *const bad[] = { "0x",     "x",     "1",   "1x",  "-1s",
					   "+1s",    " 1s",   "1s ", "1 s", "1S",
					   "1M",     "1e3ms", ".5s", "1.s", "1..5s",
					   "1.5.5s", "1,5s",  "s",   "1ss", "1s/s",
					   "0",      "nan",   "inf", "auto" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses("WRITEPACE_DRAIN", bad[i], "not a time");
}

static void what_is_no_size_rate_or_share_is_refused(void **state)
{
	(void)state;
	refuses("WRITEPACE_LIMIT", "none", "not a size");
	refuses("WRITEPACE_LIMIT", "64M/s", "not a size");
	refuses("WRITEPACE_LIMIT", "64Mi", "not a size");
	refuses("WRITEPACE_LIMIT", "64P", "not a size");
	refuses("WRITEPACE_LIMIT", "-64M", "not a size");
	refuses("WRITEPACE_LIMIT", "Auto", "not a size");
	refuses("WRITEPACE_RATE", "auto", "not a rate");
	refuses("WRITEPACE_RATE", "1M/min", "not a rate");
	refuses("WRITEPACE_RATE", "/s", "not a rate");
	refuses("WRITEPACE_BACKGROUND", "50", "not a share");
	refuses("WRITEPACE_BACKGROUND", "%", "not a share");
}

static void limits_are_included_and_nothing_beyond(void **state)
{
	(void)state;
	takes("WRITEPACE_DRAIN", "10ms", FIELD(drain_ns), 10000000);
	refuses("WRITEPACE_DRAIN", "9.999999ms", "out of range");
	refuses("WRITEPACE_DRAIN", "0s", "out of range");
	refuses("WRITEPACE_DRAIN", "3600.000000001s", "out of range");
	refuses("WRITEPACE_LATENCY", "999999ns", "out of range");
	refuses("WRITEPACE_LATENCY", "10001ms", "out of range");
	takes("WRITEPACE_RATE", "1T", FIELD(rate_bps), 1099511627776);
	refuses("WRITEPACE_RATE", "65535", "out of range");
	refuses("WRITEPACE_RATE", "1099511627777", "out of range");
	refuses("WRITEPACE_LIMIT", "655359", "out of range");
	refuses("WRITEPACE_LIMIT", "0", "out of range");
	refuses("WRITEPACE_BACKGROUND", "90.1%", "out of range");
}

static void numbers_beyond_64_bits_do_not_wrap(void **state)
{
	(void)state;
	refuses("WRITEPACE_DRAIN", "18446744073709551616ns", "out of range");
	refuses("WRITEPACE_DRAIN", "18446744074709551616ns", "out of range");
	refuses("WRITEPACE_DRAIN", "99999999999999999999999999999999h", "out of range");
	refuses("WRITEPACE_DRAIN", "18446744073.709551616s", "out of range");
	refuses("WRITEPACE_LIMIT", "16777216T", "out of range");
	refuses("WRITEPACE_LIMIT", "16777217T", "out of range");
	refuses("WRITEPACE_BACKGROUND", "1844674407370955161.7%", "out of range");
}

static void a_complaint_names_key_value_and_what_is_allowed(void **state)
{
	struct conf conf = fresh();
	char line[WP_CONF_LINE_BYTES];

	(void)state;
	assert_false(conf_set(&conf, "WRITEPACE_DRAIN", "0x", line));
	assert_string_equal(line,
			    "WRITEPACE_DRAIN=0x: not a time; allowed: a number with "
			    "ns, us, ms, s, min or h, from 10ms to 1h (such as 1s)");
	assert_false(conf_set(&conf, "WRITEPACE_LIMIT", "1", line));
	assert_string_equal(line,
			    "WRITEPACE_LIMIT=1: out of range; allowed: auto or a "
			    "number of bytes, or with K, M, G or T, from 640K to 1T "
			    "(such as 64M)");
	assert_false(conf_set(&conf, "WRITEPACE_BACKGROUND", "91%", line));
	assert_string_equal(line, "WRITEPACE_BACKGROUND=91%: out of range; allowed: a "
				  "number with %, from 0% to 90% (such as 50%)");
}

/* What no key of the kind takes. */
#define NO_NUMBERS \
	"x", "-1", "+1s", " 1s", "1s ", "1 s", "1e3s", "0x10", ".5s", "1.s", "1,5s", "a/b"
#define NO_TIMES NO_NUMBERS, "5", "1m", "1d", "1S", "1%", "1sec", "99999999999999999999h"
#define NO_SIZES NO_NUMBERS, "1X", "1KK", "1K/h", "1%", "99999999999999999999T"
#define NO_WORDS "a/b", "2", "-1", "yes", "on", "true", "off|auto", "sqrt|", "00", " 0"

static const struct {
	const char *variable;
	const char *values[32];
} bad[] = {
	{ "WRITEPACE_DRAIN", { NO_TIMES, "0", "auto", "9ms", "3601s" } },
	{ "WRITEPACE_LATENCY", { NO_TIMES, "0", "auto", "999us", "10001ms" } },
	{ "WRITEPACE_HEADROOM", { NO_NUMBERS, "5", "5s", "50.1%", "51%", "none" } },
	{ "WRITEPACE_SYNC_HOLD", { NO_TIMES, "auto", "999us", "1001ms" } },
	{ "WRITEPACE_RATE", { NO_SIZES, "auto", "63K", "1025G/s", "1" } },
	{ "WRITEPACE_LIMIT", { NO_SIZES, "none", "639K", "1025G", "0", "64M/s" } },
	{ "WRITEPACE_BURST", { NO_SIZES, "auto", "none", "1025G" } },
	{ "WRITEPACE_BACKGROUND", { NO_NUMBERS, "auto", "50", "90.1%", "100%" } },
	{ "WRITEPACE_PERIOD", { NO_TIMES, "99ms", "3601s", "none" } },
	{ "WRITEPACE_WEIGHT", { NO_NUMBERS, "0", "10001", "1%", "1s", "1.5", "none" } },
	{ "WRITEPACE_TASK_LIMIT", { NO_WORDS, "root", "SQRT", "0" } },
	{ "WRITEPACE_ONLY", { "a/b", "/", "cp,/bin/dd" } },
	{ "WRITEPACE_SKIP", { "a/b", "/", "cp,/bin/dd" } },
	{ "WRITEPACE_SEGMENT",
	  { "a/b", ".", "..", ".a", "a b", "a\n", "\xc3\xa4", "a*",
	    "123456789012345678901234567890123" } },
	{ "WRITEPACE_DEVICE",
	  { "a/b", "/", "/:", ":max_bytes=2M", "/:max_bytes",
	    "/:max_bytes=", "/:MAX_BYTES=2M", "/:max_bytes=639K", "/:max_bytes=1025G",
	    "/:bandwidth=63K", "/:bandwidth=fast", "/:min_ratio=101", "/:max_ratio=-1",
	    "/:min_ratio=100", "/:min_ratio=50,max_ratio=49", "tmp:max_bytes=2M",
	    "/a:min_ratio=50;/b:min_ratio=50", "/a:min_ratio=99.9;/b:min_ratio=0.1" } },
	{ "WRITEPACE_HELPER", { NO_WORDS, "AUTO", "0" } },
	{ "WRITEPACE_FRONT", { NO_WORDS, "library", "ANY", "0" } },
	{ "WRITEPACE_OBSERVER", { NO_WORDS, "AUTO", "0" } },
	{ "WRITEPACE_STATS", { NO_WORDS } },
	{ "WRITEPACE_VERBOSE", { NO_WORDS } },
	{ "WRITEPACE_DISABLE", { NO_WORDS } },
	{ "WRITEPACE_REQUEUE", { NO_WORDS } },
};

#define BAD (sizeof(bad) / sizeof(bad[0]))

/* It begins with key and value, and says what would do; nothing else has changed. */
static void assert_refused(const char *variable, const char *value)
{
	struct conf before = fresh();
	struct conf conf = fresh();
	char line[WP_CONF_LINE_BYTES];
	char begin[128];

	if (conf_set(&conf, variable, value, line))
		fail_msg("%s=%s is taken", variable, value);
	snprintf(begin, sizeof(begin), "%s=%.20s", variable, value);
	if (value[strcspn(value, "\n")])
		begin[strlen(begin) - 1] = '?';
	if (strncmp(line, begin, strlen(begin)) != 0 || !strstr(line, "allowed"))
		fail_msg("%s=%s: %s", variable, value, line);
	assert_memory_equal(&conf, &before, sizeof(conf));
}

static void every_key_refuses_with_its_name_the_value_and_what_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(BAD, conf_key_count);
	for (size_t key = 0; key < BAD; key++) {
		assert_string_equal(bad[key].variable, conf_keys[key].variable);
		for (size_t i = 0; bad[key].values[i]; i++)
			assert_refused(bad[key].variable, bad[key].values[i]);
	}
}

static void a_long_or_wild_value_stays_one_short_line(void **state)
{
	struct conf conf = fresh();
	char line[WP_CONF_LINE_BYTES];
	char value[2000];

	(void)state;
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	memcpy(value, "1\n\033[2J", 6);
	assert_false(conf_set(&conf, "WRITEPACE_LIMIT", value, line));
	assert_true(strlen(line) < 250);
	assert_non_null(strstr(line, "WRITEPACE_LIMIT=1??[2Jxxx"));
	assert_non_null(strstr(line, "xxx...: not a size"));
}

/* ----------------------------------------------------------------- texts ---- */

static void names_are_short_words_without_a_leading_dot(void **state)
{
	struct conf conf = fresh();
	char line[WP_CONF_LINE_BYTES];

	(void)state;
	assert_true(conf_set(&conf, "WRITEPACE_SEGMENT", "Back-up_2.old", line));
	assert_string_equal(conf.segment, "Back-up_2.old");
	assert_true(conf_set(&conf, "WRITEPACE_SEGMENT",
			     "12345678901234567890123456789012", line));
	refuses("WRITEPACE_SEGMENT", "123456789012345678901234567890123", "at most 32");
	refuses("WRITEPACE_SEGMENT", "..", "not a name");
	refuses("WRITEPACE_SEGMENT", "a/b", "not a name");
	refuses("WRITEPACE_SEGMENT", "a b", "not a name");
	refuses("WRITEPACE_SEGMENT", "\303\244", "not a name");
}

static void program_lists_have_255_bytes_and_no_path(void **state)
{
	struct conf conf = fresh();
	char line[WP_CONF_LINE_BYTES];
	char value[258];

	(void)state;
	memset(value, 'x', sizeof(value));
	value[255] = '\0';
	assert_true(conf_set(&conf, "WRITEPACE_ONLY", value, line));
	assert_string_equal(conf.only, value);
	value[255] = 'x';
	value[256] = '\0';
	refuses("WRITEPACE_ONLY", value, "at most 255 bytes");
	refuses("WRITEPACE_SKIP", "/usr/bin/cp", "not a list of programs");
}

/* ----------------------------------------------------------- environment ---- */

static void only_our_variables_are_read(void **state)
{
	const char *environment[] = { "PATH=/bin",
				      "DRAIN=2s",
				      "XWRITEPACE_DRAIN=2s",
				      "writepace_drain=2s",
				      "WRITEPACE=2s",
				      "WRITEPACE_TOTALS=/dev/shm/x",
				      "WRITEPACE_BUILD=/tmp",
				      "",
				      "=",
				      NULL };
	struct conf expected = fresh();
	struct conf conf = expected;
	struct said said = { 0 };

	(void)state;
	assert_int_equal(read_entries(&conf, environment, hear, &said), 0);
	assert_int_equal(said.count, 0);
	assert_memory_equal(&conf, &expected, sizeof(conf));
}

static void unknown_name_is_complained_of_and_the_rest_is_read(void **state)
{
	const char *environment[] = { "WRITEPACE_DRIAN=2s",  "WRITEPACE_LATENCY=20ms",
				      "WRITEPACE_DRAINS=2s", "WRITEPACE_",
				      "WRITEPACE_DRAI=2s",   NULL };
	struct conf conf = fresh();
	struct said said = { 0 };

	(void)state;
	assert_int_equal(read_entries(&conf, environment, hear, &said), 4);
	assert_int_equal(said.count, 4);
	assert_non_null(strstr(said.last, "WRITEPACE_DRAI=2s: no such setting"));
	assert_non_null(strstr(said.last, " WRITEPACE_DRAIN "));
	assert_int_equal(conf.latency_ns, 20000000);
	assert_int_equal(conf.drain_ns, 1000000000);
}

static void a_bad_value_leaves_its_key_alone(void **state)
{
	const char *environment[] = { "WRITEPACE_DRAIN=fast", "WRITEPACE_RATE=1M", NULL };
	struct conf conf = fresh();
	struct said said = { 0 };

	(void)state;
	conf.drain_ns = 77;
	assert_int_equal(read_entries(&conf, environment, hear, &said), 1);
	assert_int_equal(conf.drain_ns, 77);
	assert_int_equal(conf.rate_bps, 1048576);
	assert_non_null(strstr(said.last, "WRITEPACE_DRAIN=fast: not a time"));
}

static void complaints_may_go_nowhere(void **state)
{
	const char *environment[] = { "WRITEPACE_DRAIN=fast", "WRITEPACE_NO=1", NULL };
	struct conf conf = fresh();

	(void)state;
	assert_int_equal(read_entries(&conf, environment, NULL, NULL), 2);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Best of many, so that a busy machine does not decide. */
static void an_environment_without_settings_costs_less_than_10_us(void **state)
{
	const char *environment[101];
	uint64_t best_ns = UINT64_MAX;
	struct conf conf;

	(void)state;
	for (int i = 0; i < 100; i++)
		environment[i] = "SOME_VARIABLE=with a value of a usual length";
	environment[100] = NULL;
	for (int i = 0; i < 200; i++) {
		uint64_t start_ns = now_ns();
		uint64_t spent_ns;

		conf_defaults(&conf);
		assert_int_equal(read_entries(&conf, environment, NULL, NULL), 0);
		spent_ns = now_ns() - start_ns;
		best_ns = spent_ns < best_ns ? spent_ns : best_ns;
	}
	assert_in_range(best_ns, 0, 10000);
}

/* ----------------------------------------------------------------- globs ---- */

static void globs_match_whole_names(void **state)
{
	(void)state;
	assert_false(conf_glob_list("", "cp"));
	assert_false(conf_glob_list("", ""));
	assert_true(conf_glob_list("cp", "cp"));
	assert_false(conf_glob_list("cp", "cpio"));
	assert_false(conf_glob_list("cp", "scp"));
	assert_false(conf_glob_list("cp", "CP"));
	assert_true(conf_glob_list("*", ""));
	assert_true(conf_glob_list("c?", "cp"));
	assert_false(conf_glob_list("c?", "c"));
	assert_true(conf_glob_list("cp*", "cp"));
	assert_true(conf_glob_list("*dump", "pg_dump"));
	assert_true(conf_glob_list("python3.*", "python3.11"));
	assert_true(conf_glob_list("*a*b*", "xxaxxbxab"));
	assert_false(conf_glob_list("*a*b", "xxaxxbxa"));
	assert_true(conf_glob_list("a*?c", "abbc"));
	assert_false(conf_glob_list("[c]p", "cp"));
}

static void glob_lists_are_separated_by_commas(void **state)
{
	(void)state;
	assert_true(conf_glob_list("cp,tar", "cp"));
	assert_true(conf_glob_list("cp,tar", "tar"));
	assert_false(conf_glob_list("cp,tar", "cp,tar"));
	assert_true(conf_glob_list(",,tar,", "tar"));
	assert_false(conf_glob_list(",,tar,", ""));
	assert_true(conf_glob_list("cp,*,x", "anything"));
}

static void wants_by_disable_skip_and_only(void **state)
{
	struct conf conf = fresh();

	(void)state;
	assert_true(conf_wants(&conf, "cp"));
	strcpy(conf.skip, "c*");
	assert_false(conf_wants(&conf, "cp"));
	assert_true(conf_wants(&conf, "tar"));
	strcpy(conf.only, "cp,tar");
	assert_false(conf_wants(&conf, "cp"));
	assert_true(conf_wants(&conf, "tar"));
	assert_false(conf_wants(&conf, "dd"));
	conf.disable = 1;
	assert_false(conf_wants(&conf, "tar"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_table),
		cmocka_unit_test(every_default_text_reads_as_the_default),
		cmocka_unit_test(empty_value_is_the_default),
		cmocka_unit_test(times_have_six_units_and_fractions),
		cmocka_unit_test(a_fraction_finer_than_the_unit_is_cut_off),
		cmocka_unit_test(sizes_have_units_of_1024_and_of_1000),
		cmocka_unit_test(rates_are_sizes_that_may_say_per_second),
		cmocka_unit_test(shares_are_per_mille),
		cmocka_unit_test(switches_are_0_and_1),
		cmocka_unit_test(a_choice_is_the_place_of_its_word),
		cmocka_unit_test(a_weight_is_a_whole_number_or_auto),
		cmocka_unit_test(a_period_is_a_time_or_auto),
		cmocka_unit_test(headroom_is_a_share_or_auto),
		cmocka_unit_test(a_hold_is_a_time_or_0),
		cmocka_unit_test(a_device_has_any_of_four_settings),
		cmocka_unit_test(settings_begin_at_the_last_colon_before_a_name),
		cmocka_unit_test(what_is_no_list_of_devices_is_refused),
		cmocka_unit_test(eight_devices_and_no_ninth),
		cmocka_unit_test(a_complaint_of_a_device_names_its_part),
		cmocka_unit_test(a_burst_is_a_size),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(what_is_no_size_rate_or_share_is_refused),
		cmocka_unit_test(limits_are_included_and_nothing_beyond),
		cmocka_unit_test(numbers_beyond_64_bits_do_not_wrap),
		cmocka_unit_test(a_complaint_names_key_value_and_what_is_allowed),
		cmocka_unit_test(
			every_key_refuses_with_its_name_the_value_and_what_is_allowed),
		cmocka_unit_test(a_long_or_wild_value_stays_one_short_line),
		cmocka_unit_test(names_are_short_words_without_a_leading_dot),
		cmocka_unit_test(program_lists_have_255_bytes_and_no_path),
		cmocka_unit_test(only_our_variables_are_read),
		cmocka_unit_test(unknown_name_is_complained_of_and_the_rest_is_read),
		cmocka_unit_test(a_bad_value_leaves_its_key_alone),
		cmocka_unit_test(complaints_may_go_nowhere),
		cmocka_unit_test(an_environment_without_settings_costs_less_than_10_us),
		cmocka_unit_test(globs_match_whole_names),
		cmocka_unit_test(glob_lists_are_separated_by_commas),
		cmocka_unit_test(wants_by_disable_skip_and_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
