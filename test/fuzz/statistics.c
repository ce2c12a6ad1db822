/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The readers of small files of /proc and /sys. Input: the text of the file, which all of them are
 * given in turn. Oracle: nothing is read past its end, factors and limits stay within theirs.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/bdi.h"
#include "helper/blockstat.h"
#include "helper/memory.h"
#include "helper/read.h"

static char root[64];

static const char *const names[] = {
	"proc/vmstat", "proc/meminfo", "proc/pressure/memory", "proc/7/stat", "stat",
	"max_bytes",   "max_ratio",    "strict_limit",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

static int fds[NAMES];

static void make_folder(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	must(!mkdir(path, 0700));
}

/* One file with all the names. */
static void make_files(void)
{
	char first[128];
	char path[128];

	snprintf(root, sizeof(root), "%s/fuzz.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	must(mkdtemp(root));
	make_folder("proc");
	make_folder("proc/pressure");
	make_folder("proc/7");
	snprintf(first, sizeof(first), "%s/%s", root, names[0]);
	fds[0] = open(first, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(fds[0] >= 0);
	for (size_t i = 1; i < NAMES; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		must(!link(first, path));
	}
}

static void remove_files(void)
{
	static const char *const folders[] = { "proc/7", "proc/pressure", "proc", "" };
	char path[128];

	for (size_t i = 0; i < NAMES; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		unlink(path);
	}
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		rmdir(path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct wp_segment *segment;
	struct memory_thresholds thresholds;
	struct blockstat sum = { 0 };
	struct helper helper = { .root = root };
	uint64_t number;
	char text[128];

	if (!segment) {
		make_files();
		atexit(remove_files);
		segment = calloc(1, sizeof(*segment));
		must(segment);
	}
	must(!ftruncate(fds[0], 0));
	must(pwrite(fds[0], data, bytes, 0) == (ssize_t)bytes);
	helper.map = segment;
	memory_look(&helper);
	must(segment->header.pressure_q10 >= MEMORY_FACTOR_MIN_Q10 &&
	     segment->header.pressure_q10 <= WP_Q10);
	memory_thresholds(root, &thresholds);
	memory_outstanding(root, &number);
	blockstat_add(&sum, root);
	bdi_limit_bytes(root, root);
	read_process_lives(root, 7, 1000);
	if (read_text(text, sizeof(text), "%s/stat", root)) {
		must(memchr(text, 0, sizeof(text)));
		read_device_number(text, &number);
		read_value(text, "pages ");
	}
	return 0;
}
