/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors, locks, streams and sandboxes of a paced program. Each case writes to files of
 * DIRECTORY, says what is wrong, and exits 0 where nothing is: run by test/shim/hazards.sh, plain
 * and paced.
 *
 * Usage: manners CASE DIRECTORY [ARGUMENT]
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK_BYTES 65536
#define LARGE_BYTES (1 << 20)
#define NOBODY 65534

static char data[LARGE_BYTES] __attribute__((aligned(4096)));
static const char *argument;

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

static int made_as(const char *name, int flags)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | flags, 0644);

	if (fd < 0)
		wrong("%s: %s", name, strerror(errno));
	return fd;
}

static int made(const char *name)
{
	return made_as(name, 0);
}

static void must_write(int fd, size_t bytes)
{
	ssize_t r = write(fd, data, bytes);

	if (r != (ssize_t)bytes)
		wrong("write of %zu to %d: %zd, %s", bytes, fd, r, strerror(errno));
}

/* In calls of both kinds, in all @mib MiB. */
static void write_mib(int fd, int mib)
{
	for (int i = 0; i < mib; i++) {
		if (i % 2)
			must_write(fd, LARGE_BYTES);
		else
			for (int j = 0; j < LARGE_BYTES / BLOCK_BYTES; j++)
				must_write(fd, BLOCK_BYTES);
	}
}

static void must_have(const char *name, off_t bytes)
{
	struct stat st;

	if (stat(name, &st) || st.st_size != bytes)
		wrong("%s: %jd bytes, wanted %jd", name, (intmax_t)st.st_size,
		      (intmax_t)bytes);
}

static int ended(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		wrong("no child");
	return status;
}

/* ---- descriptors ---- */

static void close_each(void)
{
	for (int fd = 0; fd < 256; fd++)
		close(fd);
}

#ifdef __GLIBC__
static void close_from(void)
{
	closefrom(0);
}

static void close_all(void)
{
	close_range(0, ~0U, 0);
}
#else /* musl has neither */
#define close_from close_each
#define close_all close_each
#endif

static void close_numbered(void)
{
	syscall(SYS_close_range, 0L, (long)~0U, 0L);
}

/* A daemon closes all it finds; what it opens then has the lowest numbers. */
static void daemons(void)
{
	static void (*const ways[])(void) = { close_each, close_from, close_all,
					      close_numbered };

	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (!pid) {
			write_mib(made("before"), 2);
			ways[i]();
			if (made("after") != 0 || made("more") != 1)
				_exit(2);
			for (int j = 0; j < 32; j++) {
				if (write(j % 2, data, BLOCK_BYTES) != BLOCK_BYTES)
					_exit(3);
			}
			_exit(0);
		}
		if (ended(pid))
			wrong("way %d", i);
		must_have("before", 2 * LARGE_BYTES);
		must_have("after", 16 * BLOCK_BYTES);
		must_have("more", 16 * BLOCK_BYTES);
	}
}

/* What is open, before and after writing; and the number that the next one gets. */
static void numbers(void)
{
	char path[32], target[256];

	write_mib(made("numbers"), 4);
	for (int fd = 0; fd < 256; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		if (n >= 0)
			printf("%d %.*s\n", fd, fd > 2 ? (int)n : 0, target);
	}
	printf("next %d\n", made("numbers 2"));
}

static void few(void)
{
	struct rlimit four = { 4, 4 };

	if (setrlimit(RLIMIT_NOFILE, &four))
		wrong("setrlimit");
	write_mib(made("few"), 8);
	if (open("none", O_WRONLY | O_CREAT, 0644) >= 0 || errno != EMFILE)
		wrong("a fifth");
	must_have("few", 8 * LARGE_BYTES);
}

/* libc's own function, as code inside of libc calls it. */
static int libc_dup2(int from, int to)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	int (*function)(int, int) = NULL;

	if (libc)
		*(void **)&function = dlsym(libc, "dup2");
	return function ? function(from, to) : dup2(from, to);
}

/* ARGUMENT: a directory on another device. A file there under a number that was another's. */
static void replaced(void)
{
	int fd = made("replaced");
	char name[512];

	snprintf(name, sizeof(name), "%s/replaced.%d", argument, (int)getpid());
	write_mib(fd, 2);
	libc_dup2(made(name), fd);
	write_mib(fd, 8);
	must_have("replaced", 2 * LARGE_BYTES);
	must_have(name, 8 * LARGE_BYTES);
	unlink(name);
}

