/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "conf/conf.h"

#include <string.h>

#include "base/foreign.h"
#include "conf/unit.h"

#define PREFIX "WRITEPACE_"
#define NAME_LONGEST 32
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define SHOWN_LONGEST 64 /* bytes of a refused value that a complaint repeats */

/* ---------------------------------------------------------------- tables ---- */

/* Ours, but no settings: of `writepace --stats` and of the test suite. */
static const char *const no_settings[] = { "WRITEPACE_TOTALS", "WRITEPACE_BUILD",
					   "WRITEPACE_LONG" };

enum type {
	DURATION,
	AUTO_DURATION,
	HOLD,
	BYTES,
	SIZE,
	RATE,
	COUNT,
	PERCENT,
	AUTO_PERCENT,
	SWITCH,
	CHOICE,
	NAME,
	GLOBS,
	DEVICES
};

struct kind {
	const char *what;
	const char *allowed;
	const char *sample; /* NULL = the key's default */
	const char *word;   /* stands for .value, whatever the range; NULL = none */
	uint64_t value;
	const struct unit *units; /* NULL = not a number */
};

static const struct kind kinds[] = {
	[DURATION] = {
		.what = "a time",
		.allowed = "a number with ns, us, ms, s, min or h",
		.units = unit_durations,
	},
	[AUTO_DURATION] = {
		.what = "a time",
		.allowed = "auto or a number with ns, us, ms, s, min or h",
		.word = "auto",
		.units = unit_durations,
	},
	[HOLD] = {
		.what = "a time",
		.allowed = "0 or a number with ns, us, ms, s, min or h",
		.word = "0",
		.units = unit_durations,
	},
	[BYTES] = {
		.what = "a size",
		.allowed = "auto or a number of bytes, or with K, M, G or T",
		.sample = "64M",
		.word = "auto",
		.units = unit_bytes,
	},
	[SIZE] = {
		.what = "a size",
		.allowed = "a number of bytes, or with K, M, G or T",
		.sample = "64M",
		.units = unit_bytes,
	},
	[RATE] = {
		.what = "a rate",
		.allowed = "none or a number of bytes per second, or with K, M, G or T",
		.sample = "10M",
		.word = "none",
		.units = unit_bytes,
	},
	[COUNT] = {
		.what = "a number",
		.allowed = "auto or a whole number",
		.sample = "50",
		.word = "auto",
		.units = unit_none,
	},
	[PERCENT] = {
		.what = "a share",
		.allowed = "a number with %",
		.units = unit_percents,
	},
	[AUTO_PERCENT] = {
		.what = "a share",
		.allowed = "auto or a number with %",
		.sample = "10%",
		.word = "auto",
		.value = CONF_AUTO,
		.units = unit_percents,
	},
	[SWITCH] = { .what = "a switch", .allowed = "0 or 1" },
	[CHOICE] = { .what = "a choice" }, /* allowed: the key's argument */
	[NAME] = {
		.what = "a name",
		.allowed = "at most 32 letters, digits, '.', '_' and '-', no dot first",
	},
	[GLOBS] = {
		.what = "a list of programs",
		.allowed = "names (no /) with * and ?, by commas, at most 255 bytes",
	},
	[DEVICES] = { .what = "a list of devices" }, /* conf/devices.c has its own words */
};

/* What the parser knows of a key; the same order as conf_keys. */
struct rule {
	size_t offset;
	enum type type;
	uint64_t minimum;
	uint64_t maximum;
};

static const struct rule rules[] = {
#define KEY(field, variable, type, minimum, maximum, ...) \
	{ offsetof(struct conf, field), type, minimum, maximum },
#include "conf/keys.def"
#undef KEY
};

const struct conf_key conf_keys[] = {
#define KEY(field, variable, type, minimum, maximum, ...) { variable, __VA_ARGS__ },
#include "conf/keys.def"
#undef KEY
};

const size_t conf_key_count = sizeof(conf_keys) / sizeof(conf_keys[0]);

/* ----------------------------------------------------------------- texts ---- */

/* For file names; also the reason for the dot. */
static bool is_name(const char *text)
{
	size_t length = strlen(text);

	if (*text == '.' || length > NAME_LONGEST)
		return false;
	for (; *text; text++)
		if (!strchr(NAME_BYTES, *text))
			return false;
	return true;
}

/* Why no slash: a program is known by its name; a path would never match, in silence. */
static bool is_glob_list(const char *text)
{
	return strlen(text) < WP_CONF_TEXT_BYTES && !strchr(text, '/');
}

/* ------------------------------------------------------------ complaints ---- */

static void put_allowed(struct text *text, size_t key)
{
	const struct rule *rule = &rules[key];
	const struct kind *kind = &kinds[rule->type];

	text_add(text, "; allowed: ");
	text_add(text, kind->allowed ? kind->allowed : conf_keys[key].argument);
	if (!kind->units)
		return;
	text_add(text, ", from ");
	unit_put(text, kind->units, rule->minimum);
	text_add(text, " to ");
	unit_put(text, kind->units, rule->maximum);
	text_add(text, " (such as ");
	text_add(text, kind->sample ? kind->sample : conf_keys[key].standard);
	text_add(text, ")");
}

/* WRITEPACE_DRAIN=0x: not a time; allowed: ... */
static void put_refusal(char *line, size_t key, const char *value, bool out_of_range)
{
	struct text text = text_on(line, WP_CONF_LINE_BYTES);

	text_add(&text, conf_keys[key].variable);
	text_add_char(&text, '=');
	text_add_foreign(&text, value, SHOWN_LONGEST);
	text_add(&text, out_of_range ? ": out of range" : ": not ");
	if (!out_of_range)
		text_add(&text, kinds[rules[key].type].what);
	put_allowed(&text, key);
}

