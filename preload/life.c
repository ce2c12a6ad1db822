/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library's beginning and end inside a program.
 */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report.h"
#include "gate.h"
#include "host/inside.h"
#include "host/sys.h"
#include "parts.h"
#include "real.h"
#include "shm/totals.h"

#define REPORT_FROM_BYTES WP_MIB(1) /* who dirtied less says nothing */

extern char **environ;

static void complain(const char *line, void *opaque)
{
	struct iovec parts[] = {
		{ .iov_base = (char *)(uintptr_t) "writepace: ", .iov_len = 11 },
		{ .iov_base = (char *)(uintptr_t)line, .iov_len = strlen(line) },
		{ .iov_base = (char *)(uintptr_t) "\n", .iov_len = 1 },
	};

	(void)opaque;
	sys_call(SYS_writev, STDERR_FILENO, parts, 3);
}

/* The value of an internal variable; keys come through conf_read(). */
static const char *environment_value(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = environ; entry && *entry; entry++) {
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			return *entry + length + 1;
	}
	return NULL;
}

/*
 * Fork: what the table says was written by the parent, and a child that only notices at its first
 * slow path has added to it by then. So the kernel clears it; where it can not, we do.
 */
static bool clear_table_on_fork(void)
{
	return !sys_call(SYS_madvise, gate_table, sizeof(gate_table), MADV_WIPEONFORK);
}

static void forget_table(void)
{
	for (size_t i = 0; i < GATE_ENTRIES; i++) {
		if (gate_table[i].tag)
			gate_table[i].tag = 0;
	}
}

/* Standard error as it was when the program began. */
static struct stat error_output;

/* Why looked at again: the number may be a file of the program's by now. */
static void tell_found(uint64_t device, uint64_t limit_bytes, uint64_t source)
{
	char line[WP_REPORT_LINE_BYTES];
	int saved_errno = errno;
	struct stat st;
	size_t bytes;

	if (fstat(STDERR_FILENO, &st) || st.st_dev != error_output.st_dev ||
	    st.st_ino != error_output.st_ino) {
		errno = saved_errno;
		return;
	}
	bytes = report_found_line(line, sizeof(line), program_invocation_short_name,
				  sys_call(SYS_getpid), device, limit_bytes,
				  report_source(source));
	sys_call(SYS_write, STDERR_FILENO, line, bytes);
}

__attribute__((constructor)) static void begin(void)
{
	int saved_errno = errno;
	const char *path;
	struct conf conf;

	real_resolve();
	syscall_resolve();
	/* A program with more rights than its user trusts nothing from its environment. */
	if (getauxval(AT_SECURE))
		return;
	conf_defaults(&conf);
	conf_read(&conf, environ, complain, NULL);
	/* What writepace --any paces is not paced twice. */
	if (conf_wants(&conf, program_invocation_short_name) && !inside_any()) {
		pace_attach(&gate_process, &conf);
		path = environment_value(WP_TOTALS_VARIABLE);
		gate_process.shared_totals = path ? totals_map(path) : NULL;
		gate_process.forked = clear_table_on_fork() ? NULL : forget_table;
		gate_process.other = gate_other;
		if (conf.verbose && !fstat(STDERR_FILENO, &error_output))
			gate_process.found = tell_found;
		pace_task_begin(&gate_task);
		gate_inert = gate_process.segment.state == SEGMENT_NONE;
	}
	errno = saved_errno;
}

static void report(void)
{
	char line[WP_REPORT_LINE_BYTES];
	size_t bytes = report_line(line, sizeof(line), program_invocation_short_name,
				   sys_call(SYS_getpid), &gate_process.totals);

	sys_call(SYS_write, STDERR_FILENO, line, bytes);
}

void gate_finish(void)
{
	static uint64_t finished;
	int saved_errno = errno;

	if (gate_inert || !pace_own(&gate_process, &gate_task) ||
	    !word_replace(&finished, 0, 1))
		return;
	gate_close_range(0, UINT32_MAX);
	pace_finish(&gate_process, &gate_task);
	if (gate_process.conf.stats &&
	    gate_process.totals.dirtied_bytes >= REPORT_FROM_BYTES)
		report();
	errno = saved_errno;
}

__attribute__((destructor)) static void end(void)
{
	gate_finish();
}
