/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepacectl set, reset: what running tasks and devices are held to, through words of the
 * segment that they look at once a visit.
 *
 *   set limit=16M drain=2s              everything in the segment
 *   set /media/usb rate=5M max_bytes=4M a device
 *   set 1234 weight=300                 the tasks of a process
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "conf/unit.h"
#include "ctl/view.h"
#include "shm/device.h"
#include "shm/setting.h"

enum what { WHAT_ALL, WHAT_DEVICE, WHAT_PROCESS };

struct target {
	enum what what;
	const char *text;
	struct place place;
	uint32_t pid;
};

/* A setting of the segment, and the key whose rules its value follows. */
struct setting {
	const char *name;
	enum what what;
	const char *variable; /* NULL: plain bytes */
	size_t conf_offset;
	size_t offset; /* from the struct that the target has in the segment */
};

static const struct setting settings[] = {
	{ "limit", WHAT_ALL, "WRITEPACE_LIMIT", offsetof(struct conf, limit_bytes),
	  offsetof(struct wp_settings, limit_bytes) },
	{ "drain", WHAT_ALL, "WRITEPACE_DRAIN", offsetof(struct conf, drain_ns),
	  offsetof(struct wp_settings, drain_ns) },
	{ "rate", WHAT_DEVICE, "WRITEPACE_RATE", offsetof(struct conf, rate_bps),
	  offsetof(struct wp_device_setting, rate_bps) },
	{ "max_bytes", WHAT_DEVICE, NULL, 0,
	  offsetof(struct wp_device_setting, max_bytes) },
	{ "weight", WHAT_PROCESS, "WRITEPACE_WEIGHT", offsetof(struct conf, weight),
	  offsetof(struct wp_note, set_weight) },
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))
#define CHANGES 8

struct change {
	const struct setting *setting;
	uint64_t value; /* 0 = as the program itself has it */
};

/* ---------------------------------------------------------------- values ---- */

static bool is_pid(const char *text, uint32_t *pid)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	*pid = (uint32_t)number;
	return *text >= '0' && *text <= '9' && !*end && number && number <= INT_MAX;
}

static int read_target(struct target *target, const char *text)
{
	int error;

	target->text = text;
	target->what = WHAT_PROCESS;
	if (is_pid(text, &target->pid))
		return CTL_DONE;
	target->what = WHAT_DEVICE;
	error = place_find(text, &target->place);
	return error ? ctl_complain("%s: %s", text, strerror(-error)) : CTL_DONE;
}

static const struct setting *find_setting(const char *word, const struct target *target)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < SETTINGS; i++)
		if (settings[i].what == target->what &&
		    strlen(settings[i].name) == length &&
		    !strncmp(settings[i].name, word, length))
			return &settings[i];
	return NULL;
}

static int read_change(struct change *change, const char *word,
		       const struct target *target)
{
	static const char *const allowed[] = { "limit=, drain=", "rate=, max_bytes=",
					       "weight=" };
	const char *value = strchr(word, '=') + 1;
	char line[WP_CONF_LINE_BYTES];
	struct conf conf;

	change->setting = find_setting(word, target);
	if (!change->setting)
		return ctl_complain("%s: %s has %s", word,
				    target->text ? target->text : "the whole",
				    allowed[target->what]);
	if (!change->setting->variable)
		return unit_parse(unit_bytes, "", value, &change->value) ?
			       CTL_DONE :
			       ctl_complain("%s: not a number of bytes", word);
	conf_defaults(&conf);
	if (!conf_set(&conf, change->setting->variable, value, line))
		return ctl_complain("%s", line);
	memcpy(&change->value, (const char *)&conf + change->setting->conf_offset,
	       sizeof(change->value));
	return CTL_DONE;
}

/* ----------------------------------------------------------------- write ---- */

struct writer {
	const struct sight *sight;
	const struct view_segment *segment;
	const struct target *target;
	const struct change *changes;
	size_t count;
	int fd;
	size_t written; /* places */
};

static bool put(struct writer *writer, size_t base)
{
	for (size_t i = 0; i < writer->count; i++) {
		const struct change *change = &writer->changes[i];
		struct wp_setting setting = setting_of(change->value);

		if (pwrite(writer->fd, &setting, sizeof(setting),
			   (off_t)(base + change->setting->offset)) != sizeof(setting))
			return false;
	}
	writer->written++;
	return true;
}

static bool put_device(struct writer *writer)
{
	struct wp_segment *copy = writer->segment->copy;
	int slot = device_find(copy, writer->target->place.number);

	if (slot < 0)
		slot = device_find(copy, writer->target->place.disk);
	if (slot < 0)
		return true;
	slot = device_real_slot(copy, slot);
	return put(writer, offsetof(struct wp_segment, settings.devices) +
				   (size_t)slot * sizeof(struct wp_device_setting));
}