static void put_unknown(char *line, const char *variable)
{
	struct text text = text_on(line, WP_CONF_LINE_BYTES);

	text_add_foreign(&text, variable, SHOWN_LONGEST);
	text_add(&text, ": no such setting; allowed:");
	for (size_t key = 0; key < conf_key_count; key++) {
		text_add_char(&text, ' ');
		text_add(&text, conf_keys[key].variable);
	}
}

/* ------------------------------------------------------------------ keys ---- */

/* Put a number into @key's field. */
static bool set_number(struct conf *conf, size_t key, const char *value,
		       bool *out_of_range)
{
	const struct rule *rule = &rules[key];
	const struct kind *kind = &kinds[rule->type];
	const char *suffix = rule->type == RATE ? "/s" : "";
	bool unbounded = kind->word && !strcmp(value, kind->word);
	uint64_t number = kind->value;

	if (!unbounded && !unit_parse(kind->units, suffix, value, &number))
		return false;
	if (rule->type == RATE && !number)
		unbounded = true;
	*out_of_range = !unbounded && (number < rule->minimum || number > rule->maximum);
	if (*out_of_range)
		return false;
	memcpy((char *)conf + rule->offset, &number, sizeof(number));
	return true;
}

/* A switch is a choice too: the number is the place of the word in the key's argument. */
static bool set_choice(struct conf *conf, size_t key, const char *value)
{
	const char *word = conf_keys[key].argument;
	size_t length = strlen(value);

	for (uint64_t number = 0; *word; number++) {
		size_t word_length = strcspn(word, "|");

		if (word_length == length && !memcmp(word, value, length)) {
			memcpy((char *)conf + rules[key].offset, &number, sizeof(number));
			return true;
		}
		word += word_length;
		word += *word == '|';
	}
	return false;
}

static bool set_text(struct conf *conf, size_t key, const char *value)
{
	bool taken = rules[key].type == NAME ? is_name(value) : is_glob_list(value);

	if (taken)
		memcpy((char *)conf + rules[key].offset, value, strlen(value) + 1);
	return taken;
}

static bool set_devices(struct conf *conf, size_t key, const char *value, char *line)
{
	struct conf_devices devices;
	struct text text = text_on(line, WP_CONF_LINE_BYTES);

	text_add(&text, conf_keys[key].variable);
	text_add_char(&text, '=');
	text_add_foreign(&text, value, SHOWN_LONGEST);
	text_add(&text, ": ");
	if (!devices_parse(&devices, value, &text))
		return false;
	memcpy((char *)conf + rules[key].offset, &devices, sizeof(devices));
	return true;
}

static bool set_key(struct conf *conf, size_t key, const char *value, char *line)
{
	bool out_of_range = false;
	bool taken;

	if (!*value)
		value = conf_keys[key].standard;
	if (rules[key].type == DEVICES)
		return set_devices(conf, key, value, line);
	if (kinds[rules[key].type].units)
		taken = set_number(conf, key, value, &out_of_range);
	else if (rules[key].type == SWITCH || rules[key].type == CHOICE)
		taken = set_choice(conf, key, value);
	else
		taken = set_text(conf, key, value);
	if (!taken)
		put_refusal(line, key, value, out_of_range);
	return taken;
}

/* The index of the key whose variable is the first @length bytes of @name. */
static size_t find_key(const char *name, size_t length)
{
	size_t key = 0;

	while (key < conf_key_count &&
	       (strlen(conf_keys[key].variable) != length ||
		memcmp(conf_keys[key].variable, name, length) != 0))
		key++;
	return key;
}

bool conf_set(struct conf *conf, const char *variable, const char *value, char *line)
{
	size_t key = find_key(variable, strlen(variable));

	if (key < conf_key_count)
		return set_key(conf, key, value, line);
	put_unknown(line, variable);
	return false;
}

void conf_defaults(struct conf *conf)
{
	char line[WP_CONF_LINE_BYTES];

	memset(conf, 0, sizeof(*conf));
	for (size_t key = 0; key < conf_key_count; key++)
		(void)set_key(conf, key, "", line);
}

/* ----------------------------------------------------------- environment ---- */

static bool is_no_setting(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(no_settings) / sizeof(no_settings[0]); i++)
		if (strlen(no_settings[i]) == length &&
		    !memcmp(no_settings[i], name, length))
			return true;
	return false;
}

/* One "WRITEPACE_NAME=value". False with a complaint in @line. */
static bool read_entry(struct conf *conf, const char *entry, char *line)
{
	const char *equals = strchr(entry, '=');
	size_t length = equals ? (size_t)(equals - entry) : strlen(entry);
	size_t key = find_key(entry, length);

	if (key < conf_key_count)
		return set_key(conf, key, equals ? equals + 1 : "", line);
	if (is_no_setting(entry, length))
		return true;
	put_unknown(line, entry);
	return false;
}

int conf_read(struct conf *conf, char *const *environment, conf_complain *complain,
	      void *opaque)
{
	char line[WP_CONF_LINE_BYTES];
	int complaints = 0;

	for (; *environment; environment++) {
		if (strncmp(*environment, PREFIX, strlen(PREFIX)) != 0 ||
		    read_entry(conf, *environment, line))
			continue;
		complaints++;
		if (complain)
			complain(line, opaque);
	}
	return complaints;
}
