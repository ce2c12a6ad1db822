/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's own account of one block device, every 10 ms until SIGTERM: bytes
 * outstanding (dirty + under writeback) and bytes that reached the device.
 *
 * Outstanding comes from debugfs, bdi/NAME/stats. NAME is the device's major:minor,
 * except for a mounted btrfs: its dirty pages belong to a bdi of their own, "btrfs-N",
 * where N counts mounts since boot and is not the minor of the st_dev that stat() shows.
 * sysfs ties the two together: /sys/fs/btrfs/UUID/devices/ lists the member devices and
 * /sys/fs/btrfs/UUID/bdi points at the bdi. (The device's own bdi stays at 0 meanwhile.)
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS INT64_C(10000000)
#define SECTOR_BYTES 512
#define NAME_BYTES 128
#define PATH_BYTES 512

struct watch {
	int bdi_fd;
	int stat_fd;
	FILE *series; /* may be NULL */
	int64_t start_ns;
	uint64_t written_start_bytes;
	uint64_t written_bytes;
	uint64_t outstanding_bytes;
	uint64_t peak_bytes;
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* A whole small file from its start, as a string. */
static int read_text(int fd, char *text, size_t bytes)
{
	ssize_t done = pread(fd, text, bytes - 1, 0);

	if (done <= 0) {
		if (!done)
			errno = ENODATA;
		return -1;
	}
	text[done] = '\0';
	return 0;
}

/* The member device behind /sys/fs/btrfs/UUID/devices/NAME is number id. */
static int is_member(const char *member, const char *id)
{
	char path[PATH_BYTES];
	char text[NAME_BYTES];
	int fd;
	int ret;

	snprintf(path, sizeof(path), "%s/dev", member);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ret = read_text(fd, text, sizeof(text));
	close(fd);
	if (ret)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, id);
}

/* Name of the bdi that counts the dirty pages of device id. */
static void bdi_name(const char *id, char *name, size_t bytes)
{
	char path[PATH_BYTES];
	char link[NAME_BYTES];
	glob_t members;

	snprintf(name, bytes, "%s", id);
	if (glob("/sys/fs/btrfs/*/devices/*", GLOB_NOSORT, NULL, &members))
		return;
	for (size_t i = 0; i < members.gl_pathc; i++) {
		ssize_t len;

		if (!is_member(members.gl_pathv[i], id))
			continue;
		*strrchr(members.gl_pathv[i], '/') = '\0';
		snprintf(path, sizeof(path), "%s/../bdi", members.gl_pathv[i]);
		len = readlink(path, link, sizeof(link) - 1);
		if (len <= 0)
			continue;
		link[len] = '\0';
		snprintf(name, bytes, "%s", basename(link));
		break;
	}
	globfree(&members);
}

static int open_or_say(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fprintf(stderr, "watch: %s: %s\n", path, strerror(errno));
	return fd;
}

/* "Key:   123 kB" -> bytes */
static uint64_t kb_field(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

static int sample(struct watch *w)
{
	char text[1024];
	uint64_t sectors;

	if (read_text(w->bdi_fd, text, sizeof(text)))
		return -1;
	w->outstanding_bytes =
		kb_field(text, "BdiWriteback:") + kb_field(text, "BdiReclaimable:");
	if (w->outstanding_bytes > w->peak_bytes)
		w->peak_bytes = w->outstanding_bytes;

	if (read_text(w->stat_fd, text, sizeof(text)) ||
	    sscanf(text, "%*u %*u %*u %*u %*u %*u %" SCNu64, &sectors) != 1)
		return -1;
	w->written_bytes = sectors * SECTOR_BYTES;
	return 0;
}

static int run(struct watch *w)
{
	int64_t due_ns = now_ns();

	w->start_ns = due_ns;
	if (sample(w))
		return -1;
	w->written_start_bytes = w->written_bytes;

	while (!stopped) {
		const struct timespec ts = {
			.tv_sec = due_ns / 1000000000,
			.tv_nsec = due_ns % 1000000000,
		};
		int64_t late_ns;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		if (sample(w))
			return -1;
		if (w->series)
			fprintf(w->series, "%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\n",
				(now_ns() - w->start_ns) / 1000000, w->outstanding_bytes,
				w->written_bytes - w->written_start_bytes);
		late_ns = now_ns() - due_ns;
		due_ns += (late_ns / PERIOD_NS + 1) * PERIOD_NS;
	}
	return 0;
}

static int open_series(struct watch *w, const char *path)
{
	w->series = fopen(path, "we");
	if (!w->series) {
		fprintf(stderr, "watch: %s: %s\n", path, strerror(errno));
		return -1;
	}
	fprintf(w->series, "ms\toutstanding\twritten\n");
	return 0;
}

int main(int argc, char **argv)
{
	const struct sigaction on_stop = { .sa_handler = stop };
	struct watch w = { .series = NULL };
	char path[PATH_BYTES];
	char name[NAME_BYTES];

	if (argc != 2 && !(argc == 4 && !strcmp(argv[2], "--tsv"))) {
		fprintf(stderr, "usage: watch MAJOR:MINOR [--tsv FILE]\n");
		return 2;
	}
	sigaction(SIGTERM, &on_stop, NULL);
	sigaction(SIGINT, &on_stop, NULL);

	bdi_name(argv[1], name, sizeof(name));
	snprintf(path, sizeof(path), "/sys/kernel/debug/bdi/%s/stats", name);
	w.bdi_fd = open_or_say(path);
	snprintf(path, sizeof(path), "/sys/dev/block/%.32s/stat", argv[1]);
	w.stat_fd = open_or_say(path);
	if (w.bdi_fd < 0 || w.stat_fd < 0 || (argc == 4 && open_series(&w, argv[3])))
		return 1;

	if (run(&w)) {
		fprintf(stderr, "watch: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	if (w.series && fclose(w.series)) {
		fprintf(stderr, "watch: %s: %s\n", argv[3], strerror(errno));
		return 1;
	}
	printf("peak_outstanding=%" PRIu64 " final=%" PRIu64 " written=%" PRIu64 "\n",
	       w.peak_bytes, w.outstanding_bytes,
	       w.written_bytes - w.written_start_bytes);
	return 0;
}
