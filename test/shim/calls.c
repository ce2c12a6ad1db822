/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes every kind of interposed call in a directory and prints what each returned, its errno
 * and where the file's offset stands after it. Run plain and paced, the two outputs must be
 * equal to the byte: that is the oracle, libc and the kernel are the reference.
 *
 * Usage: calls DIRECTORY
 *        calls full DIRECTORY	until there is no space left, by each family: the bytes reported
 *				and the bytes there, how many fit is the file system's affair
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#define LARGE_BYTES (5u << 20) /* larger than any piece at the start */
#define POISON 4242            /* an errno that no call sets */

static unsigned char *large;
/* Why volatile: the compiler must not see that these calls are wrong. */
static volatile int too_many = IOV_MAX + 1;
static volatile int negative = -1;
static void *volatile nowhere = (void *)8;
static volatile sig_atomic_t caught_xfsz;

static void fill(void)
{
	uint32_t state = 2463534242u;

	large = malloc(LARGE_BYTES);
	if (!large)
		exit(2);
	for (size_t i = 0; i < LARGE_BYTES; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		large[i] = (unsigned char)state;
	}
}

/* A sum over the file from its beginning, whatever its offset. */
static uint64_t file_sum(int fd)
{
	unsigned char part[4096];
	uint64_t sum = 1469598103934665603u;
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, part, sizeof(part), at)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			sum = (sum ^ part[i]) * 1099511628211u;
		at += got;
	}
	return sum;
}

static void say(const char *what, int64_t result, int error, int fd)
{
	struct stat st = { 0 };

	fstat(fd, &st);
	printf("%s: %" PRId64 " errno %s offset %jd size %jd sum %016" PRIx64
	       " xfsz %d\n",
	       what, result, error == POISON ? "untouched" : strerrorname_np(error),
	       (intmax_t)lseek(fd, 0, SEEK_CUR), (intmax_t)st.st_size, file_sum(fd),
	       (int)caught_xfsz);
	caught_xfsz = 0;
}

#define TRY(what, fd, call)                   \
	do {                                  \
		int64_t result;               \
                                              \
		errno = POISON;               \
		result = (int64_t)(call);     \
		say(what, result, errno, fd); \
	} while (0)

static int fresh(int flags)
{
	int fd;

	unlink("file");
	fd = open("file", O_RDWR | O_CREAT | O_TRUNC | flags, 0644);
	if (fd < 0)
		exit(2);
	return fd;
}

static void buffers(void)
{
	struct iovec parts[] = {
		{ .iov_base = large, .iov_len = 3 },
		{ .iov_base = large + 100, .iov_len = 0 },
		{ .iov_base = large + 1000, .iov_len = LARGE_BYTES - 1000 },
		{ .iov_base = large, .iov_len = 70001 },
	};
	int fd = fresh(0);

	TRY("write small", fd, write(fd, large, 10));
	TRY("write nothing", fd, write(fd, large, 0));
	TRY("write large", fd, write(fd, large, LARGE_BYTES));
	TRY("pwrite large", fd, pwrite(fd, large, LARGE_BYTES, 12345));
	TRY("pwrite at -1", fd, pwrite(fd, large, LARGE_BYTES, -1));
	TRY("pwrite at the end of all", fd,
	    pwrite(fd, large, LARGE_BYTES, INT64_MAX - 100));
	TRY("writev large", fd, writev(fd, parts, 4));
	TRY("pwritev large", fd, pwritev(fd, parts, 4, 777));
	TRY("pwritev at -1", fd, pwritev(fd, parts, 4, -1));
	TRY("pwritev2 at -1", fd, pwritev2(fd, parts, 4, -1, 0));
	TRY("pwritev2 bad flag", fd, pwritev2(fd, parts, 4, -1, 0x4000000));
	TRY("writev no vector", fd, writev(fd, parts, 0));
	TRY("writev too many", fd, writev(fd, parts, too_many));
	TRY("writev negative", fd, writev(fd, parts, negative));
	TRY("write bad address", fd, write(fd, nowhere, LARGE_BYTES));
	close(fd);
}

