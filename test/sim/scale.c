/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scale.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "age/age.h"
#include "base/fixed.h"
#include "core/balance.h"
#include "core/ceiling.h"
#include "core/pause.h"
#include "core/period.h"
#include "core/spacing.h"

/* As in src/pace, src/flush and src/shm. */
#define PATIENCE_NS WP_MS(20)
#define STEP_MIN_NS WP_US(200)
#define STEP_MAX_NS WP_MS(5)
#define RELEASE_NS WP_SEC(5)
#define PUSH_MAX_BYTES WP_KIB(256)
#define MAX_UNITS 16
#define SUM_NS WP_SEC(1)
#define IN_USE_NS WP_SEC(3)

#define EXPIRE_NS WP_SEC(30) /* the kernel writes what is older */
#define SLACK_NS WP_US(100)  /* a sleep ends up to so much later than asked for */
#define MERGED_MAX 64        /* pieces in a row that take no time */

struct scale scale;

/* -------------------------------------------------------------------------- events -- */

static void *grown(void *array, size_t count, size_t bytes)
{
	array = realloc(array, count * bytes);
	if (!array)
		abort();
	return array;
}

static void wake(uint64_t who, uint64_t at_ns)
{
	struct scale_event *events;
	unsigned at = scale.event_count++;

	if (scale.event_count > scale.event_capacity) {
		scale.event_capacity = 2 * scale.event_count;
		scale.events =
			grown(scale.events, scale.event_capacity, sizeof(*scale.events));
	}
	events = scale.events;
	while (at && events[(at - 1) / 2].at_ns > at_ns) {
		events[at] = events[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	events[at] = (struct scale_event){ .at_ns = at_ns, .who = who };
}

static struct scale_event take_first(void)
{
	struct scale_event *events = scale.events;
	struct scale_event first = events[0];
	struct scale_event last = events[--scale.event_count];
	unsigned at = 0;

	for (;;) {
		unsigned child = 2 * at + 1;

		if (child >= scale.event_count)
			break;
		if (child + 1 < scale.event_count &&
		    events[child + 1].at_ns < events[child].at_ns)
			child++;
		if (events[child].at_ns >= last.at_ns)
			break;
		events[at] = events[child];
		at = child;
	}
	events[at] = last;
	return first;
}

static uint64_t device_number(const struct scale_device *device)
{
	return (uint64_t)(device - scale.devices);
}

static void wake_device(struct scale_device *device, uint64_t at_ns)
{
	if (device->next_ns && device->next_ns <= at_ns)
		return;
	device->next_ns = at_ns;
	wake(scale.task_count + device_number(device), at_ns);
}

static void wake_task(struct scale_task *task, uint64_t at_ns)
{
	wake((uint64_t)(task - scale.tasks), at_ns);
}

/* ----------------------------------------------------------------------- invariants -- */

uint64_t scale_outstanding_bytes(const struct scale_device *device)
{
	return device->unsettled_bytes + device->dirty_bytes + device->flight_bytes;
}

/* What the engine knows of. */
static uint64_t known_bytes(const struct scale_device *device)
{
	return device->dirty_bytes + device->flight_bytes;
}

static void hold(bool holds, const char *what, const struct scale_device *device,
		 uint64_t value, uint64_t bound)
{
	if (holds || scale.broken)
		return;
	scale.broken = what;
	snprintf(scale.broken_why, sizeof(scale.broken_why),
		 "at %.3f s, device %" PRIu64 ": %" PRIu64 ", bound %" PRIu64,
		 (double)(scale.now_ns - SCALE_BEGIN_NS) / 1e9, device_number(device),
		 value, bound);
}

/* The wall and the limit may fall in the next step; what began under them goes on for a moment. */
static void note_limit(struct scale_device *device)
{
	uint64_t limit_bytes = control_limit_bytes(&device->control, &device->bounds);
	uint64_t level_bytes = max_u64(limit_bytes, known_bytes(device));
	uint64_t credit_bytes = control_credit_bytes(&device->control, &device->bounds,
						     known_bytes(device));
	uint64_t wall_bytes = max_u64(device->control.wall_bytes, limit_bytes);

	/* a burst may begin before the wall is raised for it */
	if (credit_bytes)
		wall_bytes = max_u64(wall_bytes, level_bytes + credit_bytes);
	device->background_bytes = control_background_bytes(limit_bytes, &device->bounds);
	if (wall_bytes >= device->held_bytes ||
	    scale.now_ns > device->held_ns + WP_SEC(1)) {
		device->held_bytes = wall_bytes;
		device->held_ns = scale.now_ns;
	}
}

static void check_device(struct scale_device *device)
{
	uint64_t bytes = scale_outstanding_bytes(device);
	uint64_t bound_bytes = device->held_bytes + device->room_bytes;

	if (!device->control.stamp_ns)
		return;
	device->peak_bytes = max_u64(device->peak_bytes, bytes);
	device->over_bytes =
		max_u64(device->over_bytes, sub_u64(bytes, device->held_bytes));
	if (bytes <= bound_bytes)
		device->released = false;
	if (!device->released)
		hold(bytes <= bound_bytes,
		     "outstanding is at most the wall, a threshold and a piece of each task",
		     device, bytes, bound_bytes);
	hold(device->control.window.bytes >= WINDOW_MIN_BYTES &&
		     device->control.window.bytes <= WINDOW_MAX_BYTES,
	     "the window is within its bounds", device, device->control.window.bytes,
	     WINDOW_MAX_BYTES);
	hold(device->control.ratelimit.base_bps >= 1, "the base rate is positive", device,
	     device->control.ratelimit.base_bps, 1);
}

static void check_verdict(const struct scale_device *device,
			  const struct verdict *verdict)
{
	hold(verdict->pause_ns <= WP_MS(200), "a pause is at most 200 ms", device,
	     verdict->pause_ns, WP_MS(200));
	hold(verdict->pos_q10 <= 2 * WP_Q10, "the position ratio is at most two", device,
	     verdict->pos_q10, 2 * WP_Q10);
	hold(verdict->piece_bytes >= PIECE_LEAST_BYTES &&
		     verdict->piece_bytes <= PIECE_MAX_BYTES,
	     "a piece is within its bounds", device, verdict->piece_bytes,
	     PIECE_MAX_BYTES);
	hold(verdict->limit_bytes <= max_u64(verdict->global_bytes, LIMITS_ROOM_BYTES),
	     "no device has more than the global limit", device, verdict->limit_bytes,
	     verdict->global_bytes);
	hold(verdict->credit_bytes <= device->bounds.burst_bytes,
	     "the credit is at most what the user gave", device, verdict->credit_bytes,
	     device->bounds.burst_bytes);
	hold(verdict->task_limit_bytes <= verdict->limit_bytes &&
		     verdict->task_limit_bytes >= verdict->limit_bytes / 2,
	     "a task has at least half of the device's limit", device,
	     verdict->task_limit_bytes, verdict->limit_bytes);
}

/* ----------------------------------------------------------------------------- disk -- */

/* When the transfer of @bytes that begins at @at_ns ends. */
static uint64_t transfer(struct scale_disk *disk, uint64_t bytes, uint64_t at_ns)
{
	if (!disk->slice_ns)
		return at_ns + bytes_to_ns(bytes, disk->rate_bps);
	while (bytes) {
		uint64_t part_bytes;

		if (at_ns / disk->slice_ns != disk->slice) {
			disk->slice = at_ns / disk->slice_ns;
			disk->slice_left_bytes =
				ns_to_bytes(disk->slice_ns, disk->rate_bps);
		}
		part_bytes = min_u64(bytes, disk->slice_left_bytes);
		disk->slice_left_bytes -= part_bytes;
		bytes -= part_bytes;
		at_ns += bytes_to_ns(part_bytes, disk->medium_bps);
		if (bytes && !disk->slice_left_bytes)
			at_ns = max_u64(at_ns, (disk->slice + 1) * disk->slice_ns);
	}
	return at_ns;
}

static void make_room(struct scale_disk *disk)
{
	struct scale_command *commands;

	if (disk->count < disk->capacity)
		return;
	commands =
		grown(NULL, disk->capacity ? 2 * disk->capacity : 8, sizeof(*commands));
	for (unsigned i = 0; i < disk->count; i++)
		commands[i] = disk->commands[(disk->head + i) % disk->capacity];
	free(disk->commands);
	disk->commands = commands;
	disk->capacity = disk->capacity ? 2 * disk->capacity : 8;
	disk->head = 0;
}

/* Put @bytes at the end of the queue. */
static void occupy(struct scale_disk *disk, uint64_t bytes)
{
	uint64_t at_ns =
		max_u64(max_u64(disk->free_ns, disk->stall_until_ns), scale.now_ns);

	disk->free_ns = transfer(disk, bytes, at_ns + disk->command_ns);
}

uint64_t scale_stranger_ns(struct scale_device *device, uint64_t bytes)
{
	occupy(&device->disk, bytes);
	return device->disk.free_ns + device->disk.latency_ns - scale.now_ns;
}

static void submit(struct scale_disk *disk, uint64_t bytes)
{
	make_room(disk);
	occupy(disk, bytes);
	disk->commands[(disk->head + disk->count++) % disk->capacity] =
		(struct scale_command){ .done_ns = disk->free_ns + disk->latency_ns,
					.bytes = bytes };
}

/* Bytes completed by now. */
static uint64_t complete(struct scale_disk *disk)
{
	uint64_t bytes = 0;

	while (disk->count && disk->commands[disk->head].done_ns <= scale.now_ns) {
		bytes += disk->commands[disk->head].bytes;
		disk->head = (disk->head + 1) % disk->capacity;
		disk->count--;
	}
	disk->done_bytes += bytes;
	return bytes;
}

/* --------------------------------------------------------------- as the engine does -- */

/* In the segment as far as its table goes, for the choice of the period is made by that. */
static struct fprop_count *count_of(const struct scale_device *device)
{
	uint64_t number = device_number(device);

	return number < WP_DEVICES ? &scale.segment->devices[number].writeout :
				     &scale.devices[number].writeout;
}

static void count_completed(struct scale_device *device, uint64_t bytes)
{
	struct wp_segment *segment = scale.segment;

	if (!bytes)
		return;
	device->flight_bytes -= bytes;
	device->written_bytes += bytes;
	device->progress_ns = scale.now_ns;
	age_step(segment, scale.now_ns);
	fprop_add_max(&segment->writeout, count_of(device), bytes,
		      device->bounds.max_ratio_q10, 0);
	age_started(segment, scale.now_ns);
}

static void start_unit(struct scale_device *device, uint64_t unit_bytes)
{
	uint64_t bytes = min_u64(unit_bytes, device->dirty_bytes);

	device->dirty_bytes -= bytes;
	device->flight_bytes += bytes;
	submit(&device->disk, bytes);
	device->starts++;
}

static void start_units(struct scale_device *device)
{
	uint64_t most_bytes = window_bytes(&device->control.window);
	uint64_t unit_bytes = window_unit_bytes(&device->control.window);
	uint64_t interval_ns = control_interval_ns(&device->control);

	for (int unit = 0; unit < MAX_UNITS && device->dirty_bytes; unit++) {
		uint64_t next_ns;

		if (!spacing_may_start(device->start_ns, interval_ns, scale.now_ns,
				       &next_ns))
			return;
		if (device->flight_bytes && device->busy_clock_ns != device->start_ns) {
			device->busy_clock_ns = device->start_ns;
			device->busy_starts++;
		}
		if (device->flight_bytes + unit_bytes > most_bytes)
			return;
		device->start_ns = next_ns;
		start_unit(device, unit_bytes);
	}
}

static uint64_t service_ns(const struct scale_device *device, uint64_t bytes)
{
	return bytes_to_ns(bytes, bandwidth_likely_bps(&device->control.bandwidth));
}

static void note_look(struct scale_device *device, bool wanted)
{
	uint64_t patience_ns =
		max_u64(PATIENCE_NS,
			4 * service_ns(device, window_bytes(&device->control.window)));

	if (!wanted || scale.now_ns > device->look_ns + patience_ns ||
	    (scale.now_ns > device->start_ns + patience_ns && !device->flight_bytes))
		device->idle_ns = scale.now_ns;
	device->look_ns = scale.now_ns;
}

static void step(struct scale_device *device)
{
	struct control_sample sample = {
		.now_ns = scale.now_ns,
		.written_bytes = device->written_bytes,
		.dirtied_bytes = device->dirtied_bytes,
		.outstanding_bytes = known_bytes(device),
		.idle_ns = device->idle_ns,
		.starts = device->starts,
		.busy_starts = device->busy_starts,
	};

	if (device->control.stamp_ns &&
	    scale.now_ns < device->control.stamp_ns + CONTROL_INTERVAL_NS &&
	    device->idle_ns <= device->control.bandwidth_stamp_ns)
		return;
	device->bounds.in_use_bps = scale.in_use_bps;
	device->bounds.outstanding_bytes = scale.outstanding_bytes;
	device->bounds.share = scale_share(device);
	control_step(&device->control, &sample, &device->bounds);
	note_limit(device);
	scale.steps++;
}

static void look(struct scale_device *device)
{
	bool wanted;

	count_completed(device, complete(&device->disk));
	wanted = known_bytes(device) > device->background_bytes;
	if (wanted)
		start_units(device);
	note_look(device, wanted);
	step(device);
	check_device(device);
	scale.looks++;
}

struct fprop_fraction scale_share(const struct scale_device *device)
{
	return fprop_share(&scale.segment->writeout, count_of(device));
}

/* What all devices together hold and can do, once a second. */
static void sum_devices(void)
{
	if (scale.now_ns < scale.sum_ns + SUM_NS)
		return;
	scale.sum_ns = scale.now_ns;
	scale.in_use_bps = 0;
	scale.outstanding_bytes = 0;
	for (unsigned i = 0; i < scale.device_count; i++) {
		const struct scale_device *device = &scale.devices[i];

		scale.outstanding_bytes += known_bytes(device);
		if (scale.now_ns <= device->look_ns + IN_USE_NS)
			scale.in_use_bps += device->control.bandwidth.avg_bps;
	}
}

/* ---------------------------------------------------------------------------- tasks -- */

static void settle(struct scale_task *task, struct scale_device *device)
{
	uint64_t bytes = task->charged_bytes;

	device->unsettled_bytes -= bytes;
	device->dirty_bytes += bytes;
	device->dirtied_bytes += bytes;
	task->owed_bytes += bytes;
	task->charged_bytes = 0;
	if (device->bounds.rate_bps)
		task->ceiling_ns = device->ceiling_ns = ceiling_clock_ns(
			device->ceiling_ns, scale.now_ns, bytes, device->bounds.rate_bps);
	age_started(scale.segment, scale.now_ns);
	age_step(scale.segment, scale.now_ns);
	fprop_add_single(&scale.segment->dirtied, &task->dirtied_word, bytes, 0);
	sum_devices();
}

static uint64_t period_ns(void)
{
	const struct wp_header *header = &scale.segment->header;
	struct period chosen = period_of_word(header->chosen);

	if (header->period_ns == WP_PERIOD_AUTO)
		return period_span_ns(&chosen);
	return header->period_ns ? header->period_ns : AGE_PERIOD_NS;
}

static void trace(const struct scale_task *task, const struct verdict *verdict)
{
	const struct scale_device *device = &scale.devices[task->device];
	struct fprop_fraction writeout = scale_share(device);
	const uint64_t values[] = {
		verdict->view.outstanding_bytes,
		verdict->view.dirtied_bytes,
		verdict->view.weight,
		verdict->view.share_numerator,
		verdict->view.share_denominator,
		verdict->global_bytes,
		verdict->limit_bytes,
		verdict->task_limit_bytes,
		verdict->background_bytes,
		verdict->setpoint_bytes,
		verdict->wall_bytes,
		verdict->credit_bytes,
		verdict->bandwidth_bps,
		verdict->base_bps,
		verdict->pos_q10,
		verdict->task_bps,
		verdict->max_pause_ns,
		verdict->min_pause_ns,
		verdict->pause_ns,
		verdict->poll_bytes,
		verdict->piece_bytes,
		verdict->free_running,
		verdict->at_wall,
		verdict->owed_bytes,
		device->control.window.bytes,
		device->flight_bytes,
		device->written_bytes,
		window_unit_bytes(&device->control.window),
		writeout.numerator,
		writeout.denominator,
		period_ns(),
	};

	fprintf(scale.trace, "%.6f\t%u\t%ld",
		(double)(scale.now_ns - SCALE_BEGIN_NS) / 1e9, task->device,
		(long)(task - scale.tasks));
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		fprintf(scale.trace, "\t%" PRIu64, values[i]);
	fputc('\n', scale.trace);
}

static void decide(struct scale_task *task, struct scale_device *device,
		   struct verdict *verdict)
{
	struct fprop_fraction share =
		fprop_share_single(&scale.segment->dirtied, &task->dirtied_word);
	struct view view = {
		.now_ns = scale.now_ns,
		.outstanding_bytes = known_bytes(device),
		.dirtied_bytes = task->owed_bytes,
		.paused_when_ns = task->paused_when_ns,
		.weight = task->weight,
		.share_numerator = share.numerator,
		.share_denominator = share.denominator,
	};

	balance(verdict, &view, &device->control, &device->bounds);
	check_verdict(device, verdict);
	/* the limit may have risen since the last step */
	device->held_bytes = max_u64(device->held_bytes, verdict->limit_bytes);
	scale.verdicts++;
	if (scale.trace)
		trace(task, verdict);
}

static void keep(struct scale_task *task, struct scale_device *device,
		 const struct verdict *verdict)
{
	task->poll_bytes = min_u64(verdict->poll_bytes, verdict->limit_bytes);
	task->piece_bytes = verdict->piece_bytes;
	/* What it may write until it looks again; at the wall it goes nowhere, and what it wrote
	 * last still stands. */
	if (!verdict->at_wall) {
		device->room_bytes -= task->room_bytes;
		task->room_bytes = task->poll_bytes + task->piece_bytes;
		device->room_bytes += task->room_bytes;
	}
	task->paused_when_ns = verdict->paused_when_ns;
	task->again = verdict->again;
	task->at_wall = verdict->at_wall;
	task->owed_bytes = verdict->owed_bytes;
}

/* A task slower than its share starts what it wrote (src/pace: push). */
static void push(struct scale_task *task, struct scale_device *device,
		 const struct verdict *verdict)
{
	uint64_t since_ns = sub_u64(scale.now_ns, task->paused_when_ns);
	uint64_t left_bytes = min_u64(task->owed_bytes, PUSH_MAX_BYTES);
	uint64_t unit_bytes = window_unit_bytes(&device->control.window);

	if (verdict->view.outstanding_bytes <= verdict->background_bytes ||
	    rate_of(task->owed_bytes, since_ns) >= verdict->base_bps)
		return;
	for (int unit = 0; unit < MAX_UNITS && left_bytes && device->dirty_bytes;
	     unit++) {
		uint64_t bytes = min_u64(left_bytes, unit_bytes);

		device->start_ns +=
			mul_div(control_interval_ns(&device->control), bytes, unit_bytes);
		start_unit(device, bytes);
		left_bytes = sub_u64(left_bytes, unit_bytes);
	}
}

/* When one of those who sleep looks next: at the engine's step, or when there is something. */
static uint64_t next_look_ns(const struct scale_device *device)
{
	const struct scale_disk *disk = &device->disk;
	uint64_t unit_bytes = window_unit_bytes(&device->control.window);
	uint64_t at_ns;

	if (!scale.look_ns)
		return scale.now_ns + clamp_u64(service_ns(device, unit_bytes) / 4,
						STEP_MIN_NS, STEP_MAX_NS);
	at_ns = disk->count ? disk->commands[disk->head].done_ns : device->start_ns;
	return clamp_u64(at_ns, scale.now_ns + scale.look_ns,
			 scale.now_ns + PATIENCE_NS / 2);
}

static void sleep_for(struct scale_task *task, struct scale_device *device,
		      uint64_t pause_ns)
{
	task->sleeps = true;
	task->paused_ns += pause_ns;
	device->sleepers++;
	wake_task(task, scale.now_ns + pause_ns + scale_random() % SLACK_NS);
	wake_device(device, next_look_ns(device));
}

/* True when it sleeps now. */
static bool pay(struct scale_task *task, struct scale_device *device)
{
	struct verdict verdict;

	decide(task, device, &verdict);
	if (task->since_ns == scale.now_ns)
		task->until_ns = scale.now_ns + verdict.visit_ns;
	if (!verdict.pause_ns)
		push(task, device, &verdict);
	keep(task, device, &verdict);
	if (!verdict.pause_ns)
		return false;
	if (!verdict.at_wall)
		verdict.pause_ns =
			min_u64(verdict.pause_ns, sub_u64(task->until_ns, scale.now_ns));
	sleep_for(task, device, verdict.pause_ns);
	return true;
}

/* Under a ceiling of the rate; true when it sleeps now. */
static bool wait_ceiling(struct scale_task *task, struct scale_device *device)
{
	task->again = false;
	if (task->ceiling_ns <= scale.now_ns)
		return false;
	sleep_for(task, device, task->ceiling_ns - scale.now_ns);
	return true;
}

static bool visit(struct scale_task *task, struct scale_device *device)
{
	task->since_ns = scale.now_ns;
	settle(task, device);
	look(device);
	return pay(task, device) || wait_ceiling(task, device);
}

/* Has the device completed nothing for longer than anybody should be held? */
static bool is_dead(const struct scale_task *task, const struct scale_device *device)
{
	return scale.now_ns > max_u64(device->progress_ns, task->since_ns) + RELEASE_NS;
}

/* The pause is over; true when the next one has begun. */
static bool again(struct scale_task *task, struct scale_device *device)
{
	task->sleeps = false;
	device->sleepers--;
	task->longest_ns = max_u64(task->longest_ns, scale.now_ns - task->since_ns);
	look(device);
	if (!task->again || (!task->at_wall && scale.now_ns >= task->until_ns))
		return wait_ceiling(task, device);
	if (is_dead(task, device)) {
		device->released = true;
		device->releases++;
		return false;
	}
	return pay(task, device) || wait_ceiling(task, device);
}

/* Is there something to write at this moment? Else it is woken when there is. */
static bool has_call(struct scale_task *task)
{
	if (task->left_bytes)
		return true;
	if (task->end_ns && scale.now_ns >= task->end_ns)
		return false;
	if (scale.now_ns >= task->rest_from_ns && scale.now_ns < task->rest_until_ns)
		task->next_ns = task->rest_until_ns;
	if (task->burst_bytes && !task->burst_left_bytes) {
		task->burst_left_bytes = task->burst_bytes;
		task->next_ns = scale.now_ns + task->think_ns;
	}
	if (scale.now_ns < task->next_ns) {
		wake_task(task, task->next_ns);
		return false;
	}
	task->left_bytes = task->call_bytes;
	if (task->burst_bytes)
		task->left_bytes = min_u64(task->left_bytes, task->burst_left_bytes);
	task->burst_left_bytes -= task->burst_bytes ? task->left_bytes : 0;
	if (task->rate_bps)
		task->next_ns = max_u64(task->next_ns, scale.now_ns) +
				bytes_to_ns(task->left_bytes, task->rate_bps);
	return true;
}

static uint64_t write_piece(struct scale_task *task, struct scale_device *device)
{
	uint64_t bytes = min_u64(task->left_bytes, task->piece_bytes);

	task->left_bytes -= bytes;
	task->charged_bytes += bytes;
	task->written_bytes += bytes;
	device->unsettled_bytes += bytes;
	return bytes;
}

static void run_task(struct scale_task *task)
{
	struct scale_device *device = &scale.devices[task->device];

	if (task->sleeps && again(task, device))
		return;
	for (unsigned piece = 1; has_call(task); piece++) {
		uint64_t bytes;

		if (task->charged_bytes >= task->poll_bytes && visit(task, device))
			return;
		bytes = write_piece(task, device);
		if (scale.merge && piece % MERGED_MAX)
			continue;
		wake_task(task, scale.now_ns + bytes_to_ns(bytes, SCALE_MEMORY_BPS) + 1);
		return;
	}
}

/* Sleeping tasks look; with nobody there the kernel writes what has become too old. */
static void run_device(struct scale_device *device, uint64_t at_ns)
{
	if (at_ns != device->next_ns)
		return;
	device->next_ns = 0;
	if (device->sleepers) {
		look(device);
		wake_device(device, next_look_ns(device));
		return;
	}
	count_completed(device, complete(&device->disk));
	if (scale.now_ns > device->look_ns + EXPIRE_NS) {
		while (device->dirty_bytes)
			start_unit(device, WP_MIB(1));
	}
	if (known_bytes(device))
		wake_device(device, scale.now_ns + WP_SEC(1));
}

/* ---------------------------------------------------------------------------- world -- */

uint64_t scale_random(void)
{
	scale.seed ^= scale.seed << 13;
	scale.seed ^= scale.seed >> 7;
	scale.seed ^= scale.seed << 17;
	return scale.seed;
}

bool scale_begin(uint64_t seed)
{
	FILE *kept = scale.trace;

	scale = (struct scale){ .now_ns = SCALE_BEGIN_NS, .trace = kept };
	scale.seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	scale.segment = calloc(1, sizeof(*scale.segment));
	return scale.segment;
}

void scale_end(void)
{
	for (unsigned i = 0; i < scale.device_count; i++)
		free(scale.devices[i].disk.commands);
	free(scale.devices);
	free(scale.tasks);
	free(scale.events);
	free(scale.segment);
}

unsigned scale_add_device(const struct scale_disk *disk)
{
	unsigned number = scale.device_count++;

	scale.devices = grown(scale.devices, scale.device_count, sizeof(*scale.devices));
	scale.devices[number] = (struct scale_device){
		.disk = *disk,
		.bounds = { .drain_ns = WP_SEC(1),
			    .latency_ns = WP_MS(50),
			    .background_pm = 500,
			    .max_ratio_q10 = FPROP_MAX_Q10 },
	};
	if (number < WP_DEVICES)
		scale.segment->devices[number].key = number + 1;
	return number;
}

unsigned scale_add_task(unsigned device)
{
	unsigned number = scale.task_count++;

	scale.tasks = grown(scale.tasks, scale.task_count, sizeof(*scale.tasks));
	scale.tasks[number] = (struct scale_task){
		.device = device,
		.weight = 100,
		.call_bytes = WP_MIB(1),
		.poll_bytes = PAUSE_POLL_BYTES,
		.piece_bytes = PIECE_MIN_BYTES,
		.room_bytes = PAUSE_POLL_BYTES + PIECE_MIN_BYTES,
		/* nobody begins at exactly one moment */
		.begin_ns = SCALE_BEGIN_NS + scale_random() % WP_MS(50),
	};
	scale.devices[device].room_bytes += PAUSE_POLL_BYTES + PIECE_MIN_BYTES;
	return number;
}

static void wake_all(void)
{
	for (unsigned i = 0; i < scale.task_count; i++) {
		struct scale_task *task = &scale.tasks[i];

		task->burst_left_bytes = task->burst_bytes;
		wake_task(task, max_u64(task->begin_ns, SCALE_BEGIN_NS));
	}
}

void scale_run(uint64_t span_ns)
{
	uint64_t end_ns = scale.now_ns + span_ns;

	if (scale.now_ns == SCALE_BEGIN_NS)
		wake_all();
	while (!scale.broken && scale.event_count && scale.events[0].at_ns <= end_ns) {
		struct scale_event event = take_first();

		scale.now_ns = event.at_ns;
		if (event.who < scale.task_count)
			run_task(&scale.tasks[event.who]);
		else
			run_device(&scale.devices[event.who - scale.task_count],
				   event.at_ns);
	}
	scale.now_ns = end_ns;
}
