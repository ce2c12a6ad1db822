/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "conf/devices.h"

#include <string.h>

#include "base/foreign.h"
#include "conf/unit.h"

#define VALUE_BYTES 64   /* longest value with its end */
#define SHOWN_LONGEST 32 /* bytes of a refused part that a complaint repeats */
#define ALL_PPM UINT64_C(1000000)

static const struct unit unit_ratios[] = {
	{ "", ALL_PPM / 100 },
	{ "%", ALL_PPM / 100 },
	{ NULL, 0 },
};

static const struct setting {
	const char *name;
	size_t offset;
	const struct unit *units;
	const char *suffix;
	uint64_t minimum;
	uint64_t maximum;
} settings[] = {
	{ "min_ratio", offsetof(struct conf_device, min_ratio_ppm), unit_ratios, "", 0,
	  ALL_PPM },
	{ "max_ratio", offsetof(struct conf_device, max_ratio_ppm), unit_ratios, "", 0,
	  ALL_PPM },
	{ "max_bytes", offsetof(struct conf_device, max_bytes), unit_bytes, "",
	  WP_KIB(640), WP_GIB(1024) },
	{ "bandwidth", offsetof(struct conf_device, bandwidth_bps), unit_bytes, "/s",
	  WP_KIB(64), WP_GIB(1024) },
};

/* Part of the text: from @at up to @end. */
struct part {
	const char *at;
	const char *end;
};

/* Up to the next @separator; the rest begins behind it. */
static struct part take_part(struct part *rest, char separator)
{
	size_t length = (size_t)(rest->end - rest->at);
	const char *found = memchr(rest->at, separator, length);
	struct part part = { rest->at, found ? found : rest->end };

	rest->at = found ? found + 1 : rest->end;
	return part;
}

static bool copy(char *buffer, size_t buffer_bytes, struct part part)
{
	size_t length = (size_t)(part.end - part.at);

	if (length >= buffer_bytes)
		return false;
	memcpy(buffer, part.at, length);
	buffer[length] = '\0';
	return true;
}

/* The setting whose name and '=' stand at the beginning of @part; NULL = none. */
static const struct setting *find_setting(struct part part)
{
	size_t length = (size_t)(part.end - part.at);

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		size_t name = strlen(settings[i].name);

		if (length > name && part.at[name] == '=' &&
		    !memcmp(part.at, settings[i].name, name))
			return &settings[i];
	}
	return NULL;
}

/* -------------------------------------------------------------- complaints -- */

static bool refuse(struct text *why, struct part part, const char *reason)
{
	char shown[SHOWN_LONGEST + 2];
	struct part head = part;

	if (head.end > head.at + SHOWN_LONGEST + 1)
		head.end = head.at + SHOWN_LONGEST + 1;
	if (copy(shown, sizeof(shown), head))
		text_add_foreign(why, shown, SHOWN_LONGEST);
	text_add(why, reason);
	return false;
}

static bool refuse_form(struct text *why, struct part part)
{
	refuse(why, part,
	       ": not of the form WHAT:NAME=VALUE[,NAME=VALUE...][;...]; "
	       "allowed names: ");
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		text_add(why, i ? " " : "");
		text_add(why, settings[i].name);
	}
	return false;
}

static bool refuse_value(struct text *why, struct part part,
			 const struct setting *setting)
{
	refuse(why, part, ": out of range or not a number; allowed: from ");
	unit_put(why, setting->units, setting->minimum);
	text_add(why, " to ");
	unit_put(why, setting->units, setting->maximum);
	return false;
}

/* ----------------------------------------------------------------- reading -- */

static bool take_setting(struct conf_device *device, struct part part, struct text *why)
{
	const struct setting *setting = find_setting(part);
	char value[VALUE_BYTES];
	uint64_t number;

	if (!setting)
		return refuse_form(why, part);
	if (!copy(value, sizeof(value),
		  (struct part){ part.at + strlen(setting->name) + 1, part.end }) ||
	    !unit_parse(setting->units, setting->suffix, value, &number) ||
	    number < setting->minimum || number > setting->maximum)
		return refuse_value(why, part, setting);
	memcpy((char *)device + setting->offset, &number, sizeof(number));
	return true;
}

/* Where the settings begin: behind the last ':' before a known name. NULL = nowhere. */
static const char *find_settings(struct part entry)
{
	const char *found = NULL;

	for (const char *at = entry.at; at < entry.end; at++) {
		if (*at == ':' && find_setting((struct part){ at + 1, entry.end }))
			found = at + 1;
	}
	return found;
}

static bool is_numbers(const char *what)
{
	return what[strspn(what, "0123456789:")] == '\0';
}

static bool take_entry(struct conf_device *device, struct part entry, struct text *why)
{
	const char *begin = find_settings(entry);
	struct part what = { entry.at, begin ? begin - 1 : entry.at };
	struct part rest = { begin, entry.end };

	if (what.at == what.end)
		return refuse_form(why, entry);
	if (!copy(device->what, sizeof(device->what), what))
		return refuse(why, what,
			      "...: a path of more than 255 bytes; allowed are 255");
	/* Why: each program of a command may begin in another folder. */
	if (*device->what != '/' && !is_numbers(device->what))
		return refuse(why, what,
			      ": neither an absolute path nor MAJOR:MINOR; "
			      "these are allowed");
	device->max_ratio_ppm = ALL_PPM;
	while (rest.at < rest.end) {
		if (!take_setting(device, take_part(&rest, ','), why))
			return false;
	}
	if (device->min_ratio_ppm > device->max_ratio_ppm)
		return refuse(why, entry,
			      ": min_ratio is above max_ratio; allowed: at most that");
	return true;
}

bool devices_parse(struct conf_devices *devices, const char *value, struct text *why)
{
	struct part all = { value, value + strlen(value) };
	struct part rest = all;
	uint64_t promised_ppm = 0;

	memset(devices, 0, sizeof(*devices));
	while (rest.at < rest.end) {
		struct part entry = take_part(&rest, ';');
		struct conf_device *device = &devices->list[devices->count];

		if (entry.at == entry.end)
			continue;
		if (devices->count == WP_CONF_DEVICES)
			return refuse(why, entry, ": the ninth; allowed are 8 devices");
		if (!take_entry(device, entry, why))
			return false;
		devices->count++;
		promised_ppm += device->min_ratio_ppm;
	}
	if (promised_ppm >= ALL_PPM)
		return refuse(why, (struct part){ all.at, all.at },
			      "min_ratio of all together; allowed: less than 100%");
	return true;
}
