/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observer/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "observer/image.h"
#include "observer/tell.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define LIBBPF_MAJOR 1
#define NAME_BYTES 64

enum when { ALWAYS, UNLESS_ALL_SYNCS, FOR_ALL_SYNCS };

/* A program, and what it needs to be of use. */
struct wish {
	const char *program;
	enum when when;
	const char *event;  /* of the kernel's, NULL = of tracefs */
	bool by_name;       /* may be a module's: it is there if it can be attached to */
	unsigned arguments; /* 0 = any number */
	/* said when no program of that event can run; NULL = another may */
	const char *without;
};

static const struct wish wishes[] = {
	{ "dirtied_page", ALWAYS, "writeback_dirty_page", false, 0, NULL },
	{ "dirtied_folio", ALWAYS, "writeback_dirty_folio", false, 0,
	  "dirtied bytes are not seen" },
	{ "completed", ALWAYS, "block_rq_complete", false, 0,
	  "completed bytes are not seen" },
	{ "paused_12", ALWAYS, "balance_dirty_pages", false, 12, NULL },
	{ "paused_8", ALWAYS, "balance_dirty_pages", false, 8,
	  "the kernel's pauses are not seen" },
	{ "limited", ALWAYS, "bdi_dirty_ratelimit", false, 0,
	  "the rate that the kernel holds writers to is not seen" },
	{ "visited", ALWAYS, "writeback_single_inode", false, 0,
	  "how much of a file is written at a time is not seen" },
	{ "ext4_begins", UNLESS_ALL_SYNCS, "ext4_sync_file_enter", true, 0,
	  "waits in fsync are seen with --syncs only" },
	{ "ext4_ends", UNLESS_ALL_SYNCS, "ext4_sync_file_exit", true, 0, NULL },
	{ "fsync_begins", FOR_ALL_SYNCS, NULL, false, 0, NULL },
	{ "fsync_ends", FOR_ALL_SYNCS, NULL, false, 0, NULL },
	{ "fdatasync_begins", FOR_ALL_SYNCS, NULL, false, 0, NULL },
	{ "fdatasync_ends", FOR_ALL_SYNCS, NULL, false, 0, NULL },
};

/* ------------------------------------------------------------------ this kernel -- */

static bool verbose_libbpf;

__attribute__((format(printf, 2, 0))) static int print(enum libbpf_print_level level,
						       const char *format,
						       va_list arguments)
{
	if (!verbose_libbpf || level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, format, arguments);
}

/* Arguments of an event in the kernel's own description, 0 = there is no such event. */
static unsigned event_arguments(const struct btf *btf, const char *event)
{
	const struct btf_type *type;
	char name[NAME_BYTES];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return 0;
	type = btf__type_by_id(btf, (uint32_t)id);             /* typedef */
	type = btf__type_by_id(btf, type->type);               /* pointer */
	type = type ? btf__type_by_id(btf, type->type) : NULL; /* function */
	/* The first one is the attacher's own. */
	return type && btf_is_func_proto(type) && btf_vlen(type) ? btf_vlen(type) - 1u :
								   0;
}

static bool has_tracefs(void)
{
	return !access("/sys/kernel/tracing/events", R_OK) ||
	       !access("/sys/kernel/debug/tracing/events", R_OK);
}

static bool is_wanted(const struct wish *wish, bool all_syncs)
{
	return wish->when == ALWAYS || (wish->when == FOR_ALL_SYNCS) == all_syncs;
}

static bool can_run(const struct wish *wish, const struct btf *btf, bool tracefs)
{
	unsigned arguments;

	if (!wish->event)
		return tracefs;
	if (wish->by_name)
		return true;
	arguments = event_arguments(btf, wish->event);
	return arguments && (!wish->arguments || arguments == wish->arguments);
}

static void say_missing(const struct wish *wish)
{
	tell("this kernel has no event %s: %s", wish->event, wish->without);
}

/* Decided once, before anything is loaded. How many programs are left, syncs' apart. */
static unsigned choose_programs(struct bpf_object *object, const struct btf *btf,
				bool all_syncs)
{
	bool tracefs = all_syncs && has_tracefs();
	const char *seen = NULL;
	unsigned count = 0;

	if (all_syncs && !tracefs)
		tell("no tracefs is mounted: waits in fsync are not seen");
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		const struct wish *wish = &wishes[i];
		bool wanted = is_wanted(wish, all_syncs);

		if (wanted && can_run(wish, btf, tracefs)) {
			seen = wish->program;
			count += wish->when == ALWAYS;
			continue;
		}
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(object, wish->program), false);
		/* Why the first letters: the two programs of one kind of event share them. */
		if (wanted && wish->without &&
		    !(seen && !strncmp(seen, wish->program, 6)))
			say_missing(wish);
	}
	return count;
}