static void pass(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec one = { data, 1 };
	struct msghdr message = { .msg_iov = &one,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) != 1)
		wrong("sendmsg");
}

static int taken(int socket)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	char byte;
	struct iovec one = { &byte, 1 };
	struct msghdr message = { .msg_iov = &one,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(socket, &message, 0) != 1)
		wrong("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static void passed(void)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		wrong("socketpair");
	pid = fork();
	if (!pid) {
		write_mib(taken(pair[1]), 8);
		_exit(0);
	}
	pass(pair[0], made("passed"));
	if (ended(pid))
		wrong("child");
	must_have("passed", 8 * LARGE_BYTES);
}

/* Nothing that becomes dirty: ARGUMENT is a directory in memory. */
static void *drain(void *fd)
{
	static char sink[BLOCK_BYTES];

	while (read((int)(intptr_t)fd, sink, sizeof(sink)) > 0)
		;
	return NULL;
}

static void classes(void)
{
	int ends[2], pair[2];
	pthread_t readers[2];
	char name[512];

	snprintf(name, sizeof(name), "%s/class.%d", argument, (int)getpid());
	if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		wrong("pipe");
	pthread_create(&readers[0], NULL, drain, (void *)(intptr_t)ends[0]);
	pthread_create(&readers[1], NULL, drain, (void *)(intptr_t)pair[0]);
	for (int i = 0; i < 4 * LARGE_BYTES / BLOCK_BYTES; i++) {
		must_write(ends[1], BLOCK_BYTES);
		must_write(pair[1], BLOCK_BYTES);
	}
	close(ends[1]);
	close(pair[1]);
	pthread_join(readers[0], NULL);
	pthread_join(readers[1], NULL);
	write_mib(memfd_create("class", 0), 4);
	write_mib(open("/dev/null", O_WRONLY), 4);
	write_mib(made(name), 4);
	unlink(name);
	write_mib(made_as("direct", O_DIRECT), 4);
	write_mib(made_as("sync", O_DSYNC), 4);
}

/* ---- locks ---- */

static int other_sees_lock(void)
{
	pid_t pid = fork();

	if (!pid) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		int fd = open("locked", O_RDWR);
		bool file = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

		_exit(fcntl(fd, F_GETLK, &lock) ? 64 :
						  (lock.l_type == F_WRLCK) + 2 * file);
	}
	return WEXITSTATUS(ended(pid));
}

/* Who opens the file breaks it, and the signal for that ends a program that expects none. */
static void keep_lease(void)
{
	int fd = made("leased");

	if (fcntl(fd, F_SETLEASE, F_WRLCK))
		return;
	write_mib(fd, 8);
	if (fcntl(fd, F_GETLEASE) != F_WRLCK)
		wrong("a lease is broken");
	close(fd);
}

static void locks(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = made("locked");

	if (fcntl(fd, F_SETLK, &lock) || flock(fd, LOCK_EX))
		wrong("cannot lock");
	write_mib(fd, 8);
	if (other_sees_lock() != 3)
		wrong("lost while writing: %d", other_sees_lock());
	fsync(fd);
	if (other_sees_lock() != 3)
		wrong("lost by fsync");
	close(fd);
	if (other_sees_lock())
		wrong("kept after close: %d", other_sees_lock());
	keep_lease();
}

/* What was built can be executed at once. ARGUMENT is a program. */
static void build(void)
{
	for (volatile int i = 0; i < 20; i++) {
		int from = open(argument, O_RDONLY);
		int to = made("program");
		ssize_t n;
		pid_t pid;

		while ((n = read(from, data, sizeof(data))) > 0)
			must_write(to, (size_t)n);
		fchmod(to, 0755);
		close(from);
		close(to);
		pid = vfork();
		if (!pid) {
			execl("program", "program", (char *)NULL);
			_exit(errno == ETXTBSY ? 26 : 127);
		}
		if (ended(pid))
			wrong("round %d: busy", i);
		unlink("program");
	}
}

/* ---- streams ---- */

static FILE *stream(const char *name)
{
	FILE *file = fopen(name, "w");

	if (!file)
		wrong("%s", name);
	return file;
}

/* 4 MiB by each; the last is left to exit(). */
static void streams(void)
{
	FILE *file = stream("fwrite");

	for (int i = 0; i < 4 * LARGE_BYTES / 1000; i++)
		fwrite(data, 1, 1000, file);
	fclose(file);
	file = stream("putc");
	for (int i = 0; i < 4 * LARGE_BYTES; i++)
		putc('x', file);
	fclose(file);
	file = stream("fprintf");
	for (int i = 0; i < 4 * LARGE_BYTES / 64; i++)
		fprintf(file, "%063d\n", i);
	fclose(file);
	file = stream("left");
	for (int i = 0; i < 4 * LARGE_BYTES / 64; i++)
		fputs("a line of sixty-four bytes, its end included: 123456789 1234567\n",
		      file);
}

