/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writers that do whatever programs do to files, and somebody who kills or stops them at any
 * moment.
 *
 *	storm kill|stop|both BLOWS WRITERS SEED BOARD DIRECTORY
 *	storm points DEATHS WRITERS SEED BOARD DIRECTORY	each kills itself (points.c)
 *	storm calm SECONDS WRITERS SEED BOARD DIRECTORY		nobody is killed
 *
 * Every byte a writer puts into a file follows from its place, and who comes next looks whether it
 * is so. BOARD is a file that all share, on another device: a count of each writer's steps, so
 * that one that hangs is seen, and its faults. One line at the end:
 *
 *	kills=N stops=N starts=N steps=N hung=N crashed=N wrong=N silence_ms=N seconds=N
 *
 * Status 0 when nothing hung, crashed or was wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WRITERS_MAX 64
#define BLOCK_BYTES (1u << 20)
#define FILE_BYTES (8u << 20)
#define FILES 3
#define HANG_NS UINT64_C(30000000000) /* no step of any writer takes so long */
#define GAP_NS UINT64_C(60000000)     /* between two blows, at most */
#define POINTS 20000 /* writes to the segment before a writer's last one */

struct board {
	uint64_t over; /* writers end after their step */
	uint64_t wrong;
	struct {
		uint64_t steps;
		uint64_t starts;
	} writers[WRITERS_MAX];
};

static struct board *board;
static const char *self;
static const char *board_path;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000),
			      .tv_nsec = (long)(ns % 1000000000) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void map_board(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*board)))
		exit(2);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		exit(2);
	board_path = path;
	close(fd);
}

/* ----------------------------------------------------------------- writers ---- */

struct writer {
	unsigned slot;
	uint64_t seed;
	int fd; /* -1 = none open */
	unsigned file;
	off_t size; /* of it */
};

static void step_done(unsigned slot)
{
	__atomic_add_fetch(&board->writers[slot].steps, 1, __ATOMIC_SEQ_CST);
}

static void found_wrong(const char *what, unsigned slot)
{
	__atomic_add_fetch(&board->wrong, 1, __ATOMIC_SEQ_CST);
	fprintf(stderr, "writer %u: %s: %s\n", slot, what, strerror(errno));
}

/* What belongs at @at, in every file. */
static void pattern(unsigned char *block, off_t at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		uint64_t place = (uint64_t)at + i;

		block[i] = (unsigned char)(place ^ (place >> 8) ^ (place >> 16) * 31);
	}
}

static void path_of(char *path, unsigned slot, unsigned file)
{
	sprintf(path, "w%u.%u", slot, file);
}

static void open_one(struct writer *writer)
{
	char path[64];
	struct stat st;

	writer->file = (unsigned)(next_random(&writer->seed) % FILES);
	path_of(path, writer->slot, writer->file);
	writer->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (writer->fd < 0 || fstat(writer->fd, &st)) {
		found_wrong("open", writer->slot);
		exit(3);
	}
	writer->size = st.st_size;
}

static void close_one(struct writer *writer)
{
	if (close(writer->fd))
		found_wrong("close", writer->slot);
	writer->fd = -1;
}

/* At @at of the open file, by one of the ways there are. */
static void put(struct writer *writer, off_t at, size_t bytes)
{
	static unsigned char block[BLOCK_BYTES];
	struct iovec parts[2] = { { block, bytes / 2 },
				  { block + bytes / 2, bytes - bytes / 2 } };
	ssize_t put_bytes;

	pattern(block, at, bytes);
	switch (next_random(&writer->seed) % 3) {
	case 0:
		put_bytes = pwrite(writer->fd, block, bytes, at);
		break;
	case 1:
		put_bytes = pwritev(writer->fd, parts, 2, at);
		break;
	default:
		lseek(writer->fd, at, SEEK_SET);
		put_bytes = write(writer->fd, block, bytes);
	}
	if (put_bytes != (ssize_t)bytes)
		found_wrong("short write", writer->slot);
	if (at + (off_t)bytes > writer->size)
		writer->size = at + (off_t)bytes;
}

