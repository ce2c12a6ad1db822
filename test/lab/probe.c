/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small periodic writer that measures how long it is kept waiting.
 *
 * Latency counts from the moment a sample was *scheduled* to start. While one operation
 * is stuck, the samples that should have started meanwhile are counted too, each with
 * its own waiting, without running them: a stalled loop must not hide its own stall, and
 * must not fire hundreds of catch-up writes either. Only the newest of them is run, late.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES 4096
#define WRAP_BLOCKS 2048 /* the growing file starts again after 8 MiB */
#define CREATE_BYTES 100
#define LOG_BYTES 200
#define CAMERA_BYTES 40000        /* 4 MB/s */
#define RECORDER_BYTES (49 * 188) /* packets of a transport stream, 2 MB/s */

struct probe;

struct mode {
	const char *name;
	const char *help;
	int64_t period_ns;
	int (*open)(struct probe *p);
	int (*step)(struct probe *p); /* 0, or -1 with errno set */
};

struct probe {
	const struct mode *mode;
	const char *path;
	int fd;
	char *map;
	uint64_t step_nr;
	int64_t *samples_ns;
	size_t sample_nr;
	size_t sample_cap;
	uint64_t stalled_nr;
};

static volatile sig_atomic_t stopped;
static char block[CAMERA_BYTES]; /* the most that is written at once */

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