/* Some of everything, for allocators and sanitizers. */
static void *work_on(void *name)
{
	FILE *file = stream(name);

	for (int i = 0; i < 2000; i++) {
		char *line = malloc(1000);

		memset(line, 'a' + i % 26, 1000);
		fwrite(line, 1, 1000, file);
		free(line);
	}
	fclose(file);
	return NULL;
}

static void work(void)
{
	static char names[2][8] = { "work 0", "work 1" };
	pthread_t threads[2];
	pid_t pid = fork();

	if (!pid) {
		work_on((void *)(uintptr_t) "work 2");
		exit(0);
	}
	if (ended(pid))
		wrong("child");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work_on, names[i]);
	write_mib(made("work"), 4);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	must_have("work", 4 * LARGE_BYTES);
	must_have("work 0", 2000000);
	must_have("work 2", 2000000);
	printf("worked\n");
}

/* ---- sandboxes ---- */

#define ALLOW(number)                                      \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Every call but these ends the process. */
static struct sock_filter killer[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_write),
	ALLOW(SYS_close),
	ALLOW(SYS_exit_group),
	ALLOW(SYS_seccomp),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

/* These fail, all else goes on. */
#define REFUSE(number)                                     \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
static struct sock_filter refuser[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	REFUSE(SYS_getrusage),
	REFUSE(451), /* cachestat */
	REFUSE(SYS_sync_file_range),
	REFUSE(SYS_clock_nanosleep),
	REFUSE(SYS_rt_sigprocmask),
	REFUSE(SYS_fcntl),
	REFUSE(SYS_getpid),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

#define PROGRAM(code)                                                 \
	{                                                             \
		.len = sizeof(code) / sizeof(*(code)), .filter = code \
	}
static struct sock_fprog kill_program = PROGRAM(killer);
static struct sock_fprog refuse_program = PROGRAM(refuser);

static void filter(bool numbered)
{
	int fd = made("filtered");

	write_mib(fd, 4);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (numbered)
		syscall(SYS_seccomp, (long)SECCOMP_SET_MODE_FILTER, 0L, &kill_program);
	else
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &kill_program, 0, 0);
	write_mib(fd, 4);
	close(fd);
	_exit(0);
}

static void filter_prctl(void)
{
	filter(false);
}

static void filter_numbered(void)
{
	filter(true);
}

/* Execute ARGUMENT's program under a filter: it was there before us. */
static void filter_before(void)
{
	static char name[] = "manners", way[] = "streams", here[] = ".";
	char *arguments[] = { name, way, here, NULL };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &refuse_program, 0, 0);
	execv(argument, arguments);
	wrong("execv");
}

/* The same with one that ends the program: ARGUMENT, the wrapper, must say so. */
static struct sock_filter ender[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync_file_range, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static struct sock_fprog end_program = PROGRAM(ender);

static void filter_end(void)
{
	static char name[] = "writepace", command[] = "true";
	char *arguments[] = { name, command, NULL };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &end_program, 0, 0);
	execv(argument, arguments);
	wrong("execv");
}

static void landlock(void)
{
	struct landlock_ruleset_attr rules = { .handled_access_fs =
						       LANDLOCK_ACCESS_FS_WRITE_FILE |
						       LANDLOCK_ACCESS_FS_READ_FILE };
	int fd = made("landlocked");
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules,
				   (long)sizeof(rules), 0L);

	if (ruleset < 0)
		_exit(77);
	write_mib(fd, 4);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_landlock_restrict_self, (long)ruleset, 0L))
		wrong("landlock");
	write_mib(fd, 4);
	if (open("landlocked", O_RDONLY) >= 0)
		wrong("not restricted");
	must_have("landlocked", 8 * LARGE_BYTES);
}

/* Capabilities, then groups and users, given up in mid-run. */
static void rights(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { 0 };
	int fd = made("rights");

	write_mib(fd, 2);
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		wrong("cannot give up");
	write_mib(fd, 2);
	if (syscall(SYS_capset, &header, none))
		wrong("capset");
	write_mib(fd, 4);
	must_have("rights", 8 * LARGE_BYTES);
}

/* ---- past the library ---- */