static bool put_tasks(struct writer *writer)
{
	struct view_task task;

	for (size_t slot = 0; slot < WP_TASKS; slot++) {
		if (!view_living_task(writer->sight, writer->segment, slot, &task) ||
		    task.pid != writer->target->pid || !task.noted)
			continue;
		if (!put(writer, offsetof(struct wp_segment, notes) +
					 slot * sizeof(struct wp_note)))
			return false;
	}
	return true;
}

/* Why looked at again: root writes into what a user may have put in its place. */
static int open_segment(const struct view_segment *segment)
{
	int fd = open(segment->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == segment->uid &&
	    st.st_nlink == 1 && st.st_size >= (off_t)sizeof(struct wp_segment))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

static bool put_segment(struct writer *writer)
{
	bool fits = false;

	writer->fd = open_segment(writer->segment);
	if (writer->fd < 0)
		return false;
	if (writer->target->what == WHAT_ALL)
		fits = put(writer, offsetof(struct wp_segment, settings));
	else if (writer->target->what == WHAT_DEVICE)
		fits = put_device(writer);
	else
		fits = put_tasks(writer);
	close(writer->fd);
	return fits;
}

static int change_all(const struct ctl *ctl, const struct target *target,
		      const struct change *changes, size_t count)
{
	struct writer writer = { .target = target, .changes = changes, .count = count };
	struct sight sight;
	int status = CTL_DONE;

	if (!view_take(&sight, ctl))
		return CTL_NOBODY;
	writer.sight = &sight;
	for (size_t i = 0; i < sight.count; i++) {
		writer.segment = &sight.segments[i];
		if (!put_segment(&writer))
			status = ctl_complain("%s: %m", sight.segments[i].path);
	}
	view_free(&sight);
	if (!status && !writer.written)
		status = ctl_complain("%s: nobody paced %s", target->text,
				      target->what == WHAT_DEVICE ?
					      "has written to it" :
					      "has this pid, or it wrote nothing yet");
	return status;
}

/* -------------------------------------------------------------- commands ---- */

int run_set(struct ctl *ctl, int argc, char **argv)
{
	struct target target = { .what = WHAT_ALL };
	struct change changes[CHANGES];
	size_t count = 0;
	int status = CTL_DONE;

	ctl_option(ctl, argc, argv, NULL);
	if (optind < argc && !strchr(argv[optind], '='))
		status = read_target(&target, argv[optind++]);
	for (; !status && optind < argc && count < CHANGES; optind++) {
		if (!strchr(argv[optind], '='))
			return ctl_usage(ctl);
		status = read_change(&changes[count++], argv[optind], &target);
	}
	if (status)
		return status;
	if (!count || optind < argc)
		return ctl_usage(ctl);
	return change_all(ctl, &target, changes, count);
}

static int reset_one(const struct ctl *ctl, const struct target *target)
{
	struct change changes[CHANGES];
	size_t count = 0;

	for (size_t i = 0; i < SETTINGS; i++)
		if (settings[i].what == target->what)
			changes[count++] = (struct change){ &settings[i], 0 };
	return change_all(ctl, target, changes, count);
}

/* Everything that was ever set, device by device and process by process. */
static int reset_all(const struct ctl *ctl)
{
	struct target target = { .what = WHAT_ALL };
	int status = reset_one(ctl, &target);
	struct sight sight;

	if (status || !view_find(&sight, ctl))
		return status;
	for (size_t i = 0; i < sight.count; i++) {
		const struct wp_segment *copy = sight.segments[i].copy;

		target.what = WHAT_DEVICE;
		for (size_t slot = 0; slot < WP_DEVICES; slot++) {
			if (!copy->settings.devices[slot].rate_bps.value &&
			    !copy->settings.devices[slot].max_bytes.value)
				continue;
			target.text = "device";
			place_of(device_number(&copy->devices[slot]), &target.place);
			reset_one(ctl, &target);
		}
		target.what = WHAT_PROCESS;
		for (size_t slot = 0; slot < WP_TASKS; slot++) {
			struct view_task task;

			if (!copy->notes[slot].set_weight.value ||
			    !view_living_task(&sight, &sight.segments[i], slot, &task))
				continue;
			target.text = "process";
			target.pid = task.pid;
			reset_one(ctl, &target);
		}
	}
	view_free(&sight);
	return CTL_DONE;
}

int run_reset(struct ctl *ctl, int argc, char **argv)
{
	struct target target = { .what = WHAT_ALL };
	int status;

	ctl_option(ctl, argc, argv, NULL);
	if (optind == argc)
		return reset_all(ctl);
	if (argc - optind > 1)
		return ctl_usage(ctl);
	status = read_target(&target, argv[optind]);
	return status ? status : reset_one(ctl, &target);
}