static void appends(void)
{
	int fd = fresh(O_APPEND);

	TRY("append record", fd, write(fd, large, 900000));
	TRY("append large", fd, write(fd, large, LARGE_BYTES));
	TRY("append pwrite", fd, pwrite(fd, large, 200000, 0));
	close(fd);
	fd = open("file", O_RDONLY);
	TRY("write read-only", fd, write(fd, large, LARGE_BYTES));
	close(fd);
	fd = open("file", O_RDWR | O_SYNC);
	TRY("write O_SYNC", fd, write(fd, large, 100000));
	close(fd);
}

static void on_xfsz(int number)
{
	(void)number;
	caught_xfsz++;
}

/* A limit inside a piece and one on its edge: a plain call returns short, without a signal. */
static void file_size_limit(void)
{
	static const rlim_t limits[] = { 1000000, 1 << 20, 3 << 20, (3 << 20) + 1 };
	struct sigaction action = { .sa_handler = on_xfsz };
	struct rlimit old;
	int fd;

	sigaction(SIGXFSZ, &action, NULL);
	getrlimit(RLIMIT_FSIZE, &old);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit limit = { .rlim_cur = limits[i], .rlim_max = old.rlim_max };

		fd = fresh(0);
		setrlimit(RLIMIT_FSIZE, &limit);
		TRY("write up to the limit", fd, write(fd, large, LARGE_BYTES));
		TRY("write beyond the limit", fd, write(fd, large, LARGE_BYTES));
		setrlimit(RLIMIT_FSIZE, &old);
		close(fd);
	}
}

static int64_t copy_all(ssize_t (*copy)(int, int, size_t), int in, int out)
{
	int64_t total = 0;
	ssize_t got;

	while ((got = copy(in, out, (size_t)1 << 30)) > 0)
		total += got;
	return got < 0 ? got : total;
}

static ssize_t by_sendfile(int in, int out, size_t n)
{
	return sendfile(out, in, NULL, n);
}

static ssize_t by_copy_file_range(int in, int out, size_t n)
{
	return copy_file_range(in, NULL, out, NULL, n, 0);
}

/* Short results are legal there, so totals are compared. */
static void copies(void)
{
	off64_t at = 4096;
	int in = open("source", O_RDWR | O_CREAT | O_TRUNC, 0644);
	int out = fresh(0);

	if (in < 0 || write(in, large, LARGE_BYTES) != LARGE_BYTES)
		exit(2);
	lseek(in, 0, SEEK_SET);
	TRY("sendfile all", out, copy_all(by_sendfile, in, out));
	lseek(in, 0, SEEK_SET);
	TRY("copy_file_range all", out, copy_all(by_copy_file_range, in, out));
	TRY("sendfile at", out, sendfile(out, in, &at, 1000));
	printf("at %jd\n", (intmax_t)at);
	TRY("copy_file_range same range", out,
	    copy_file_range(out, NULL, out, NULL, 10, 0));
	TRY("copy_file_range bad flag", out,
	    copy_file_range(in, NULL, out, NULL, 10, 77));
	TRY("sendfile to a closed descriptor", out, sendfile(999, in, NULL, 10));
	close(in);
	close(out);
}

/* A buffer with a page missing in its middle: the bytes before it are written. */
static void faults(void)
{
	unsigned char *holed = mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec parts[] = {
		{ .iov_base = large, .iov_len = 400000 },
		{ .iov_base = holed, .iov_len = LARGE_BYTES },
	};
	int fd = fresh(0);

	if (holed == MAP_FAILED)
		exit(2);
	memcpy(holed, large, LARGE_BYTES);
	munmap(holed + (3u << 20) + 4096, 4096);
	TRY("write with a hole", fd, write(fd, holed, LARGE_BYTES));
	TRY("pwrite with a hole", fd, pwrite(fd, holed, LARGE_BYTES, 4096));
	TRY("writev with a hole", fd, writev(fd, parts, 2));
	TRY("write from the hole", fd,
	    write(fd, holed + (3u << 20) + 4096, LARGE_BYTES - (4u << 20)));
	munmap(holed + LARGE_BYTES - 4096, 4096);
	TRY("write with an end missing", fd, write(fd, holed, LARGE_BYTES));
	munmap(holed, LARGE_BYTES);
	close(fd);
}

