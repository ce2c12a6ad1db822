# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Two columns of a simulator's trace, made thin enough to be drawn: of each step of time the rows
# with the lowest and the highest value, in their order, so that no swing is lost.
#
#	awk -v column=NAME[/NAME] -v step=S [-v from=S -v to=S -v device=N -v task=N -v world=N]
#		-f thin.awk TRACE
#
# A fraction of two columns is written with a stroke. A world begins where the time goes back.

BEGIN {
	FS = "\t"
	if (to == "")
		to = 1e9
	if (world == "")
		world = 1
}

NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	parts = split(column, names, "/")
	for (i = 1; i <= parts; i++)
		if (!(names[i] in at)) {
			print "thin.awk: no column " names[i] >"/dev/stderr"
			exit 1
		}
	worlds = 1
	next
}

$1 < before { worlds++ }

{ before = $1 }

worlds != world || $1 < from || $1 > to { next }

device != "" && $(at["device"]) != device || task != "" && $(at["task"]) != task { next }

{
	value = $(at[names[1]])
	if (parts > 1)
		value /= $(at[names[2]])
	if (int($1 / step) != bucket || !held) {
		flush_held()
		bucket = int($1 / step)
		low = high = value
		low_s = high_s = $1
		held = 1
	}
	if (value < low) {
		low = value
		low_s = $1
	}
	if (value > high) {
		high = value
		high_s = $1
	}
}

END { flush_held() }

function flush_held()
{
	if (!held)
		return
	if (low_s < high_s) {
		print low_s, low
		print high_s, high
	} else {
		print high_s, high
		if (low_s > high_s)
			print low_s, low
	}
}
