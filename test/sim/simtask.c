/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "simtask.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/fixed.h"
#include "base/order.h"
#include "shm/device.h"

#define STACK_BYTES WP_KIB(256)
#define NEVER UINT64_MAX

struct coroutine {
	ucontext_t context;
	void *stack;
	uint64_t wake_ns;
	struct simtask task;
};

struct pace_process simtask_process;
struct simtask_range simtask_range;
const char *simtask_broken;

static struct coroutine *coroutines[SIM_FILES];
static unsigned count;
static ucontext_t scheduler;
static uint64_t longest_poll_bytes; /* of this world */
static uint64_t longest_piece_bytes;

/* -------------------------------------------------------------------- invariants -- */

struct wp_device *simtask_device(void)
{
	return &simtask_process.segment.map
			->devices[device_slot(simtask_process.segment.map, SIM_DEVICE)];
}

void simtask_control(struct control *control)
{
	device_control(simtask_device(), control);
}

static void hold(bool holds, const char *what)
{
	if (!holds && !simtask_broken)
		simtask_broken = what;
}

static void see(uint64_t *most, uint64_t value)
{
	*most = max_u64(*most, value);
}

static void bounds_of(struct bounds *bounds)
{
	*bounds = (struct bounds){
		.drain_ns = simtask_process.conf.drain_ns,
		.latency_ns = simtask_process.conf.latency_ns,
		.rate_bps = simtask_process.conf.rate_bps,
		.ceiling_bytes = simtask_process.conf.limit_bytes,
		.background_pm = simtask_process.conf.background_pm,
		.burst_bytes = simtask_process.conf.burst_bytes,
	};
	/* a world has one device: a setting is its own */
	if (simtask_process.conf.devices.count) {
		const struct conf_device *setting = &simtask_process.conf.devices.list[0];

		bounds->max_bytes = setting->max_bytes;
		bounds->bandwidth_bps = setting->bandwidth_bps;
	}
}

/*
 * What the tasks may dirty before each looks again.
 * Weak: design 5 wants a piece each; it is a poll threshold each, up to 385 KiB on a device that
 * is new (its writers are assumed to do 100 MiB/s).
 */
static uint64_t room_bytes(void)
{
	return count *
	       (max_u64(longest_poll_bytes, PAUSE_POLL_BYTES) + longest_piece_bytes);
}

static void check_device(void)
{
	struct bounds bounds;
	struct control control;
	uint64_t level_bytes;
	uint64_t wall_bytes;

	bounds_of(&bounds);
	simtask_control(&control);
	if (!control.stamp_ns)
		return;
	/* the limit may have risen a moment ago: the wall follows with the next step */
	wall_bytes = max_u64(control.wall_bytes, control_limit_bytes(&control, &bounds));
	/* and so it does with a burst */
	level_bytes = max_u64(control_limit_bytes(&control, &bounds),
			      device_outstanding_bytes(simtask_device()));
	wall_bytes =
		max_u64(wall_bytes, level_bytes + control_credit_bytes(&control, &bounds,
								       level_bytes));
	see(&simtask_range.outstanding_bytes, simkernel.outstanding_bytes);
	see(&simtask_range.overshoot_bytes,
	    sub_u64(simkernel.outstanding_bytes, wall_bytes));
	see(&simtask_range.flight_bytes, simkernel.flight_bytes);
	see(&simtask_range.window_bytes, control.window.bytes);
	hold(simkernel.outstanding_bytes <= wall_bytes + room_bytes(),
	     "what is outstanding stays below the wall, but for what is not looked at yet");
	hold(control.window.bytes >= WINDOW_MIN_BYTES &&
		     control.window.bytes <= WINDOW_MAX_BYTES,
	     "the window is within its bounds");
}

static void check_verdict(const struct simtask *task)
{
	struct bounds bounds;
	struct view view = {
		.now_ns = simkernel.now_ns,
		.outstanding_bytes = device_outstanding_bytes(simtask_device()),
		.dirtied_bytes = task->pace.owed_bytes,
		.paused_when_ns = task->pace.paused_when_ns,
	};
	struct control control;
	struct verdict verdict;

	bounds_of(&bounds);
	simtask_control(&control);
	balance(&verdict, &view, &control, &bounds);
	hold(verdict.pos_q10 <= 2 * WP_Q10, "the position ratio is at most two");
	hold(verdict.pause_ns <= PAUSE_MAX_NS, "a pause is at most 200 ms");
	hold(task->pace.piece_bytes >= PIECE_LEAST_BYTES &&
		     task->pace.piece_bytes <= PIECE_MAX_BYTES,
	     "a piece is within its bounds");
	see(&simtask_range.poll_bytes, task->pace.poll_bytes);
	see(&longest_poll_bytes, task->pace.poll_bytes);
	see(&longest_piece_bytes, task->pace.piece_bytes);
}

/* --------------------------------------------------------------------- a program -- */

static struct coroutine *own(void)
{
	return coroutines[simkernel.task];
}