/* Offsets of the caller's move, those of the descriptors do not. */
static void offsets(void)
{
	int in = open("source", O_RDONLY);
	int out = fresh(0);
	off64_t from = 100;
	off64_t to = 5000;
	int64_t total = 0;
	ssize_t got;
	int ends[2];

	while ((got = copy_file_range(in, &from, out, &to, (size_t)1 << 30, 0)) > 0)
		total += got;
	TRY("copy_file_range by offsets", out, got < 0 ? got : total);
	printf("from %jd to %jd\n", (intmax_t)from, (intmax_t)to);
	from = 4000000;
	total = 0;
	while ((got = sendfile(out, in, &from, (size_t)1 << 30)) > 0)
		total += got;
	TRY("sendfile by offset", out, got < 0 ? got : total);
	printf("from %jd\n", (intmax_t)from);
	if (pipe(ends) || write(ends[1], large, 60000) != 60000)
		exit(2);
	to = 123;
	TRY("splice by offset", out, splice(ends[0], NULL, out, &to, 30000, 0));
	printf("to %jd\n", (intmax_t)to);
	TRY("splice", out, splice(ends[0], NULL, out, NULL, 30000, 0));
	from = 7;
	TRY("splice with an offset of the pipe", out,
	    splice(ends[0], &from, out, NULL, 10, 0));
	close(ends[1]);
	TRY("splice at the end", out, splice(ends[0], NULL, out, NULL, 1 << 30, 0));
	TRY("copy_file_range bad offset", out,
	    copy_file_range(in, nowhere, out, &to, 10, 0));
	close(ends[0]);
	close(in);
	close(out);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

/* A signal every millisecond, without SA_RESTART: writes to files know no EINTR. */
static void storms(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval each = { { 0, 1000 }, { 0, 1000 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct iovec parts[] = {
		{ .iov_base = large, .iov_len = 1000000 },
		{ .iov_base = large + 1000000, .iov_len = LARGE_BYTES - 1000000 },
	};
	int fd = fresh(0);
	int64_t total = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; i < 3; i++)
		total += write(fd, large, LARGE_BYTES);
	TRY("write in a storm", fd, total);
	TRY("pwritev in a storm", fd, pwritev(fd, parts, 2, 99));
	for (size_t at = 0; at < LARGE_BYTES; at += 65536) {
		if (write(fd, large + at, 65536) != 65536)
			total = -1;
	}
	TRY("small writes in a storm", fd, total);
	setitimer(ITIMER_REAL, &never, NULL);
	TRY("signals were handled", fd, alarms > 0);
	close(fd);
}

static void descriptors(void)
{
	int fd = fresh(0);
	int other;

	TRY("write", fd, write(fd, large, LARGE_BYTES));
	other = dup(fd);
	TRY("close", other, close(fd));
	TRY("close twice", other, close(fd));
	TRY("write closed", other, write(fd, large, 10));
	TRY("dup2 same", other, dup2(other, other) == other);
	TRY("dup2 closed", other, dup2(999, other));
	TRY("dup3 same", other, dup3(other, other, 0));
	TRY("write through the copy", other, write(other, large, 200000));
	TRY("close -1", other, close(-1));
	TRY("fsync -1", other, fsync(-1));
	TRY("close_range backwards", other, close_range(10, 5, 0));
	close(other);
}

__attribute__((format(printf, 2, 3))) static int print_list(FILE *stream,
							    const char *format, ...)
{
	va_list list;
	int printed;

	va_start(list, format);
	printed = vfprintf(stream, format, list);
	va_end(list);
	return printed;
}

static void streams(void)
{
	FILE *stream = fopen("file", "w+");
	int fd = fileno(stream);

	TRY("fwrite", fd, fwrite(large, 3, 1000000, stream));
	TRY("fwrite nothing", fd, fwrite(large, 0, 7, stream));
	TRY("fputs", fd, fputs("text\n", stream) >= 0);
	TRY("fputc", fd, fputc('c', stream));
	TRY("putc", fd, putc(0xff, stream));
	TRY("putc_unlocked", fd, putc_unlocked('u', stream));
	TRY("fprintf", fd, fprintf(stream, "%s %d %f\n", "a", 42, 1.5));
	TRY("vfprintf", fd, print_list(stream, "%s %d\n", "b", 43));
	TRY("fflush", fd, fflush(stream));
	TRY("fclose", fd, fclose(stream));
	stream = fopen("file", "r");
	fd = fileno(stream);
	TRY("fputs to a reader", fd, fputs("text", stream));
	TRY("fwrite to a reader", fd, fwrite(large, 1, 10, stream));
	fclose(stream);
	stream = fmemopen(large, 100, "w");
	TRY("fputs to memory", -1, fputs("text", stream) >= 0);
	TRY("fclose memory", -1, fclose(stream));
	stream = fopen("file", "w+");
	fd = fileno(stream);
	TRY("putw", fd, putw(4711, stream));
	TRY("freopen", fd, freopen("file", "a", stream) == stream);
	TRY("fputs after freopen", fd, fputs("more", stream) >= 0);
	TRY("freopen of nothing", fd, freopen("none/file", "a", stream) == NULL);
}

__attribute__((format(printf, 2, 3))) static int print_list_to(int fd, const char *format,
							       ...)
{
	va_list list;
	int printed;

	va_start(list, format);
	printed = vdprintf(fd, format, list);
	va_end(list);
	return printed;
}

static int wide_list(FILE *stream, const wchar_t *format, ...)
{
	va_list list;
	int printed;

	va_start(list, format);
	printed = vfwprintf(stream, format, list);
	va_end(list);
	return printed;
}

static void wide_streams(void)
{
	FILE *stream = fopen("file", "w+");
	int fd = fileno(stream);

	TRY("fputwc", fd, fputwc(0xe4, stream));
	TRY("putwc", fd, putwc(0x20ac, stream));
	TRY("fputws", fd, fputws(L"W\u00e4nde\n", stream) >= 0);
	TRY("fputws nothing", fd, fputws(L"", stream) >= 0);
	TRY("fwprintf", fd, fwprintf(stream, L"%d %ls\n", 42, L"\u20ac"));
	TRY("vfwprintf", fd, wide_list(stream, L"%d\n", 43));
	TRY("fputs to a wide stream", fd, fputs("narrow", stream));
	TRY("fclose wide", fd, fclose(stream));
	fd = fresh(0);
	TRY("dprintf", fd, dprintf(fd, "%s %d\n", "a", 42));
	TRY("vdprintf", fd, print_list_to(fd, "%s %d\n", "b", 43));
	TRY("dprintf -1", fd, dprintf(-1, "%s\n", "a"));
	close(fd);
}

static int64_t copy_by_number(int in, int out)
{
	int64_t total = 0;
	long got;

	while ((got = syscall(SYS_copy_file_range, in, NULL, out, NULL, (size_t)1 << 30,
			      0)) > 0)
		total += got;
	return got < 0 ? got : total;
}

static void numbers(void)
{
	struct iovec parts[] = {
		{ .iov_base = large, .iov_len = 300000 },
		{ .iov_base = large, .iov_len = 7 },
	};
	int in = open("source", O_RDONLY);
	int fd = fresh(0);
	int other;

	TRY("number write", fd, syscall(SYS_write, fd, large, LARGE_BYTES));
	TRY("number write nowhere", fd, syscall(SYS_write, fd, nowhere, 100000));
	TRY("number write closed", fd, syscall(SYS_write, 999, large, 10));
	TRY("number pwrite64", fd, syscall(SYS_pwrite64, fd, large, 200000, 777));
	TRY("number writev", fd, syscall(SYS_writev, fd, parts, 2));
	TRY("number pwritev", fd, syscall(SYS_pwritev, fd, parts, 2, 99, 0));
	TRY("number pwritev2", fd, syscall(SYS_pwritev2, fd, parts, 2, -1L, -1L, 0));
	TRY("number copy_file_range", fd, copy_by_number(in, fd));
	TRY("number sendfile", fd, syscall(SYS_sendfile, fd, 999, NULL, 10));
	TRY("number mmap, six arguments", fd,
	    syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096) != -1);
	TRY("number mmap refused", fd,
	    syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, fd, 7));
	TRY("no such number", fd, syscall(9999, 1, 2, 3, 4, 5, 6));
	other = (int)syscall(SYS_dup, fd);
	TRY("number dup3", fd, syscall(SYS_dup3, in, other, 0) == other);
	TRY("number close", fd, syscall(SYS_close, other));
	TRY("number close again", fd, syscall(SYS_close, other));
	close(in);
	close(fd);
}