static void sleep_until(int64_t at_ns)
{
	const struct timespec ts = {
		.tv_sec = at_ns / 1000000000,
		.tv_nsec = at_ns % 1000000000,
	};

	while (!stopped &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int write_at(int fd, size_t bytes, off_t at)
{
	ssize_t done = pwrite(fd, block, bytes, at);

	if (done >= 0 && (size_t)done != bytes)
		errno = ENOSPC;
	return done == (ssize_t)bytes ? 0 : -1;
}

static int open_file(struct probe *p)
{
	p->fd = open(p->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return p->fd < 0 ? -1 : 0;
}

static int open_log(struct probe *p)
{
	p->fd = open(p->path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	return p->fd < 0 ? -1 : 0;
}

/* One block, on the device before the first sample. */
static int open_block(struct probe *p)
{
	if (open_file(p) || write_at(p->fd, BLOCK_BYTES, 0))
		return -1;
	return fsync(p->fd);
}

static int open_map(struct probe *p)
{
	if (open_block(p))
		return -1;
	p->map = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	return p->map == MAP_FAILED ? -1 : 0;
}

static int open_dir(struct probe *p)
{
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return p->fd < 0 ? -1 : 0;
}

static int step_fsync(struct probe *p)
{
	off_t at = (off_t)(p->step_nr % WRAP_BLOCKS) * BLOCK_BYTES;

	return write_at(p->fd, BLOCK_BYTES, at) ? -1 : fsync(p->fd);
}

static int step_overwrite(struct probe *p)
{
	return write_at(p->fd, BLOCK_BYTES, 0) ? -1 : fsync(p->fd);
}

/* The descriptor has O_APPEND: the offset given is ignored. */
static int step_append(struct probe *p)
{
	return write_at(p->fd, BLOCK_BYTES, 0);
}

static int step_log(struct probe *p)
{
	return write_at(p->fd, LOG_BYTES, 0);
}

static int step_camera(struct probe *p)
{
	return write_at(p->fd, CAMERA_BYTES, 0);
}

static int step_recorder(struct probe *p)
{
	return write_at(p->fd, RECORDER_BYTES, 0);
}

static int step_create(struct probe *p)
{
	char name[32];
	int fd;
	int ret;

	snprintf(name, sizeof(name), "probe.%llu", (unsigned long long)p->step_nr);
	fd = openat(p->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	ret = write_at(fd, CREATE_BYTES, 0);
	return close(fd) ? -1 : ret;
}

static int step_mapstore(struct probe *p)
{
	*(volatile char *)p->map = (char)p->step_nr;
	return 0;
}

static const struct mode modes[] = {
	{ "fsync", "4 KiB at the end of a growing file + fsync, every 50 ms", 50000000,
	  open_file, step_fsync },
	{ "overwrite", "4 KiB over the same block + fsync, every 50 ms", 50000000,
	  open_block, step_overwrite },
	{ "append", "4 KiB appended, no fsync, every 50 ms", 50000000, open_log,
	  step_append },
	{ "log", "200 B appended, no fsync, every 20 ms", 20000000, open_log, step_log },
	{ "camera", "40 kB appended, no fsync, every 10 ms", 10000000, open_log,
	  step_camera },
	{ "recorder", "9 kB appended, no fsync, every 4.6 ms", 4606000, open_log,
	  step_recorder },
	{ "create", "a new file of 100 B in the directory PATH, every 50 ms", 50000000,
	  open_dir, step_create },
	{ "mapstore", "one byte stored to a shared mapping, every 5 ms", 5000000,
	  open_map, step_mapstore },
};

#define MODE_NR (sizeof(modes) / sizeof(modes[0]))

static int record(struct probe *p, int64_t latency_ns)
{
	if (p->sample_nr == p->sample_cap) {
		size_t cap = p->sample_cap ? 2 * p->sample_cap : 4096;
		int64_t *grown = realloc(p->samples_ns, cap * sizeof(*grown));

		if (!grown)
			return -1;
		p->samples_ns = grown;
		p->sample_cap = cap;
	}
	p->samples_ns[p->sample_nr++] = latency_ns;
	return 0;
}

/* Samples until a signal or until_ns; every scheduled start leaves one sample. */
static int run(struct probe *p, int64_t until_ns)
{
	const int64_t period_ns = p->mode->period_ns;
	int64_t due_ns = now_ns();
	int64_t end_ns = due_ns;

	for (;;) {
		sleep_until(due_ns);
		if (stopped || due_ns >= until_ns)
			break;
		if (p->mode->step(p))
			return -1;
		p->step_nr++;
		end_ns = now_ns();
		if (record(p, end_ns - due_ns))
			return -1;
		due_ns += period_ns;
		for (; due_ns + period_ns <= end_ns; due_ns += period_ns) {
			p->stalled_nr++;
			if (record(p, end_ns - due_ns))
				return -1;
		}
		if (due_ns < end_ns)
			p->stalled_nr++;
	}
	/* The one that was about to run late. */
	if (due_ns < end_ns)
		return record(p, end_ns - due_ns);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a;
	int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* Nearest rank: the smallest sample that is not below percent % of all. */
static long long percentile_us(const struct probe *p, size_t percent)
{
	size_t rank = (p->sample_nr * percent + 99) / 100;

	return rank ? p->samples_ns[rank - 1] / 1000 : 0;
}

static size_t within(const struct probe *p, int64_t limit_ns)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->sample_nr; i++)
		nr += p->samples_ns[i] < limit_ns;
	return nr;
}

static void report(struct probe *p)
{
	if (p->sample_nr)
		qsort(p->samples_ns, p->sample_nr, sizeof(p->samples_ns[0]), by_value);
	printf("n=%zu p50_us=%lld p99_us=%lld max_us=%lld stalled=%llu within_1ms=%zu\n",
	       p->sample_nr, percentile_us(p, 50), percentile_us(p, 99),
	       percentile_us(p, 100), (unsigned long long)p->stalled_nr,
	       within(p, 1000000));
}

static int usage(void)
{
	fprintf(stderr, "usage: probe MODE PATH [--seconds N]   (else until SIGTERM)\n");
	for (size_t i = 0; i < MODE_NR; i++)
		fprintf(stderr, "  %-10s %s\n", modes[i].name, modes[i].help);
	return 2;
}

static const struct mode *mode_by_name(const char *name)
{
	for (size_t i = 0; i < MODE_NR; i++)
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction on_stop = { .sa_handler = stop };
	struct probe p = { .fd = -1 };
	int64_t until_ns = INT64_MAX;

	if (argc != 3 && !(argc == 5 && !strcmp(argv[3], "--seconds")))
		return usage();
	p.mode = mode_by_name(argv[1]);
	p.path = argv[2];
	if (!p.mode)
		return usage();
	if (argc == 5) {
		char *end;
		long seconds = strtol(argv[4], &end, 10);

		if (seconds <= 0 || seconds > 86400 || *end)
			return usage();
		until_ns = now_ns() + seconds * INT64_C(1000000000);
	}

	sigaction(SIGTERM, &on_stop, NULL);
	sigaction(SIGINT, &on_stop, NULL);
	if (p.mode->open(&p) || run(&p, until_ns)) {
		fprintf(stderr, "probe %s %s: %s\n", p.mode->name, p.path,
			strerror(errno));
		return 1;
	}
	report(&p);
	free(p.samples_ns);
	return 0;
}
