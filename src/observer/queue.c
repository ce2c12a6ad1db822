/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observer/queue.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 1024
#define PATH_BYTES 256

/* "NAME:   N kB" somewhere in @text. */
static bool parse_field(const char *text, const char *name, uint64_t *bytes)
{
	const char *at = strstr(text, name);
	uint64_t kib;

	if (!at || sscanf(at + strlen(name), ": %" SCNu64 " kB", &kib) != 1)
		return false;
	*bytes = WP_KIB(kib);
	return true;
}

bool queue_parse(const char *text, struct queue *queue)
{
	return parse_field(text, "BdiWriteback", &queue->inflight_bytes) &&
	       parse_field(text, "BdiReclaimable", &queue->dirty_bytes) &&
	       parse_field(text, "BdiDirtied", &queue->dirtied_bytes) &&
	       parse_field(text, "BdiWritten", &queue->written_bytes);
}

bool queue_read(const char *root, const char *name, struct queue *queue)
{
	char path[PATH_BYTES];
	char text[TEXT_BYTES];
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/sys/kernel/debug/bdi/%s/stats", root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (bytes <= 0)
		return false;
	text[bytes] = '\0';
	return queue_parse(text, queue);
}