static void allocations(void)
{
	int fd = fresh(0);

	TRY("posix_fallocate", fd, posix_fallocate(fd, 100, 1 << 20));
	TRY("posix_fallocate nothing", fd, posix_fallocate(fd, 0, 0));
	TRY("posix_fallocate closed", fd, posix_fallocate(999, 0, 10));
	close(fd);
}

static void names(void)
{
	int fd = fresh(0);
	int other;

	TRY("write", fd, write(fd, large, LARGE_BYTES));
	TRY("ftruncate", fd, ftruncate(fd, 1000000));
	TRY("ftruncate grows", fd, ftruncate(fd, 2000000));
	TRY("ftruncate negative", fd, ftruncate(fd, -1));
	TRY("ftruncate closed", fd, ftruncate(999, 10));
	TRY("truncate", fd, truncate("file", 500000));
	TRY("truncate nothing", fd, truncate("none", 500000));
	TRY("write on", fd, write(fd, large, 200000));
	other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0644);
	TRY("write the other", other, write(other, large, 300000));
	TRY("rename over", fd, rename("file", "other"));
	TRY("rename nothing", fd, rename("file", "other"));
	TRY("renameat", fd, renameat(AT_FDCWD, "other", AT_FDCWD, "file"));
	TRY("renameat2 no replace", fd,
	    renameat2(AT_FDCWD, "file", AT_FDCWD, "file", RENAME_NOREPLACE));
	TRY("link", fd, link("file", "second"));
	TRY("unlink one of two", fd, unlink("second"));
	TRY("unlinkat nothing", fd, unlinkat(AT_FDCWD, "second", 0));
	TRY("unlinkat", fd, unlinkat(AT_FDCWD, "file", 0));
	TRY("unlink nowhere", fd, unlink(nowhere));
	TRY("remove nothing", fd, remove("file"));
	TRY("write without a name", fd, write(fd, large, 300000));
	TRY("write replaced", other, write(other, large, 300000));
	close(other);
	close(fd);
}

