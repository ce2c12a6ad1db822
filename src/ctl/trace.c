/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writepacectl trace: verdicts as they fall, one line each, as comma separated values.
 *
 * The columns that the kernel's balance_dirty_pages and bdi_dirty_ratelimit have are called as
 * there; units are bytes, bytes per second and milliseconds. The segment is looked at 20 times a
 * second and holds the last verdict of each task: `verdicts` counts all of them, so what fell
 * between two looks shows as a step. A line without pid is the device alone, at each look.
 */
#include "ctl/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "conf/unit.h"
#include "ctl/view.h"
#include "host/kernel.h"

#define LOOK_NS WP_MS(50)
#define TAIL_NS WP_SEC(10) /* after the command's end, until nothing is outstanding */
#define REST_NS WP_SEC(2)  /* or nothing changes for so long */
#define LINE_BYTES 768

struct trace {
	gzFile file; /* NULL = standard output */
	uint64_t start_ns;
	uint64_t end_ns; /* UINT64_MAX = at a signal */
	uint64_t outstanding_bytes;
	uint64_t before_bytes;
	uint64_t change_ns; /* of that */
	pid_t child;
	int child_status;
	bool child_ended;
	uint64_t verdicts[VIEW_SEGMENTS][WP_TASKS]; /* seen */
};

static const char head[] =
	"time,segment,bdi,pid,comm,limit,setpoint,dirty,wb_limit,wb_setpoint,wb_dirty,"
	"wb_writeback,window,background,avg_write_bw,written,dirty_ratelimit,task_ratelimit,"
	"pos_ratio,dirtied,paused,pause,period,weight,verdicts\n";

static bool put(struct trace *trace, const char *line)
{
	int length = (int)strlen(line);

	if (trace->file)
		return gzwrite(trace->file, line, (unsigned)length) == length;
	return fputs(line, stdout) >= 0;
}

/* ----------------------------------------------------------------- lines ---- */

struct scene {
	struct trace *trace;
	const struct sight *sight;
	const struct view_segment *segment;
	struct view_device device;
	uint64_t dirty_bytes; /* over all devices */
};

static double ms(uint64_t span_ns)
{
	return (double)span_ns / 1e6;
}

/* What is the same for all lines of a device. */
static int put_device(char *line, const struct scene *scene, uint64_t time_ns)
{
	const struct view_device *device = &scene->device;

	return snprintf(line, LINE_BYTES, "%.3f,%s,%s",
			(double)sub_u64(time_ns, scene->trace->start_ns) / 1e9,
			scene->segment->name, device->place.id);
}

static int put_state(char *line, const struct scene *scene, const struct verdict *verdict,
		     uint64_t outstanding_bytes)
{
	const struct view_device *device = &scene->device;
	uint64_t global_setpoint =
		verdict->limit_bytes ?
			(uint64_t)((unsigned __int128)verdict->global_bytes *
				   verdict->setpoint_bytes / verdict->limit_bytes) :
			0;

	return snprintf(
		line, LINE_BYTES,
		",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		verdict->global_bytes, global_setpoint, scene->dirty_bytes,
		verdict->limit_bytes, verdict->setpoint_bytes, outstanding_bytes,
		device->inflight_bytes, device->window_bytes, verdict->background_bytes,
		device->bandwidth_bps, device->written_bytes, device->base_bps);
}

static bool put_device_line(const struct scene *scene)
{
	const struct view_device *device = &scene->device;
	char line[2 * LINE_BYTES];
	int used = put_device(line, scene, scene->sight->now_ns);

	used += snprintf(line + used, LINE_BYTES, ",,");
	used += put_state(line + used, scene, &device->verdict,
			  device->outstanding_bytes);
	snprintf(line + used, LINE_BYTES, ",,%.3f,,,,,,\n",
		 (double)device->verdict.pos_q10 / WP_Q10);
	return put(scene->trace, line);
}

static bool put_task_line(const struct scene *scene, const struct view_task *task)
{
	const struct verdict *verdict = &task->verdict;
	char line[2 * LINE_BYTES];
	int used = put_device(line, scene, verdict->view.now_ns);

	used += snprintf(line + used, LINE_BYTES, ",%u,%s", task->pid, task->command);
	used += put_state(line + used, scene, verdict, verdict->view.outstanding_bytes);
	snprintf(line + used, LINE_BYTES,
		 ",%" PRIu64 ",%.3f,%" PRIu64 ",%.3f,%.3f,%.3f,%" PRIu64 ",%" PRIu64 "\n",
		 verdict->task_bps, (double)verdict->pos_q10 / WP_Q10,
		 verdict->view.dirtied_bytes, ms(task->slept_ns), ms(verdict->pause_ns),
		 ms(verdict->max_pause_ns), task->weight, task->verdicts);
	return put(scene->trace, line);
}

/* A comma in a program's name would be a column more. */
static void tame(char *name)
{
	for (; *name; name++)
		if (*name == ',' || *name == '"')
			*name = '_';
}

