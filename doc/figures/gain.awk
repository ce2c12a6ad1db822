# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the inner loop of a traced scenario is like between two times (doc/CONTROL.md):
#
#	awk -v name=NAME -v from=S -v to=S -f gain.awk TRACE
#
#	u         base rate * writers / bandwidth: 1 where the base rate is right
#	z         (outstanding - setpoint) / (limit - setpoint) of the task
#	k         u * bandwidth * 3 z^2 / (limit - setpoint), per second
#	hold      from a verdict with a pause to the task's next one
#	k*hold    with the mean hold: 1 is the bound of overshoot, 2 that of stability
#	margin    2 / (k*hold): so much more gain or hold would do no harm
#	written   by what the bandwidth would have given
#	turns     changes of the base rate's direction from second 2 on; where the bandwidth jumps and
#	          takes it along by the same factor, that is none of its own

BEGIN { FS = "\t" }

NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}

$(at["task"]) >= writers { writers = $(at["task"]) + 1 }

$(at["time_s"]) > 2 && $(at["time_s"]) <= to {
	base = $(at["base_bps"])
	bandwidth = $(at["bandwidth_bps"])
	if (last && base != last && !taken_along()) {
		way = base > last ? 1 : -1
		turns += way == -before
		before = way
	}
	last = base
	last_bandwidth = bandwidth
}

$(at["time_s"]) < from || $(at["time_s"]) > to { next }

{
	task = $(at["task"])
	outstanding = $(at["outstanding_bytes"])
	limit = $(at["task_limit_bytes"])
	setpoint = (limit + $(at["background_bytes"])) / 2
	base = $(at["base_bps"])
	z = (outstanding - setpoint) / (limit - setpoint)
	if (z > 1)
		z = 1
	if (!rows++) {
		first_s = $(at["time_s"])
		first_written = $(at["written_bytes"])
	}
	last_s = $(at["time_s"])
	last_written = $(at["written_bytes"])
	bandwidth_sum += $(at["bandwidth_bps"])
	z_sum += z
	u_sum += base / $(at["bandwidth_bps"])
	k_sum += base * 3 * z * z / (limit - setpoint)
	level = outstanding / $(at["limit_bytes"])
	level_sum += level
	level_squares += level * level
	if (paced[task]) {
		hold = $(at["time_s"]) - seen[task]
		holds++
		hold_sum += hold
		if (hold > longest)
			longest = hold
	}
	seen[task] = $(at["time_s"])
	paced[task] = $(at["pause_ns"]) > 0
}

END {
	if (!holds)
		exit 1
	k = writers * k_sum / rows
	hold = hold_sum / holds
	mean = level_sum / rows
	printf "%-12s %2d-%-3d %4d %6.2f %6.2f %7.2f %6.1f %6.1f %7.2f %6.1f %6.3f %6.3f %7.3f %6d\n",
		name, from, to, writers, writers * u_sum / rows, z_sum / rows, k,
		hold * 1e3, longest * 1e3, k * hold, 2 / (k * hold), mean,
		sqrt(level_squares / rows - mean * mean),
		(last_written - first_written) / (last_s - first_s) / (bandwidth_sum / rows), turns
}

function taken_along(off)
{
	off = base / last * last_bandwidth / bandwidth - 1
	return bandwidth != last_bandwidth && off < 0.01 && off > -0.01
}
