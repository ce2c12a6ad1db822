/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/view.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/order.h"
#include "base/stamp.h"
#include "core/fprop.h"
#include "helper/read.h"
#include "host/kernel.h"
#include "shm/device.h"
#include "shm/note.h"
#include "shm/orphan.h"
#include "shm/segment.h"
#include "shm/setting.h"
#include "shm/sync.h"

#define MEASURED_NS WP_SEC(1)
#define OTHERS_NS WP_SEC(3)
#define SILENT_NS WP_SEC(35)

/* -------------------------------------------------------------- segments ---- */

static bool read_whole(int fd, struct wp_segment *copy)
{
	size_t done = 0;

	while (done < sizeof(*copy)) {
		ssize_t got =
			pread(fd, (char *)copy + done, sizeof(*copy) - done, (off_t)done);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return copy->header.magic == WP_LAYOUT_MAGIC &&
	       copy->header.version == WP_LAYOUT_VERSION &&
	       copy->header.segment_bytes == sizeof(*copy);
}

/* Times of another boot mean nothing. */
static bool is_of_this_boot(const struct wp_segment *copy)
{
	char text[sizeof(copy->header.boot_id)];

	return !read_text(text, sizeof(text), "/proc/sys/kernel/random/boot_id") ||
	       !memcmp(text, copy->header.boot_id, strlen(text));
}

static struct wp_segment *read_segment(const char *path, uid_t *uid)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct wp_segment *copy = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof(*copy))
		copy = malloc(sizeof(*copy));
	if (copy && (!read_whole(fd, copy) || !is_of_this_boot(copy))) {
		free(copy);
		copy = NULL;
	}
	close(fd);
	*uid = st.st_uid;
	return copy;
}

/* The name behind "segment."; false for what is no segment, or half made. */
static bool name_of(const char *path, const char **name)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	if (strncmp(base, "segment", 7) != 0 || strstr(base, ".new."))
		return false;
	base += 7;
	*name = *base == '.' ? base + 1 : base;
	return !*base || *base == '.';
}

static void add_segment(struct sight *sight, const char *path, const char *name)
{
	struct view_segment *segment = &sight->segments[sight->count];
	const struct passwd *user;
	struct text text;

	if (sight->count == VIEW_SEGMENTS || strlen(path) >= sizeof(segment->path))
		return;
	segment->copy = read_segment(path, &segment->uid);
	if (!segment->copy)
		return;
	strcpy(segment->path, path);
	text = text_on(segment->name, sizeof(segment->name));
	text_add_foreign(&text, name, VIEW_NAME_BYTES - 5);
	user = getpwuid(segment->uid);
	if (user)
		snprintf(segment->user, sizeof(segment->user), "%s", user->pw_name);
	else
		snprintf(segment->user, sizeof(segment->user), "%u", segment->uid);
	sight->count++;
}

static void add_matching(struct sight *sight, const struct ctl *ctl, const char *pattern)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name;

		if (name_of(found.gl_pathv[i], &name) &&
		    (!ctl->segment || !strcmp(ctl->segment, name)))
			add_segment(sight, found.gl_pathv[i], name);
	}
	globfree(&found);
}

static void add_of_user(struct sight *sight, const struct ctl *ctl, const char *folder)
{
	char pattern[64];

	if (geteuid())
		snprintf(pattern, sizeof(pattern), "%s%u/segment*", folder, geteuid());
	else
		snprintf(pattern, sizeof(pattern), "%s*/segment*", folder);
	add_matching(sight, ctl, pattern);
}

bool view_find(struct sight *sight, const struct ctl *ctl)
{
	memset(sight, 0, sizeof(*sight));
	if (ctl->segment && strchr(ctl->segment, '/')) {
		const char *name = ctl->segment;

		name_of(ctl->segment, &name);
		add_segment(sight, ctl->segment, name);
	} else {
		add_of_user(sight, ctl, "/run/user/");
		add_of_user(sight, ctl, "/dev/shm/writepace-");
	}
	sight->now_ns = kernel_now_ns();
	return sight->count > 0;
}

bool view_take(struct sight *sight, const struct ctl *ctl)
{
	if (view_find(sight, ctl))
		return true;
	ctl_complain(ctl->segment ? "no segment %s; nobody is paced there" :
				    "%sno segment; nobody is paced",
		     ctl->segment ? ctl->segment : "");
	return false;
}

void view_free(struct sight *sight)
{
	for (size_t i = 0; i < sight->count; i++)
		free(sight->segments[i].copy);
	sight->count = 0;
}

bool view_is_helped(const struct sight *sight, const struct view_segment *segment)
{
	return segment_is_helped(segment->copy, sight->now_ns);
}

/* By the kernel's own count, of any device there. */
static bool is_observed(const struct sight *sight, const struct view_segment *segment)
{
	for (size_t slot = 0; slot < WP_DEVICES; slot++)
		if (segment->copy->devices[slot].key &&
		    device_source(&segment->copy->devices[slot], sight->now_ns) ==
			    WP_SOURCE_OBSERVER)
			return true;
	return false;
}

const char *view_source(const struct sight *sight, const struct view_segment *segment)
{
	struct kernel_pages pages;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool is_helped = view_is_helped(sight, segment);
	bool has_cachestat = fd >= 0 && kernel_cachestat(fd, 0, 1, &pages) != -ENOSYS;

	if (fd >= 0)
		close(fd);
	if (is_observed(sight, segment))
		return has_cachestat ? "observer, cachestat" : "observer";
	if (has_cachestat)
		return is_helped ? "cachestat, device statistics" : "cachestat";
	return is_helped ? "device statistics" : "learned rate";
}