static void sleep_until(uint64_t wake_ns)
{
	own()->wake_ns = wake_ns;
	swapcontext(&own()->context, &scheduler);
}

static void pause_if_due(struct simtask *task)
{
	uint64_t before_ns = simkernel.now_ns;
	uint64_t span_ns;

	if (!pace_due(&task->pace, &task->handle))
		return;
	if (!pace_before(&simtask_process, &task->pace, &task->handle,
			 (int)simkernel.task, PACE_SLEEP))
		simkernel.broken = "a file of the simulation is not what it was";
	span_ns = simkernel.now_ns - before_ns;
	task->paced_ns += span_ns;
	see(&task->longest_ns, span_ns);
	check_verdict(task);
}

static void write_call(struct simtask *task)
{
	for (uint64_t done_bytes = 0; done_bytes < task->call_bytes;) {
		uint64_t piece_bytes;

		pause_if_due(task);
		piece_bytes =
			min_u64(task->call_bytes - done_bytes, task->pace.piece_bytes);
		simkernel_write(simkernel.task, task->offset_bytes, piece_bytes);
		pace_charge(&task->pace, &task->handle, piece_bytes);
		task->offset_bytes += piece_bytes;
		task->written_bytes += piece_bytes;
		done_bytes += piece_bytes;
		sleep_until(simkernel.now_ns + bytes_to_ns(piece_bytes, SIM_MEMORY_BPS));
	}
}

static void program(void)
{
	struct simtask *task = &own()->task;
	uint64_t next_ns;

	if (simkernel.now_ns < task->begin_ns)
		sleep_until(task->begin_ns);
	next_ns = simkernel.now_ns;
	while (!task->end_ns || simkernel.now_ns < task->end_ns) {
		if (simkernel.now_ns >= task->rest_from_ns &&
		    simkernel.now_ns < task->rest_until_ns) {
			sleep_until(task->rest_until_ns);
			next_ns = simkernel.now_ns;
		}
		write_call(task);
		if (!task->rate_bps)
			continue;
		next_ns = max_u64(next_ns + bytes_to_ns(task->call_bytes, task->rate_bps),
				  simkernel.now_ns);
		sleep_until(next_ns);
	}
	for (;;)
		sleep_until(NEVER);
}

/* ------------------------------------------------------------------- the schedule -- */

struct simtask *simtask_add(uint64_t call_bytes, uint64_t rate_bps)
{
	struct coroutine *coroutine = calloc(1, sizeof(*coroutine));
	struct pace_task fresh = PACE_TASK_INIT;

	if (!coroutine || count == SIM_FILES)
		abort();
	coroutine->stack = malloc(STACK_BYTES);
	if (!coroutine->stack)
		abort();
	coroutine->task.call_bytes = call_bytes;
	coroutine->task.rate_bps = rate_bps;
	coroutine->task.pace = fresh;
	coroutine->wake_ns = simkernel.now_ns;
	kernel_backing((int)count, &coroutine->task.handle.backing);
	getcontext(&coroutine->context);
	coroutine->context.uc_stack.ss_sp = coroutine->stack;
	coroutine->context.uc_stack.ss_size = STACK_BYTES;
	coroutine->context.uc_link = NULL;
	makecontext(&coroutine->context, program, 0);
	coroutines[count++] = coroutine;
	return &coroutine->task;
}

static unsigned next_task(void)
{
	unsigned next = 0;

	for (unsigned i = 1; i < count; i++) {
		if (coroutines[i]->wake_ns < coroutines[next]->wake_ns)
			next = i;
	}
	return next;
}

void simtask_run(uint64_t span_ns)
{
	uint64_t end_ns = simkernel.now_ns + span_ns;

	while (!simkernel.broken && !simtask_broken) {
		unsigned next = next_task();

		if (coroutines[next]->wake_ns > end_ns)
			break;
		simkernel_set_clock(coroutines[next]->wake_ns);
		simkernel.task = next;
		swapcontext(&scheduler, &coroutines[next]->context);
		check_device();
	}
	simkernel_set_clock(end_ns);
	if (!simtask_broken)
		simtask_broken = simkernel.broken;
}

bool simtask_begin(const struct simdisk *disk)
{
	struct pace_process *process = &simtask_process;

	memset(&simkernel, 0, sizeof(simkernel));
	memset(process, 0, sizeof(*process));
	memset(&simtask_range, 0, sizeof(simtask_range));
	simkernel.disk = *disk;
	simkernel.now_ns = WP_SEC(1000);
	simkernel.sleep = sleep_until;
	simtask_broken = NULL;
	longest_poll_bytes = 0;
	longest_piece_bytes = 0;
	count = 0;
	conf_defaults(&process->conf);
	process->segment.map = calloc(1, sizeof(*process->segment.map));
	process->segment.state = SEGMENT_PRIVATE;
	process->segment.checked = true;
	return process->segment.map;
}

void simtask_end(void)
{
	for (unsigned i = 0; i < count; i++) {
		free(coroutines[i]->stack);
		free(coroutines[i]);
	}
	free(simtask_process.segment.map);
}