static size_t some_bytes(struct writer *writer)
{
	uint64_t choice = next_random(&writer->seed);

	return choice % 8 ? 1 + (choice >> 8) % 65536 : 1 + (choice >> 8) % BLOCK_BYTES;
}

static void append(struct writer *writer)
{
	if (writer->size > (off_t)FILE_BYTES) {
		if (ftruncate(writer->fd, 0))
			found_wrong("ftruncate", writer->slot);
		writer->size = 0;
	}
	for (int i = 0; i < 8; i++)
		put(writer, writer->size, some_bytes(writer));
}

static void rewrite(struct writer *writer)
{
	if (writer->size)
		put(writer, (off_t)(next_random(&writer->seed) % (uint64_t)writer->size),
		    some_bytes(writer));
}

static void cut(struct writer *writer)
{
	writer->size = (off_t)(next_random(&writer->seed) % (uint64_t)(writer->size + 1));
	if (ftruncate(writer->fd, writer->size))
		found_wrong("ftruncate", writer->slot);
}

static void look(struct writer *writer)
{
	static unsigned char block[65536];
	static unsigned char wanted[sizeof(block)];
	off_t at = (off_t)(next_random(&writer->seed) % (uint64_t)(writer->size + 1));
	ssize_t got = pread(writer->fd, block, sizeof(block), at);

	if (got < 0) {
		found_wrong("pread", writer->slot);
		return;
	}
	pattern(wanted, at, (size_t)got);
	if (memcmp(block, wanted, (size_t)got) != 0)
		found_wrong("other bytes than were written", writer->slot);
}

static void move(struct writer *writer)
{
	char from[64];
	char to[64];

	path_of(from, writer->slot, writer->file);
	path_of(to, writer->slot, (writer->file + 1) % FILES);
	close_one(writer);
	if (next_random(&writer->seed) % 2 ? rename(from, to) : unlink(from))
		found_wrong("rename or unlink", writer->slot);
}

