/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parser of the keys. Input: a byte that chooses the key, then the value; a second value, if
 * there is a zero byte, is a program's name. Oracle: what is taken is within the key's range and
 * is taken again the same; what is refused leaves the struct alone and gives one short line with
 * the key and what is allowed.
 */
#include "fuzz.h"

#include "conf/conf.h"

#define VALUE_BYTES 2000

static const struct {
	size_t offset;
	uint64_t minimum;
	uint64_t maximum;
} rules[] = {
#define KEY(field, variable, type, minimum, maximum, ...) \
	{ offsetof(struct conf, field), minimum, maximum },
#include "conf/keys.def"
#undef KEY
};

static void check_range(const struct conf *conf, size_t key)
{
	uint64_t number;

	if (!rules[key].maximum)
		return;
	memcpy(&number, (const char *)conf + rules[key].offset, sizeof(number));
	/* the words: auto, none, 0 */
	must(!number || number == CONF_AUTO ||
	     (number >= rules[key].minimum && number <= rules[key].maximum));
}

static void check_devices(const struct conf_devices *devices)
{
	uint64_t promised_ppm = 0;

	must(devices->count <= WP_CONF_DEVICES);
	for (uint64_t i = 0; i < devices->count; i++) {
		const struct conf_device *device = &devices->list[i];

		must(memchr(device->what, 0, sizeof(device->what)));
		must(*device->what);
		must(device->min_ratio_ppm <= device->max_ratio_ppm);
		must(device->max_ratio_ppm <= 1000000);
		promised_ppm += device->min_ratio_ppm;
	}
	must(promised_ppm < 1000000);
}

static void check_complaint(const char *line, size_t key)
{
	size_t length = strnlen(line, WP_CONF_LINE_BYTES);

	must(length && length < WP_CONF_LINE_BYTES);
	must(!strncmp(line, conf_keys[key].variable, strlen(conf_keys[key].variable)));
	for (size_t i = 0; i < length; i++)
		must((unsigned char)line[i] >= ' ' && line[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static char value[VALUE_BYTES + 1];
	char line[WP_CONF_LINE_BYTES] = "";
	struct conf before;
	struct conf again;
	struct conf conf;
	size_t key;
	size_t at;

	if (bytes < 1 || bytes > VALUE_BYTES)
		return 0;
	key = data[0] % conf_key_count;
	memcpy(value, data + 1, bytes - 1);
	value[bytes - 1] = '\0';
	conf_defaults(&conf);
	before = conf;
	if (!conf_set(&conf, conf_keys[key].variable, value, line)) {
		must(!memcmp(&conf, &before, sizeof(conf)));
		check_complaint(line, key);
		return 0;
	}
	check_range(&conf, key);
	check_devices(&conf.devices);
	must(memchr(conf.only, 0, sizeof(conf.only)));
	must(memchr(conf.skip, 0, sizeof(conf.skip)));
	must(memchr(conf.segment, 0, sizeof(conf.segment)) && !strchr(conf.segment, '/'));
	conf_defaults(&again);
	must(conf_set(&again, conf_keys[key].variable, value, line));
	must(!memcmp(&conf, &again, sizeof(conf)));
	at = strlen(value) + 2;
	conf_wants(&conf, at < bytes ? (const char *)value + at - 1 : "program");
	return 0;
}