static int64_t finished(struct aiocb *control)
{
	const struct aiocb *const list[] = { control };

	while (aio_error(control) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	return aio_return(control);
}

static void asynchronous(void)
{
	int fd = fresh(0);
	struct aiocb control = { .aio_fildes = fd,
				 .aio_buf = large,
				 .aio_nbytes = LARGE_BYTES,
				 .aio_lio_opcode = LIO_WRITE };
	struct aiocb *list[] = { &control, NULL };
	struct iocb submitted = { .aio_fildes = (uint32_t)fd,
				  .aio_lio_opcode = IOCB_CMD_PWRITE,
				  .aio_buf = (uintptr_t)large,
				  .aio_nbytes = 300000,
				  .aio_offset = 5 };
	struct iocb *submit_list[] = { &submitted, nowhere };
	aio_context_t context = 0;
	struct io_event events[2];

	TRY("aio_write", -1, aio_write(&control));
	TRY("aio_return", fd, finished(&control));
	control.aio_offset = 100;
	TRY("lio_listio", fd, lio_listio(LIO_WAIT, list, 2, NULL));
	TRY("lio_listio returned", fd, finished(&control));
	control.aio_fildes = 999;
	TRY("aio_write closed", -1, aio_write(&control));
	TRY("aio_return closed", fd, finished(&control));
	TRY("io_setup", fd, syscall(SYS_io_setup, 4, &context));
	TRY("io_submit", -1, syscall(SYS_io_submit, context, 2, submit_list));
	TRY("io_getevents", fd, syscall(SYS_io_getevents, context, 1, 2, events, NULL));
	TRY("io_submit nowhere", fd, syscall(SYS_io_submit, context, 1, nowhere));
	TRY("io_submit nothing", fd, syscall(SYS_io_submit, context, 0, submit_list));
	syscall(SYS_io_destroy, context);
	close(fd);
}

/* What a child that ends by @end leaves behind: its status, and the file it wrote. */
static int64_t child(void (*end)(int fd), int fd)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		end(fd);
		abort();
	}
	waitpid(pid, &status, 0);
	return status;
}

static void end_exit(int fd)
{
	if (write(fd, large, LARGE_BYTES) == LARGE_BYTES)
		_exit(3);
}