/* Why _exit: the parent's streams are the parent's. */
static void breed(struct writer *writer)
{
	pid_t pid = fork();

	if (!pid) {
		/* Why: who comes after us must not find it still at work. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		append(writer);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	writer->size = lseek(writer->fd, 0, SEEK_END);
}

static void *append_apart(void *argument)
{
	struct writer *writer = argument;
	struct writer other = { .slot = writer->slot,
				.seed = writer->seed ^ 0x5555,
				.fd = writer->fd,
				.size = writer->size };
	unsigned char block[4096];

	for (int i = 0; i < 16; i++) {
		off_t at = (off_t)(next_random(&other.seed) % FILE_BYTES);

		at = other.size ? at % other.size : 0;
		pattern(block, at, sizeof(block));
		if (at + (off_t)sizeof(block) <= other.size &&
		    pwrite(other.fd, block, sizeof(block), at) != (ssize_t)sizeof(block))
			found_wrong("a thread's write", writer->slot);
	}
	return NULL;
}

static void twine(struct writer *writer)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, append_apart, writer))
		return;
	rewrite(writer);
	pthread_join(thread, NULL);
}

/* The same again, as another program. */
static void become(const struct writer *writer)
{
	char slot[16];
	char seed[32];

	snprintf(slot, sizeof(slot), "%u", writer->slot);
	snprintf(seed, sizeof(seed), "%" PRIu64, writer->seed);
	execl(self, self, "write", slot, seed, board_path, NULL);
	_exit(4);
}

static void step(struct writer *writer)
{
	if (writer->fd < 0)
		open_one(writer);
	switch (next_random(&writer->seed) % 32) {
	case 0:
		move(writer);
		break;
	case 1:
		cut(writer);
		break;
	case 2:
		if (fdatasync(writer->fd))
			found_wrong("fdatasync", writer->slot);
		break;
	case 3:
		breed(writer);
		break;
	case 4:
		twine(writer);
		break;
	case 5:
		become(writer);
		break;
	case 6 ... 9:
		close_one(writer);
		break;
	case 10 ... 13:
		look(writer);
		break;
	case 14 ... 18:
		rewrite(writer);
		break;
	default:
		append(writer);
	}
	step_done(writer->slot);
}

static _Noreturn void write_on(unsigned slot, uint64_t seed)
{
	struct writer writer = { .slot = slot, .seed = seed | 1, .fd = -1 };

	while (!__atomic_load_n(&board->over, __ATOMIC_SEQ_CST))
		step(&writer);
	exit(0);
}

/* ------------------------------------------------------------------- storm ---- */

struct storm {
	bool kills;
	bool stops;
	bool points;
	uint64_t blows;
	unsigned writers;
	uint64_t seed;
	pid_t pids[WRITERS_MAX];
	uint64_t seen_steps[WRITERS_MAX];
	uint64_t seen_ns[WRITERS_MAX];
	uint64_t killed;
	uint64_t stopped;
	uint64_t hung;
	uint64_t crashed;
	uint64_t silence_ns;
};

/* Soon, as a rule: most of what is shared is written at the beginning and at the end. */
static void set_point(uint64_t seed)
{
	char text[32];

	snprintf(text, sizeof(text), "kill:%" PRIu64,
		 1 + (seed >> 8) % (seed % 2 ? POINTS : POINTS / 50));
	setenv("STORM_POINTS", text, 1);
}

/* Half of them by exec, the others as children that never were a program of their own. */
static void begin(struct storm *storm, unsigned slot)
{
	uint64_t seed = next_random(&storm->seed) | 1;
	struct writer writer = { .slot = slot, .seed = seed };
	pid_t pid = fork();

	if (!pid) {
		if (storm->points)
			set_point(seed);
		if (storm->points || seed & 2)
			become(&writer);
		write_on(slot, seed);
	}
	if (pid < 0)
		exit(2);
	storm->pids[slot] = pid;
	storm->seen_ns[slot] = now_ns();
	board->writers[slot].starts++;
}

static void reap(struct storm *storm, unsigned slot, int expected)
{
	int status = 0;

	while (waitpid(storm->pids[slot], &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) ? WTERMSIG(status) != expected :
				  WEXITSTATUS(status) != 0) {
		fprintf(stderr, "writer %u ended with status %x\n", slot, status);
		storm->crashed++;
	}
}

/* Who has made no step for too long is killed: the storm goes on. */
static void look_for_hangs(struct storm *storm)
{
	for (unsigned slot = 0; slot < storm->writers; slot++) {
		uint64_t steps =
			__atomic_load_n(&board->writers[slot].steps, __ATOMIC_SEQ_CST);
		uint64_t now = now_ns();

		if (steps != storm->seen_steps[slot]) {
			storm->seen_steps[slot] = steps;
			storm->seen_ns[slot] = now;
		}
		if (now - storm->seen_ns[slot] > storm->silence_ns)
			storm->silence_ns = now - storm->seen_ns[slot];
		if (now - storm->seen_ns[slot] < HANG_NS)
			continue;
		fprintf(stderr, "writer %u hangs\n", slot);
		storm->hung++;
		kill(storm->pids[slot], SIGKILL);
		reap(storm, slot, SIGKILL);
		begin(storm, slot);
	}
}

static void blow(struct storm *storm)
{
	unsigned slot = (unsigned)(next_random(&storm->seed) % storm->writers);

	if (storm->stops && (!storm->kills || next_random(&storm->seed) % 2)) {
		kill(storm->pids[slot], SIGSTOP);
		sleep_ns(next_random(&storm->seed) % (4 * GAP_NS));
		kill(storm->pids[slot], SIGCONT);
		storm->stopped++;
		return;
	}
	kill(storm->pids[slot], SIGKILL);
	reap(storm, slot, SIGKILL);
	storm->killed++;
	begin(storm, slot);
}

/* At a moment of which nobody knows where it finds whom. */
static void rage(struct storm *storm)
{
	while (storm->killed + storm->stopped < storm->blows) {
		sleep_ns(next_random(&storm->seed) % GAP_NS);
		blow(storm);
		look_for_hangs(storm);
	}
}

static void find_dead(struct storm *storm)
{
	for (unsigned slot = 0; slot < storm->writers; slot++) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)storm->pids[slot], &info,
			   WEXITED | WNOHANG | WNOWAIT) ||
		    !info.si_pid)
			continue;
		storm->killed += info.si_code == CLD_KILLED;
		reap(storm, slot, SIGKILL);
		begin(storm, slot);
	}
}

