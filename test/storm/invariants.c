/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks at a segment from a process of its own while others write, and are killed: what must hold
 * of it at any time, and what may be off for a while and must be mended. Until SIGTERM:
 *
 *	invariants SEGMENT
 *
 * Prints a line for each thing that was wrong, then one with the number of looks and of those
 * lines, and how long each kind was off at most. Status 1 when something was wrong.
 *
 * Why times: words are added to one after the other, so a look in between sees one without the
 * other, and a death there leaves it to the sweep.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <writepace/layout.h>
#include <writepace/verdict.h>

#include "base/order.h"
#include "base/stamp.h"
#include "core/pause.h"
#include "shm/device.h"
#include "shm/note.h"

#define LOOK_NS WP_MS(20)
#define LOUD_LINES 40 /* more say nothing new */

/* A kind of wrong that passes, and how long it may last. */
enum kind {
	NEGATIVE,  /* outstanding bytes of a device below zero */
	SUM,       /* outstanding, and what files and orphans hold */
	FLIGHT,    /* in flight, and what files hold of it */
	SILENT,    /* a claim of a file that nobody looks at */
	DEAD,      /* a slot of a task that is no more */
	UNSWEPT,   /* no sweep, though somebody writes */
	PERIOD,    /* no end of a period, though somebody writes */
	FAR_AHEAD, /* a claim that ends later than any */
	KINDS
};

/* Twice the 2 s that are promised: this machine is busy. Sums are found out by two sweeps. */
static const struct {
	const char *name;
	uint64_t bound_ns;
} kinds[KINDS] = {
	[NEGATIVE] = { "negative", WP_SEC(10) }, [SUM] = { "sum", WP_SEC(10) },
	[FLIGHT] = { "flight", WP_SEC(10) },     [SILENT] = { "silent", WP_SEC(4) },
	[DEAD] = { "dead", WP_SEC(4) },          [UNSWEPT] = { "unswept", WP_SEC(4) },
	[PERIOD] = { "period", WP_SEC(8) },      [FAR_AHEAD] = { "ahead", WP_SEC(2) },
};

/* Since when each thing is off without a break, 0 = it is not. */
static uint64_t since_ns[KINDS][WP_FILES];
static uint64_t worst_ns[KINDS];
static uint64_t own_namespace;
static unsigned wrong;
static volatile sig_atomic_t over;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return WP_SEC(t.tv_sec) + (uint64_t)t.tv_nsec;
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list list;

	if (wrong++ >= LOUD_LINES)
		return;
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

/* Thing @index of @kind is off now, or it is not. True when it has been for too long. */
static bool is_too_long(enum kind kind, size_t index, bool off, uint64_t now_ns)
{
	uint64_t *since = &since_ns[kind][index];
	uint64_t span_ns;

	if (!off) {
		*since = 0;
		return false;
	}
	if (!*since)
		*since = now_ns;
	span_ns = now_ns - *since;
	worst_ns[kind] = max_u64(worst_ns[kind], span_ns);
	if (span_ns <= kinds[kind].bound_ns)
		return false;
	*since = now_ns; /* said once, and again if it goes on */
	return true;
}

/* ---------------------------------------------------------------- devices ---- */

struct sums {
	uint64_t accounted_bytes;
	uint64_t inflight_bytes;
};

static void add_files(const struct wp_segment *map, struct sums *sums)
{
	memset(sums, 0, WP_DEVICES * sizeof(*sums));
	for (size_t i = 0; i < WP_FILES; i++) {
		const struct wp_file *file = &map->files[i];
		int slot = (int)(word_read(&file->key) >> 56) - 1;

		if (slot < 0)
			continue;
		slot = device_real_slot(map, slot);
		sums[slot].accounted_bytes += word_read(&file->accounted_bytes);
		sums[slot].inflight_bytes += word_read(&file->inflight_bytes);
	}
}

static void look_at_device(const struct wp_segment *map, size_t slot,
			   const struct sums *sums, uint64_t now_ns)
{
	const struct wp_device *device = &map->devices[slot];
	uint64_t outstanding_bytes = word_read(&device->outstanding_bytes);
	int64_t off_bytes =
		(int64_t)(outstanding_bytes - word_read(&device->orphan_bytes) -
			  sums->accounted_bytes);
	int64_t flight_bytes =
		(int64_t)(word_read(&device->inflight_bytes) - sums->inflight_bytes);

	if (is_too_long(NEGATIVE, slot, outstanding_bytes > INT64_MAX, now_ns))
		say("device %zu: %" PRId64 " bytes outstanding", slot,
		    (int64_t)outstanding_bytes);
	if (is_too_long(SUM, slot, off_bytes != 0, now_ns))
		say("device %zu: outstanding is off by %" PRId64, slot, off_bytes);
	if (is_too_long(FLIGHT, slot, flight_bytes != 0, now_ns))
		say("device %zu: in flight is off by %" PRId64, slot, flight_bytes);
	if (device_outstanding_bytes(device) > WP_GIB(1024))
		say("device %zu: outstanding beyond belief", slot);
	if (is_too_long(FAR_AHEAD, slot,
			word_read(&device->watch_ns) > now_ns + WP_SEC(1) ||
				word_read(&device->hold_end_ns) > now_ns + WP_SEC(1) ||
				word_read(&device->start_ns) > now_ns + WP_SEC(10),
			now_ns))
		say("device %zu: a claim of the far future", slot);
}

static void look_at_devices(const struct wp_segment *map, uint64_t now_ns)
{
	static struct sums sums[WP_DEVICES];

	add_files(map, sums);
	for (size_t slot = 0; slot < WP_DEVICES; slot++)
		if (word_read(&map->devices[slot].key))
			look_at_device(map, slot, &sums[slot], now_ns);
}

