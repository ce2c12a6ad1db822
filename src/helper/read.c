/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper/read.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define STAT_STATE 3 /* fields of /proc/PID/stat, counted from 1 */
#define STAT_START 22

/* Why in a loop: the kernel gives its longer texts in pages. */
static bool read_path(char *text, size_t bytes, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	do {
		got = read(fd, text + used, bytes - 1 - used);
		used += got > 0 ? (size_t)got : 0;
	} while (got > 0 && used < bytes - 1);
	close(fd);
	text[used] = '\0';
	return used > 0;
}

static bool path_from(char *path, const char *format, va_list list)
	__attribute__((format(printf, 2, 0)));

static bool path_from(char *path, const char *format, va_list list)
{
	int used = vsnprintf(path, READ_PATH_BYTES, format, list);

	return used > 0 && used < READ_PATH_BYTES;
}

bool read_text(char *text, size_t bytes, const char *format, ...)
{
	char path[READ_PATH_BYTES];
	va_list list;
	bool fits;

	va_start(list, format);
	fits = path_from(path, format, list);
	va_end(list);
	return fits && read_path(text, bytes, path);
}

uint64_t read_number(const char *format, ...)
{
	char path[READ_PATH_BYTES];
	char text[32];
	va_list list;
	bool fits;

	va_start(list, format);
	fits = path_from(path, format, list);
	va_end(list);
	return fits && read_path(text, sizeof(text), path) ? strtoull(text, NULL, 10) : 0;
}

uint64_t read_value(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

bool read_device_number(const char *text, uint64_t *number)
{
	unsigned major;
	unsigned minor;

	if (sscanf(text, "%u:%u", &major, &minor) != 2)
		return false;
	*number = makedev(major, minor);
	return true;
}

static const char *skip_fields(const char *at, int count)
{
	for (; at && count; count--) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

bool read_process_lives(const char *root, uint64_t pid, uint64_t start_ns)
{
	char text[1024];
	const char *at;
	uint64_t ticks;

	if (!read_text(text, sizeof(text), "%s/proc/%llu/stat", root,
		       (unsigned long long)pid))
		return false;
	/* The name before it may hold anything, brackets too. */
	at = strrchr(text, ')');
	if (!at || strlen(at) < 3 || strchr("ZXx", at[2]))
		return false;
	at = skip_fields(at + 2, STAT_START - STAT_STATE);
	if (!at)
		return false;
	ticks = strtoull(at, NULL, 10);
	return ticks * (WP_SEC(1) / (uint64_t)sysconf(_SC_CLK_TCK)) <= start_ns;
}