/* ARGUMENT: a plug-in with write_out(fd, data, bytes). It binds past every preloaded library. */
static void plug_in(void *library)
{
	ssize_t (*write_out)(int, const void *, size_t) = NULL;
	int fd = made("plugged");

	if (!library)
		wrong("%s", dlerror());
	*(void **)&write_out = dlsym(library, "write_out");
	write_mib(fd, 1);
	for (int i = 0; i < 8; i++) {
		if (write_out(fd, data, LARGE_BYTES) != LARGE_BYTES)
			wrong("plug-in");
	}
	for (int i = 0; i < 4; i++)
		must_write(fd, BLOCK_BYTES);
	must_have("plugged", 9 * LARGE_BYTES + 4 * BLOCK_BYTES);
}

#ifdef RTLD_DEEPBIND
static void deepbind(void)
{
	plug_in(dlopen(argument, RTLD_NOW | RTLD_DEEPBIND));
}

static void namespaces(void)
{
	plug_in(dlmopen(LM_ID_NEWLM, argument, RTLD_NOW));
}
#else
static void deepbind(void)
{
	plug_in(NULL);
}

static void namespaces(void)
{
	plug_in(NULL);
}
#endif

/* Which files are mapped? For a program that must not have been looked at. */
static void maps(void)
{
	char line[512];
	FILE *file = fopen("/proc/self/maps", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, "/segment"))
			printf("segment\n");
		if (strstr(line, "libwritepace") && strstr(line, " r-xp "))
			printf("library\n");
	}
}

/* Past 4 GiB, on systems of 32 bits too. */
static void beyond(void)
{
	int fd = made_as("beyond", O_LARGEFILE);
	struct stat64 st;

	if (pwrite64(fd, data, BLOCK_BYTES, 5LL << 30) != BLOCK_BYTES)
		wrong("pwrite64: %s", strerror(errno));
	if (lseek64(fd, 6LL << 30, SEEK_SET) != 6LL << 30)
		wrong("lseek64");
	write_mib(fd, 4);
	if (pwritev64(fd, &(struct iovec){ data, LARGE_BYTES }, 1, 7LL << 30) !=
	    LARGE_BYTES)
		wrong("pwritev64: %s", strerror(errno));
	if (fstat64(fd, &st) || st.st_size != (7LL << 30) + LARGE_BYTES)
		wrong("%jd bytes", (intmax_t)st.st_size);
	if (ftruncate64(fd, 6LL << 30) || fstat64(fd, &st) || st.st_size != 6LL << 30)
		wrong("ftruncate64");
}

/* What the program's own off_t can reach, and what is said of the rest. */
static void own_offsets(void)
{
	int fd = made("own offsets");
	off_t at =
		(off_t)(UINT32_MAX / 2 - BLOCK_BYTES / 2); /* the block ends past 2 GiB */

	errno = 0;
	printf("offsets of %zu bits, pwrite %zd", 8 * sizeof(off_t),
	       pwrite(fd, data, BLOCK_BYTES, at));
	printf(" errno %d, lseek %jd", errno, (intmax_t)lseek(fd, at, SEEK_SET));
	for (int i = 0; i < 3; i++) {
		errno = 0;
		printf(", write %zd", write(fd, data, BLOCK_BYTES));
		printf(" errno %d", errno);
	}
	printf("\n");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "daemons", daemons },
	{ "numbers", numbers },
	{ "few", few },
	{ "replaced", replaced },
	{ "passed", passed },
	{ "classes", classes },
	{ "locks", locks },
	{ "build", build },
	{ "streams", streams },
	{ "work", work },
	{ "filter-prctl", filter_prctl },
	{ "filter-numbered", filter_numbered },
	{ "filter-before", filter_before },
	{ "filter-end", filter_end },
	{ "landlock", landlock },
	{ "rights", rights },
	{ "deepbind", deepbind },
	{ "namespaces", namespaces },
	{ "maps", maps },
	{ "beyond", beyond },
	{ "own-offsets", own_offsets },
};

/* Constructors are over: whoever watches the library (strict.c) may begin. */
static void tell_watcher(void)
{
	void (*begin)(void) = NULL;

	*(void **)&begin = dlsym(RTLD_DEFAULT, "strict_begin");
	if (begin)
		begin();
}

int main(int argc, char **argv)
{
	if (argc < 3 || chdir(argv[2]))
		return 2;
	tell_watcher();
	argument = argc > 3 ? argv[3] : "";
	memset(data, 'd', sizeof(data));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(cases[i].name, argv[1]))
			continue;
		cases[i].run();
		return 0;
	}
	return 2;
}