/* ------------------------------------------------------------ files, tasks ---- */

static void look_at_file(const struct wp_file *file, size_t slot, uint64_t now_ns)
{
	bool holds =
		word_read(&file->accounted_bytes) || word_read(&file->inflight_bytes);
	bool silent = stamp_age_ns(word_read(&file->seen_ns), now_ns) > WP_SEC(1);

	/* Why since the silence began and not since it was seen: nobody writes there any more. */
	if (is_too_long(SILENT, slot, word_read(&file->key) && holds && silent, now_ns))
		say("file %zu: silent, and holds %" PRIu64 " and %" PRIu64 " bytes", slot,
		    word_read(&file->accounted_bytes), word_read(&file->inflight_bytes));
}

static bool is_dead(const struct wp_task *task)
{
	uint64_t id = word_read(&task->id);

	return id && word_read(&task->namespace_id) == own_namespace &&
	       kill((pid_t)(id >> 32), 0) && errno == ESRCH;
}

static void look_at_task(const struct wp_segment *map, size_t slot, uint64_t now_ns)
{
	const struct wp_task *task = &map->tasks[slot];
	struct verdict verdict;

	if (is_too_long(DEAD, slot, is_dead(task), now_ns))
		say("task %zu: of the dead", slot);
	if (word_read(&task->id) && note_is_of(&map->notes[slot], task) &&
	    note_get(&map->notes[slot], &verdict) && verdict.pause_ns > WP_MS(200))
		say("task %zu: a pause of %" PRIu64 " ns", slot, verdict.pause_ns);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *one = a;
	const uint64_t *other = b;

	return *one < *other ? -1 : *one > *other;
}

/* Of two entries for one thing each would have its part of the truth. */
static void look_for_twins(const char *what, uint64_t *keys, size_t count)
{
	qsort(keys, count, sizeof(*keys), by_value);
	for (size_t i = 1; i < count; i++)
		if (keys[i] && keys[i] == keys[i - 1])
			say("%s %" PRIx64 " is there twice", what, keys[i]);
}

static void look_at_keys(const struct wp_segment *map)
{
	static uint64_t keys[WP_FILES];

	for (size_t i = 0; i < WP_FILES; i++)
		keys[i] = word_read(&map->files[i].key);
	look_for_twins("file", keys, WP_FILES);
	for (size_t i = 0; i < WP_DEVICES; i++)
		keys[i] = word_read(&map->devices[i].key);
	look_for_twins("device", keys, WP_DEVICES);
	for (size_t i = 0; i < WP_TASKS; i++)
		keys[i] = word_read(&map->tasks[i].id);
	look_for_twins("task", keys, WP_TASKS);
}

/* ------------------------------------------------------------------ header ---- */

static bool is_written_to(const struct wp_segment *map)
{
	static uint64_t before;
	uint64_t sum = 0;

	for (size_t slot = 0; slot < WP_DEVICES; slot++)
		sum += word_read(&map->devices[slot].dirtied_bytes);
	if (sum == before)
		return false;
	before = sum;
	return true;
}

static void look_at_header(const struct wp_segment *map, uint64_t now_ns)
{
	static uint64_t written_ns;
	const struct wp_header *header = &map->header;
	uint64_t end_ns = word_read(&header->period_end_ns);
	bool busy;

	if (is_written_to(map))
		written_ns = now_ns;
	busy = now_ns - written_ns < WP_MS(500);
	if (word_read(&header->magic) != WP_LAYOUT_MAGIC ||
	    header->version != WP_LAYOUT_VERSION || header->segment_bytes != sizeof(*map))
		say("the header is damaged");
	if (is_too_long(UNSWEPT, 0,
			busy && stamp_age_ns(word_read(&header->sweep_ns), now_ns) >
					WP_MS(1500),
			now_ns))
		say("nobody sweeps");
	if (is_too_long(PERIOD, 0,
			busy && (!end_ns || end_ns + WP_SEC(1) < now_ns ||
				 end_ns > now_ns + WP_SEC(10)),
			now_ns))
		say("nobody declares periods");
}

/* -------------------------------------------------------------------- main ---- */

static void stop(int signal)
{
	(void)signal;
	over = 1;
}

static const struct wp_segment *map_segment(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *map = MAP_FAILED;

	if (fd >= 0)
		map = mmap(NULL, sizeof(struct wp_segment), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		perror(path);
		exit(2);
	}
	close(fd);
	return map;
}

static void look(const struct wp_segment *map)
{
	uint64_t now_ns = now(CLOCK_MONOTONIC);

	look_at_header(map, now_ns);
	look_at_devices(map, now_ns);
	for (size_t slot = 0; slot < WP_FILES; slot++)
		look_at_file(&map->files[slot], slot, now_ns);
	for (size_t slot = 0; slot < WP_TASKS; slot++)
		look_at_task(map, slot, now_ns);
	look_at_keys(map);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = stop };
	struct timespec span = { .tv_nsec = (long)LOOK_NS };
	const struct wp_segment *map;
	unsigned looks = 0;
	struct stat st;

	if (argc != 2) {
		fputs("usage: invariants SEGMENT\n", stderr);
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	map = map_segment(argv[1]);
	if (!stat("/proc/self/ns/pid", &st))
		own_namespace = st.st_ino;
	for (; !over; looks++) {
		look(map);
		nanosleep(&span, NULL);
	}
	printf("looks=%u wrong=%u", looks, wrong);
	for (size_t kind = 0; kind < KINDS; kind++)
		printf(" %s_ms=%" PRIu64, kinds[kind].name, worst_ns[kind] / WP_MS(1));
	putchar('\n');
	return wrong > 0;
}