/* -------------------------------------------------------------------------- load -- */

static bool set_constants(struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");
	struct timespec tick;
	uint64_t values[2];
	size_t bytes = 0;
	const void *known = map ? bpf_map__initial_value(map, &bytes) : NULL;

	if (!known || bytes != sizeof(values) ||
	    clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		return false;
	values[0] = (uint64_t)sysconf(_SC_PAGESIZE);
	values[1] =
		(uint64_t)tick.tv_nsec; /* the coarse clock moves by the kernel's tick */
	return !bpf_map__set_initial_value(map, values, sizeof(values));
}

static bool say_why_not(int error)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (error == -EPERM && limit.rlim_cur != RLIM_INFINITY)
		tell("the kernel refused to load the programs: %llu bytes may be locked (ulimit -l), or it is locked down",
		     (unsigned long long)limit.rlim_cur);
	else if (error == -ENOSYS)
		tell("this kernel has no bpf");
	else
		tell("the kernel refused to load the programs: %s; --verbose says more",
		     strerror(-error));
	return false;
}

/* Which of them can do without, with a line said. */
static bool is_dispensable(const struct bpf_program *program, int error)
{
	const char *name = bpf_program__name(program);

	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		const struct wish *wish = &wishes[i];

		if (strcmp(wish->program, name) || !wish->by_name || error != ENOENT)
			continue;
		if (wish->without)
			say_missing(wish);
		return true;
	}
	tell("cannot attach %s: %s", name, strerror(error));
	return bpf_program__type(program) == BPF_PROG_TYPE_TRACEPOINT;
}

static bool attach(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		if (!bpf_program__autoload(program) || bpf_program__attach(program))
			continue;
		if (!is_dispensable(program, errno))
			return false;
	}
	return true;
}

static bool find_maps(struct loaded *loaded)
{
	struct bpf_map *lost = bpf_object__find_map_by_name(loaded->object, ".bss");
	int cpus = libbpf_num_possible_cpus();
	size_t bytes = 0;

	loaded->devices_fd = bpf_object__find_map_fd_by_name(loaded->object, "devices");
	loaded->tasks_fd = bpf_object__find_map_fd_by_name(loaded->object, "tasks");
	loaded->runs_fd = bpf_object__find_map_fd_by_name(loaded->object, "runs");
	loaded->names_fd = bpf_object__find_map_fd_by_name(loaded->object, "names");
	loaded->lost = lost ? bpf_map__initial_value(lost, &bytes) : NULL;
	loaded->cpus = (unsigned)cpus;
	if (loaded->devices_fd >= 0 && loaded->tasks_fd >= 0 && loaded->names_fd >= 0 &&
	    loaded->runs_fd >= 0 && cpus > 0 && bytes == sizeof(uint64_t))
		return true;
	tell("the programs and the observer do not fit together");
	return false;
}

static bool check_kernel(void)
{
	/* Why: for kernels before 5.11, which count maps as locked memory. */
	static const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	if (libbpf_major_version() < LIBBPF_MAJOR) {
		tell("libbpf %s is too old: 1.0 or later is needed",
		     libbpf_version_string());
		return false;
	}
	if (access(BTF_PATH, R_OK)) {
		tell("this kernel has no BTF (" BTF_PATH
		     "): CONFIG_DEBUG_INFO_BTF is needed");
		return false;
	}
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	return true;
}

static bool load(struct loaded *loaded, const struct btf *btf, bool all_syncs)
{
	int error;

	if (!choose_programs(loaded->object, btf, all_syncs)) {
		tell("this kernel has none of the events that are needed");
		return false;
	}
	if (!set_constants(loaded->object))
		return say_why_not(-EINVAL);
	error = bpf_object__load(loaded->object);
	if (error)
		return say_why_not(error);
	return find_maps(loaded) && attach(loaded->object);
}

bool load_programs(struct loaded *loaded, bool all_syncs, bool verbose)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "writepace");
	struct btf *btf;
	bool done;

	verbose_libbpf = verbose;
	libbpf_set_print(print);
	if (!check_kernel())
		return false;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return say_why_not(-errno);
	loaded->object = bpf_object__open_mem(image_begin, image_bytes(), &options);
	done = loaded->object ? load(loaded, btf, all_syncs) : say_why_not(-errno);
	btf__free(btf);
	return done;
}
