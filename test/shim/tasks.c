/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals, threads and processes inside a paced program. Each case writes to files of DIRECTORY,
 * says what is wrong, and exits 0 where nothing is: run by test/shim/hazards.sh, plain and paced.
 *
 * Usage: tasks CASE DIRECTORY [ROUNDS]
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK_BYTES 65536
#define LARGE_BYTES (1 << 20)
#define ENOUGH_BYTES (24 << 20)
#define LIMIT_S 600 /* a case that takes longer hangs */

static char data[LARGE_BYTES];
static int rounds;
extern char **environ;

__attribute__((format(printf, 1, 2), noreturn)) static void wrong(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

static int made(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		wrong("%s: %s", name, strerror(errno));
	return fd;
}

static off_t size_of(const char *name)
{
	struct stat st;

	return stat(name, &st) ? -1 : st.st_size;
}

static void must_write(int fd, size_t bytes)
{
	ssize_t r = write(fd, data, bytes);

	if (r != (ssize_t)bytes)
		wrong("write of %zu: %zd, %s", bytes, r, strerror(errno));
}

static void must_end(pid_t pid, int wanted)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid || status != wanted)
		wrong("child %d: status %#x, wanted %#x", (int)pid, (unsigned)status,
		      (unsigned)wanted);
}

static void every(long us, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler }; /* no SA_RESTART */
	struct itimerval timer = { { 0, us }, { 0, us } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void no_more(void)
{
	struct itimerval timer = { 0 };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- signals ---- */

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* A regular file's write is never interrupted, small or in pieces. */
static void timer(void)
{
	int fd = made("timer");
	off_t bytes = 0;

	every(1000, count_alarm);
	for (int i = 0; i < rounds; i++) {
		size_t n = i % 8 ? BLOCK_BYTES : LARGE_BYTES;

		must_write(fd, n);
		bytes += (off_t)n;
	}
	if (fsync(fd))
		wrong("fsync: %s", strerror(errno));
	no_more();
	close(fd);
	if (size_of("timer") != bytes)
		wrong("%jd bytes there of %jd", (intmax_t)size_of("timer"),
		      (intmax_t)bytes);
	printf("%d alarms\n", (int)alarms);
}

static sigjmp_buf out;
static volatile sig_atomic_t inside;

static void jump_out(int signal)
{
	(void)signal;
	if (inside)
		siglongjmp(out, 1);
}

/* What a jump leaves behind is a whole write or none, and the next one works. */
static void jump(void)
{
	static volatile off_t reported;
	static volatile int jumps, before;
	static volatile int i;
	int fd = made("jump");

	every(1000, jump_out);
	for (i = 0; i < rounds; i++) {
		off_t at;

		if (!sigsetjmp(out, 1)) {
			inside = 1;
			must_write(fd, BLOCK_BYTES);
			inside = 0;
			reported += BLOCK_BYTES;
			continue;
		}
		inside = 0;
		jumps++;
		at = lseek(fd, 0, SEEK_CUR);
		if (at != reported && at != reported + BLOCK_BYTES)
			wrong("after a jump at %jd, %jd reported", (intmax_t)at,
			      (intmax_t)reported);
		before += at == reported;
		reported = at;
	}
	no_more();
	must_write(fd, LARGE_BYTES);
	if (size_of("jump") != reported + LARGE_BYTES)
		wrong("%jd bytes there", (intmax_t)size_of("jump"));
	printf("%d jumps, %d before the write\n", jumps, before);
}

static int handler_fd;
static atomic_long handler_bytes;

static void write_more(int signal)
{
	int saved_errno = errno;

	(void)signal;
	if (write(handler_fd, data, 4096) != 4096)
		_exit(3);
	handler_bytes += 4096;
	errno = saved_errno;
}

static void handler(void)
{
	int fd = made("handled");

	handler_fd = made("handler");
	every(1000, write_more);
	for (int i = 0; i < rounds; i++) {
		if (i % 1024 == 1023) /* no more than the device has room for */
			lseek(fd, 0, SEEK_SET);
		must_write(fd, i % 16 ? BLOCK_BYTES : LARGE_BYTES);
	}
	no_more();
	if (size_of("handler") != handler_bytes || !handler_bytes)
		wrong("%jd bytes of the handler there of %ld",
		      (intmax_t)size_of("handler"), handler_bytes);
	printf("%ld writes in the handler\n", handler_bytes / 4096);
}

/* ---- threads ---- */

static atomic_bool stop;

static void *write_on(void *name)
{
	int fd = made(name);

	for (int i = 0; !stop; i++) {
		must_write(fd, 4096);
		if (i % 256 == 255 && ftruncate(fd, 0))
			wrong("ftruncate: %s", strerror(errno));
	}
	close(fd);
	return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
	int error = pthread_create(thread, NULL, body, argument);

	if (error)
		wrong("pthread_create: %s", strerror(error));
}

static void forks(void)
{
	pthread_t writers[2];

	start(&writers[0], write_on, (void *)(uintptr_t) "writer 0");
	start(&writers[1], write_on, (void *)(uintptr_t) "writer 1");
	for (int i = 0; i < rounds; i++) {
		pid_t pid = fork();

		if (pid < 0)
			wrong("fork: %s", strerror(errno));
		if (!pid) {
			int fd = made("forked");

			must_write(fd, 8192);
			if (close(fd))
				_exit(4);
			_exit(0);
		}
		must_end(pid, 0);
	}
	stop = true;
	pthread_join(writers[0], NULL);
	pthread_join(writers[1], NULL);
}

static int shared_fd;

static void *write_once(void *unused)
{
	must_write(shared_fd, 4096);
	return unused;
}

static void threads(void)
{
	pthread_t pair[2];

	shared_fd = open("shared", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	for (int i = 0; i < rounds; i += 2) {
		start(&pair[0], write_once, NULL);
		start(&pair[1], write_once, NULL);
		pthread_join(pair[0], NULL);
		pthread_join(pair[1], NULL);
	}
	if (size_of("shared") != (off_t)rounds * 4096)
		wrong("%jd bytes there", (intmax_t)size_of("shared"));
}

static atomic_long reported_bytes;
static atomic_int writer_id;
static size_t write_bytes;

static void *write_until_cancelled(void *unused)
{
	writer_id = (int)syscall(SYS_gettid);
	for (;;) {
		must_write(shared_fd, write_bytes);
		reported_bytes += (long)write_bytes;
	}
	return unused;
}

/* Is the writer asleep in a pause? Plain it never is, there anything will do. */
static bool sleeps(void)
{
	char path[64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", writer_id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		wrong("%s: %s", path, strerror(errno));
	close(fd);
	return atoi(text) == SYS_nanosleep || atoi(text) == SYS_ppoll;
}

/*
 * Cancelled in a pause, or in the middle of a call in pieces: what is there was reported, save
 * for one call that returned and could not say so any more, as with libc's own.
 */
static void cancel(void)
{
	int asleep = 0, whole = 0;
	bool sleeping;

	for (int i = 0; i < rounds; i++) {
		pthread_t writer;
		void *result;
		off_t at;

		shared_fd = made("cancelled");
		reported_bytes = 0;
		writer_id = 0;
		write_bytes = i % 2 ? LARGE_BYTES : BLOCK_BYTES;
		start(&writer, write_until_cancelled, NULL);
		while (!writer_id || reported_bytes < LARGE_BYTES)
			sched_yield();
		sleeping = false;
		while (!sleeping && reported_bytes < ENOUGH_BYTES)
			sleeping = sleeps();
		asleep += sleeping;
		pthread_cancel(writer);
		pthread_join(writer, &result);
		at = lseek(shared_fd, 0, SEEK_CUR);
		if (result != PTHREAD_CANCELED)
			wrong("not cancelled");
		if (at != reported_bytes && at != reported_bytes + (off_t)write_bytes)
			wrong("%jd bytes there, %ld reported, in calls of %zu",
			      (intmax_t)at, reported_bytes, write_bytes);
		whole += at != reported_bytes;
		unlink("cancelled"); /* nobody waits for it at its close */
		close(shared_fd);
	}
	printf("%d of %d asleep, %d whole calls not reported\n", asleep, rounds, whole);
}

static void *leave_soon(void *way)
{
	usleep(20000);
	if (!strcmp(way, "exit"))
		exit(7);
	if (!strcmp(way, "quick"))
		quick_exit(7);
	if (!strcmp(way, "group"))
		syscall(SYS_exit_group, 7);
	abort();
}

/* The process ends while two threads write: by each way, with its own status. */
static void leave(void)
{
	static const char *const ways[] = { "exit", "quick", "group", "abort" };

	for (int i = 0; i < rounds; i++) {
		const char *way = ways[i % 4];
		pid_t pid = fork();

		if (!pid) {
			struct rlimit none = { 0 };
			pthread_t writers[2], leaver;

			setrlimit(RLIMIT_CORE, &none);
			start(&writers[0], write_on, (void *)(uintptr_t) "leaving 0");
			start(&writers[1], write_on, (void *)(uintptr_t) "leaving 1");
			start(&leaver, leave_soon, (void *)(uintptr_t)way);
			for (;;)
				pause();
		}
		must_end(pid, *way == 'a' ? SIGABRT : 7 << 8);
	}
}

/* ---- processes ---- */

/* Its parent waits for it: it must not sleep, however much is owed. */
static void vforks(void)
{
	int fd = made("vforked");
	static volatile long switches;
	off_t bytes = 0;
	int status;

	for (int i = 0; i < rounds; i++) {
		pid_t pid;

		for (int j = 0; j < 16; j++, bytes += BLOCK_BYTES)
			must_write(fd, BLOCK_BYTES);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
		pid = vfork();
#pragma GCC diagnostic pop
		if (!pid) {
			static struct rusage usage;

			for (int j = 0; j < 16; j++) {
				if (write(fd, data, BLOCK_BYTES) != BLOCK_BYTES)
					_exit(2);
			}
			getrusage(RUSAGE_SELF, &usage);
			switches += usage.ru_nvcsw;
			dup2(fd, 100);
			close(100);
			execlp("true", "true", (char *)NULL);
			_exit(127);
		}
		bytes += 16 * BLOCK_BYTES;
		if (waitpid(pid, &status, 0) != pid || status)
			wrong("vfork child: %#x", (unsigned)status);
	}
	if (size_of("vforked") != bytes)
		wrong("%jd bytes there", (intmax_t)size_of("vforked"));
	printf("%ld times left the processor in %d children\n", switches, rounds);
	if (switches > 3L * rounds)
		wrong("vfork children slept");
}

static void spawns(void)
{
	static char name[] = "sh", option[] = "-c", line[] = "echo 23456; echo 7 >&9";
	char *arguments[] = { name, option, line, NULL };

	for (int i = 0; i < rounds; i++) {
		posix_spawn_file_actions_t actions;
		int fd = made("spawned 9");
		pid_t pid;

		must_write(fd, 4096);
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_addopen(&actions, 1, "spawned 1",
						 O_WRONLY | O_CREAT | O_TRUNC, 0644);
		posix_spawn_file_actions_adddup2(&actions, fd, 9);
		posix_spawn_file_actions_addclose(&actions, 0);
		if (posix_spawnp(&pid, "sh", &actions, NULL, arguments, environ))
			wrong("posix_spawn");
		posix_spawn_file_actions_destroy(&actions);
		must_end(pid, 0);
		must_write(fd, 4096);
		if (size_of("spawned 1") != 6 || size_of("spawned 9") != 8194)
			wrong("%jd and %jd bytes there", (intmax_t)size_of("spawned 1"),
			      (intmax_t)size_of("spawned 9"));
		close(fd);
	}
}

static int clone_body(void *unused)
{
	int fd = made("cloned");

	(void)unused;
	must_write(fd, 300000);
	return close(fd) ? 1 : 5;
}

/* Through syscall() with six arguments, through clone(), with and without its parent's memory. */
static void clones(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	for (int i = 0; i < rounds; i++) {
		static const int flags[] = { 0, CLONE_VM | CLONE_VFORK, CLONE_FS };
		int way = i % 4;
		pid_t pid;

		if (way == 3)
			pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0L, NULL, NULL, 0L, 0L);
		else
			pid = clone(clone_body, stack + sizeof(stack),
				    flags[way] | SIGCHLD, NULL);
		if (pid < 0)
			wrong("clone: %s", strerror(errno));
		if (!pid)
			_exit(clone_body(NULL));
		must_end(pid, 5 << 8);
		if (size_of("cloned") != 300000)
			wrong("%jd bytes there", (intmax_t)size_of("cloned"));
	}
}

/*
 * The sixth argument, an offset beyond the file's first page, arrives. No SYS_vfork here: libc's
 * own syscall() loses its return address to the child.
 */
static void numbers(void)
{
#ifdef SYS_mmap2
	const long number = SYS_mmap2, offset = 1;
#else
	const long number = SYS_mmap, offset = 4096;
#endif
	int fd = made("mapped");
	const char *map;

	data[4096] = 'x';
	must_write(fd, 8192);
	map = (const char *)syscall(number, 0L, 4096L, 1L, 2L, (long)fd, offset);
	if ((intptr_t)map == -1 || *map != 'x')
		wrong("six arguments");
	if (syscall(-1L) != -1 || errno != ENOSYS)
		wrong("no such call");
}

/* ---- */

static const struct {
	const char *name;
	void (*run)(void);
	int rounds;
} cases[] = {
	{ "timer", timer, 60 },        { "jump", jump, 400 },
	{ "handler", handler, 200 },   { "forks", forks, 500 },
	{ "threads", threads, 10000 }, { "cancel", cancel, 12 },
	{ "leave", leave, 20 },        { "vforks", vforks, 8 },
	{ "spawns", spawns, 50 },      { "clones", clones, 40 },
	{ "numbers", numbers, 1 },
};

int main(int argc, char **argv)
{
	if (argc < 3 || chdir(argv[2]))
		return 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(cases[i].name, argv[1]))
			continue;
		rounds = argc > 3 ? atoi(argv[3]) : cases[i].rounds;
		if (strcmp(argv[1], "timer") && strcmp(argv[1], "jump") &&
		    strcmp(argv[1], "handler"))
			alarm(LIMIT_S);
		cases[i].run();
		return 0;
	}
	return 2;
}