static void wait_for_deaths(struct storm *storm)
{
	while (storm->killed < storm->blows) {
		sleep_ns(GAP_NS / 20);
		find_dead(storm);
		look_for_hangs(storm);
	}
}

static void pass(struct storm *storm, uint64_t span_ns)
{
	uint64_t until_ns = now_ns() + span_ns;

	while (now_ns() < until_ns) {
		sleep_ns(GAP_NS);
		look_for_hangs(storm);
	}
}

/* Those that writers left behind when they were killed are ours by now. */
static void reap_orphans(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void end(struct storm *storm)
{
	__atomic_store_n(&board->over, 1, __ATOMIC_SEQ_CST);
	for (unsigned slot = 0; slot < storm->writers; slot++)
		reap(storm, slot, storm->points ? SIGKILL : 0);
	reap_orphans();
}

static bool report(const struct storm *storm, uint64_t span_ns)
{
	uint64_t steps = 0;
	uint64_t starts = 0;

	for (unsigned slot = 0; slot < storm->writers; slot++) {
		steps += board->writers[slot].steps;
		starts += board->writers[slot].starts;
	}
	printf("kills=%" PRIu64 " stops=%" PRIu64 " starts=%" PRIu64 " steps=%" PRIu64
	       " hung=%" PRIu64 " crashed=%" PRIu64 " wrong=%" PRIu64
	       " silence_ms=%" PRIu64 " seconds=%" PRIu64 "\n",
	       storm->killed, storm->stopped, starts, steps, storm->hung, storm->crashed,
	       board->wrong, storm->silence_ns / 1000000, span_ns / 1000000000);
	return storm->hung || storm->crashed || board->wrong;
}

int main(int argc, char **argv)
{
	struct storm storm = { 0 };
	uint64_t start_ns = now_ns();
	char path[4096];

	if (argc == 5 && !strcmp(argv[1], "write")) {
		self = argv[0];
		map_board(argv[4]);
		write_on((unsigned)strtoul(argv[2], NULL, 10),
			 strtoull(argv[3], NULL, 10));
	}
	if (argc != 7 || !realpath(argv[0], path)) {
		fputs("usage: storm kill|stop|both|calm COUNT WRITERS SEED BOARD DIRECTORY\n",
		      stderr);
		return 2;
	}
	self = path;
	storm.kills = !strcmp(argv[1], "kill") || !strcmp(argv[1], "both");
	storm.stops = !strcmp(argv[1], "stop") || !strcmp(argv[1], "both");
	storm.points = !strcmp(argv[1], "points");
	storm.blows = strtoull(argv[2], NULL, 10);
	storm.writers = (unsigned)strtoul(argv[3], NULL, 10);
	storm.seed = strtoull(argv[4], NULL, 10) | 1;
	if (!storm.writers || storm.writers > WRITERS_MAX)
		return 2;
	map_board(argv[5]);
	if (chdir(argv[6]) || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		return 2;
	for (unsigned slot = 0; slot < storm.writers; slot++)
		begin(&storm, slot);
	if (storm.kills || storm.stops)
		rage(&storm);
	else if (storm.points)
		wait_for_deaths(&storm);
	else
		pass(&storm, storm.blows * 1000000000);
	end(&storm);
	return report(&storm, now_ns() - start_ns);
}
