# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The inner loop's bound, found by trying (doc/CONTROL.md): ten writers each write a threshold at
# once, look at y and sleep for it at a rate that falls with y. Bandwidth and the mean hold are 1,
# so the slope is k*hold. Printed is what is left of a small error after 60 holds.

# The y that each finds at its looks while nothing disturbs.
function rest(phases, i, at, y, last, turn)
{
	y = last = 0
	for (turn = 0; turn < 3; turn++)
		for (i = 0; i < writers; i++) {
			at = turn + phases[i]
			y += 1 / writers - (at - last)
			last = at
			found[i] = y
		}
}

function left(gain, phases, i, next_s, y, last, look, error, largest, first)
{
	rest(phases)
	for (i = 0; i < writers; i++)
		next_s[i] = phases[i]
	y = 0.001
	last = 0
	for (look = 0; look < 60 * writers; look++) {
		first = 0
		for (i = 1; i < writers; i++)
			if (next_s[i] < next_s[first])
				first = i
		y += 1 / writers - (next_s[first] - last)
		last = next_s[first]
		error = y - found[first]
		next_s[first] += 1 / (1 - gain * error > 0.2 ? 1 - gain * error : 0.2)
		if (error < 0)
			error = -error
		if (look >= 59 * writers && error > largest)
			largest = error
	}
	return largest / 0.001
}

BEGIN {
	writers = 10
	srand(1)
	for (i = 0; i < writers; i++) {
		even[i] = i / writers
		close_by[i] = i / writers / 10
		at_random[i] = (i + rand()) / writers
	}
	print "k*hold  evenly spread  close together  at random"
	count = split("0.5 1 1.5 1.9 2.1 2.5", gains, " ")
	for (i = 1; i <= count; i++)
		printf "%6.1f  %13.3f  %14.3f  %9.3f\n", gains[i], left(gains[i], even),
			left(gains[i], close_by), left(gains[i], at_random)
}