static bool trace_tasks(const struct scene *scene, uint64_t *seen)
{
	struct view_task task;

	for (size_t i = 0; i < WP_TASKS; i++) {
		if (!view_living_task(scene->sight, scene->segment, i, &task) ||
		    !task.judged || task.device != scene->device.number ||
		    task.verdicts == seen[i])
			continue;
		seen[i] = task.verdicts;
		tame(task.command);
		if (!put_task_line(scene, &task))
			return false;
	}
	return true;
}

static bool trace_segment(struct trace *trace, const struct sight *sight, size_t at)
{
	struct scene scene = { trace, sight, &sight->segments[at], { 0 }, 0 };

	scene.dirty_bytes = scene.segment->copy->header.outstanding_bytes;
	for (size_t i = 0; i < WP_DEVICES; i++) {
		if (!view_device(sight, scene.segment, i, &scene.device) ||
		    (!scene.device.outstanding_bytes &&
		     scene.device.active_ns > WP_SEC(1)))
			continue;
		trace->outstanding_bytes += scene.device.outstanding_bytes;
		if (!put_device_line(&scene) || !trace_tasks(&scene, trace->verdicts[at]))
			return false;
	}
	return true;
}

/* False: it can not be written. */
static bool look(struct trace *trace, const struct ctl *ctl)
{
	static struct sight sight;
	bool fits = true;

	trace->outstanding_bytes = 0;
	if (!view_find(&sight, ctl))
		return true;
	for (size_t i = 0; fits && i < sight.count; i++)
		fits = trace_segment(trace, &sight, i);
	view_free(&sight);
	return fits;
}

/* --------------------------------------------------------------- command ---- */

static _Noreturn void become(char **command, const sigset_t *mask)
{
	char wrapper[PATH_MAX];

	ctl_program("writepace", wrapper, sizeof(wrapper));
	sigprocmask(SIG_SETMASK, mask, NULL);
	command[-1] = wrapper;
	execv(wrapper, command - 1);
	ctl_complain("%s: %m", wrapper);
	_exit(CTL_FAILED);
}

static void collect(struct trace *trace, uint64_t now_ns)
{
	if (!trace->child || trace->child_ended ||
	    waitpid(trace->child, &trace->child_status, WNOHANG) != trace->child)
		return;
	trace->child_ended = true;
	trace->end_ns = min_u64(trace->end_ns, now_ns + TAIL_NS);
}

static bool is_over(const struct trace *trace, uint64_t now_ns)
{
	return now_ns >= trace->end_ns ||
	       (trace->child_ended &&
		(!trace->outstanding_bytes || now_ns > trace->change_ns + REST_NS));
}

static int run(struct trace *trace, const struct ctl *ctl, char **command)
{
	const struct timespec step = { .tv_nsec = LOOK_NS };
	sigset_t signals;
	sigset_t mask;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	if (*command)
		trace->child = fork();
	if (*command && !trace->child)
		become(command, &mask);
	if (trace->child < 0)
		return ctl_complain("cannot start a process: %m");
	while (look(trace, ctl)) {
		uint64_t now_ns = kernel_now_ns();

		collect(trace, now_ns);
		if (trace->outstanding_bytes != trace->before_bytes)
			trace->change_ns = now_ns;
		trace->before_bytes = trace->outstanding_bytes;
		if (is_over(trace, now_ns) || sigtimedwait(&signals, NULL, &step) > 0)
			return CTL_DONE;
	}
	return ctl_complain("the trace can not be written: %m");
}

static int open_output(struct trace *trace, const char *path)
{
	size_t length = strlen(path);
	bool packed = length > 3 && !strcmp(path + length - 3, ".gz");

	/* T: as it is, through the same calls */
	trace->file = gzopen(path, packed ? "wbe" : "wbeT");
	return trace->file ? CTL_DONE : ctl_complain("%s: %m", path);
}

static int finish(struct trace *trace, int status)
{
	if (trace->file && gzclose(trace->file) != Z_OK)
		status = ctl_complain("the trace can not be written");
	if (!trace->child || status)
		return status;
	if (!trace->child_ended)
		return CTL_DONE; /* it goes on, untraced */
	return WIFEXITED(trace->child_status) ? WEXITSTATUS(trace->child_status) :
						128 + WTERMSIG(trace->child_status);
}

int run_trace(struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "time", required_argument, NULL, 't' },
		{ 0 },
	};
	static struct trace trace = { .end_ns = UINT64_MAX };
	uint64_t span_ns = 0;
	int option;
	int status = CTL_DONE;

	while ((option = ctl_option(ctl, argc, argv, options)) != -1) {
		if (option == 'o')
			status = open_output(&trace, optarg);
		else if (!unit_parse(unit_durations, "", optarg, &span_ns) || !span_ns)
			return ctl_complain("%s: not a time (5s, 500ms, 1min)", optarg);
	}
	if (status)
		return status;
	trace.start_ns = kernel_now_ns();
	if (span_ns)
		trace.end_ns = trace.start_ns + span_ns;
	put(&trace, head);
	return finish(&trace, run(&trace, ctl, argv + optind));
}