/* --------------------------------------------------------------- devices ---- */

/* The last verdict on the device by any task, also by one that has ended. */
static void find_verdict(const struct wp_segment *copy, uint64_t key,
			 struct view_device *device)
{
	struct verdict verdict;

	for (size_t i = 0; i < WP_TASKS; i++) {
		const struct wp_task *task = &copy->tasks[i];
		const struct wp_note *note = &copy->notes[i];

		if (task->device_key != key || (task->id && !note_is_of(note, task)) ||
		    !note_get(note, &verdict) ||
		    (device->judged && verdict.view.now_ns < device->verdict.view.now_ns))
			continue;
		device->judged = true;
		device->verdict = verdict;
	}
}

static uint64_t share_q10(const struct wp_segment *copy, const struct wp_device *from)
{
	struct fprop_fraction share = fprop_share(&copy->writeout, &from->writeout);

	return (uint64_t)((unsigned __int128)share.numerator * WP_Q10 /
			  share.denominator);
}

static void see_control(const struct wp_device *from, struct view_device *device)
{
	struct control control;

	device_control(from, &control);
	device->window_bytes = control.window.bytes ? window_bytes(&control.window) : 0;
	device->bandwidth_bps = control.bandwidth.avg_bps;
	/* Why: before, it is an assumption */
	device->base_bps = device->bandwidth_bps ? control.ratelimit.base_bps : 0;
}

bool view_device(const struct sight *sight, const struct view_segment *segment,
		 size_t slot, struct view_device *device)
{
	const struct wp_segment *copy = segment->copy;
	const struct wp_device *from = &copy->devices[slot];

	memset(device, 0, sizeof(*device));
	if (!from->key || device_real_slot(copy, (int)slot) != (int)slot)
		return false;
	device->number = device_number(from);
	place_of(device->number, &device->place);
	device->dirtied_bytes = from->dirtied_bytes;
	device->written_bytes = from->written_bytes;
	device->outstanding_bytes = device_outstanding_bytes(from);
	device->inflight_bytes = device_inflight_bytes(from);
	device->orphan_bytes = word_level(&from->orphan_bytes);
	device->share_q10 = share_q10(copy, from);
	device->others_bps = from->others_bps;
	device->set_rate_bps = setting_value(&copy->settings.devices[slot].rate_bps);
	device->set_max_bytes = setting_value(&copy->settings.devices[slot].max_bytes);
	device->active_ns = stamp_age_ns(from->look_ns, sight->now_ns);
	device->holds = sync_holds(from, sight->now_ns);
	device->others = sync_others_ns(from, 0) &&
			 stamp_age_ns(sync_others_ns(from, 0), sight->now_ns) < OTHERS_NS;
	device->measured = stamp_age_ns(from->stat_ns, sight->now_ns) < MEASURED_NS;
	see_control(from, device);
	find_verdict(copy, from->key, device);
	return true;
}

/* ----------------------------------------------------------------- tasks ---- */

static uint64_t own_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

static void name_task(struct view_task *task)
{
	struct text text = text_on(task->command, sizeof(task->command));
	char comm[32];

	if (!read_text(comm, sizeof(comm), "/proc/%u/task/%u/comm", task->pid, task->tid))
		return;
	comm[strcspn(comm, "\n")] = '\0';
	text_add_foreign(&text, comm, sizeof(comm));
}

/* Why by namespace: a number of another one is somebody else's here. */
static void find_process(const struct sight *sight, const struct wp_task *from,
			 struct view_task *task)
{
	(void)sight;
	if (from->namespace_id != own_namespace()) {
		task->lives = task->silent_ns < SILENT_NS;
		snprintf(task->command, sizeof(task->command), "(other namespace)");
		return;
	}
	task->lives = read_process_lives("", task->pid, from->start_ns);
	if (task->lives)
		name_task(task);
}

static void see_note(const struct wp_note *note, struct view_task *task)
{
	task->noted = true;
	task->charged_bytes = note->charged_bytes;
	task->uncovered_bytes = note->uncovered_bytes;
	task->sleeps = note->sleeps;
	task->slept_ns = note->slept_ns;
	task->verdicts = note->verdicts;
	task->judged = note_get(note, &task->verdict);
	if (setting_value(&note->set_weight))
		task->weight = setting_value(&note->set_weight);
}

bool view_task(const struct sight *sight, const struct view_segment *segment, size_t slot,
	       struct view_task *task)
{
	const struct wp_task *from = &segment->copy->tasks[slot];

	memset(task, 0, sizeof(*task));
	if (!from->id)
		return false;
	task->pid = (uint32_t)(from->id >> 32);
	task->tid = (uint32_t)from->id;
	task->has_device = from->device_key;
	task->device = from->device_key - 1;
	task->silent_ns = stamp_age_ns(from->heartbeat_ns, sight->now_ns);
	task->weight = from->weight;
	task->dirtied_bytes = from->dirtied_bytes;
	if (note_is_of(&segment->copy->notes[slot], from))
		see_note(&segment->copy->notes[slot], task);
	find_process(sight, from, task);
	return true;
}

bool view_living_task(const struct sight *sight, const struct view_segment *segment,
		      size_t slot, struct view_task *task)
{
	return view_task(sight, segment, slot, task) && task->lives && task->has_device;
}