static void end_number(int fd)
{
	if (write(fd, large, 100000) == 100000)
		syscall(SYS_exit_group, 4);
}

static void say_quick(void)
{
	if (write(STDOUT_FILENO, "quick\n", 6) != 6)
		abort();
}

static void end_quick(int fd)
{
	at_quick_exit(say_quick);
	if (write(fd, large, 100000) == 100000)
		quick_exit(5);
}

/* From here on any call but write and exit_group kills. */
static void write_filtered(int fd)
{
	for (size_t at = 0; at < LARGE_BYTES; at += 1u << 20) {
		if (write(fd, large + at, 1u << 20) != 1u << 20)
			abort();
	}
	_exit(6);
}

static struct sock_fprog filter(void)
{
	static struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (struct sock_fprog){ .len = sizeof(rules) / sizeof(rules[0]),
				    .filter = rules };
}

static void end_prctl(int fd)
{
	struct sock_fprog program = filter();

	if (write(fd, large, 200000) == 200000 &&
	    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		write_filtered(fd);
}

static void end_seccomp(int fd)
{
	struct sock_fprog program = filter();

	if (write(fd, large, 200000) == 200000 &&
	    !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		write_filtered(fd);
}

static void ends(void)
{
	int fd = fresh(0);

	TRY("ends by _exit", fd, child(end_exit, fd));
	TRY("ends by number", fd, child(end_number, fd));
	TRY("ends by quick_exit", fd, child(end_quick, fd));
	TRY("filter by prctl", fd, child(end_prctl, fd));
	TRY("filter by number", fd, child(end_seccomp, fd));
	TRY("prctl", fd, prctl(PR_GET_DUMPABLE));
	TRY("prctl refused", fd, prctl(-1, 0, 0, 0, 0));
	close(fd);
}

static ssize_t fill_write(int in, int fd)
{
	(void)in;
	return write(fd, large, LARGE_BYTES);
}

static ssize_t fill_writev(int in, int fd)
{
	struct iovec parts[] = { { .iov_base = large, .iov_len = 1000 },
				 { .iov_base = large, .iov_len = LARGE_BYTES - 1000 } };

	(void)in;
	return writev(fd, parts, 2);
}

static ssize_t fill_sendfile(int in, int fd)
{
	off_t at = 0;

	return sendfile(fd, in, &at, LARGE_BYTES);
}

static ssize_t fill_copy(int in, int fd)
{
	off64_t at = 0;

	/* Why not from byte 0: what shares extents never fills a device. */
	at++;
	return copy_file_range(in, &at, fd, NULL, LARGE_BYTES - 1, 0);
}

static void fill_device(const char *what, ssize_t (*call)(int in, int fd))
{
	int in = open("source", O_RDONLY);
	int fd = fresh(0);
	struct stat st = { 0 };
	int64_t total = 0;
	ssize_t done;

	while ((done = call(in, fd)) > 0)
		total += done;
	printf("%s: ends with %s, ", what, done < 0 ? strerrorname_np(errno) : "nothing");
	fstat(fd, &st);
	printf("%s, %s, offset %s\n", total > 20000000 ? "much" : "little",
	       total == st.st_size ? "all of it there" : "not all of it there",
	       total == lseek(fd, 0, SEEK_CUR) ? "right" : "wrong");
	close(in);
	close(fd);
	unlink("file");
	in = open(".", O_RDONLY);
	syncfs(in); /* gives the blocks back */
	close(in);
}

static int full(void)
{
	int in = open("source", O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (in < 0 || write(in, large, LARGE_BYTES) != LARGE_BYTES || close(in))
		return 2;
	fill_device("write", fill_write);
	fill_device("writev", fill_writev);
	fill_device("sendfile", fill_sendfile);
	fill_device("copy_file_range", fill_copy);
	unlink("source");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "full")) {
		fill();
		return chdir(argv[2]) ? 2 : full();
	}
	if (argc != 2 || chdir(argv[1]))
		return 2;
	setlocale(LC_ALL, "C.UTF-8");
	fill();
	buffers();
	appends();
	file_size_limit();
	copies();
	faults();
	offsets();
	storms();
	descriptors();
	streams();
	wide_streams();
	numbers();
	allocations();
	names();
	asynchronous();
	ends();
	unlink("file");
	unlink("source");
	return 0;
}
