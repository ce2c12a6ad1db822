#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Draws the figures of doc/CONTROL.md from traces of the simulator, and from nothing else:
#
#	doc/figures/draw.sh [-o FOLDER] [FIGURE...]
#	doc/figures/draw.sh --list
#
# The folder is that of the script where none is given. Needs gnuplot and a build; the same
# simulator and gnuplot write the same bytes again. A curve without points is a failure.

set -euo pipefail

here=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sim=${WRITEPACE_BUILD:-$here/../../build}/test/sim/sim
folder=$here
figures=(start converge speed move window headroom)
export LC_ALL=C TZ=UTC

fail()
{
	echo "draw.sh: $1" >&2
	exit 1
}

# curve FILE SCENARIO COLUMN STEP_S [NAME=VALUE...]: the points of one curve, see thin.awk.
curve()
{
	local file=$1 trace=$2.trace column=$3 step=$4 settings=() setting
	shift 4
	for setting; do
		settings+=(-v "$setting")
	done
	[ -e "$trace" ] || "$sim" "${trace%.trace}" --trace "$trace" >/dev/null ||
		fail "the simulator keeps not all promises of ${trace%.trace}"
	awk -v column="$column" -v step="$step" "${settings[@]}" -f "$here/thin.awk" \
		"$trace" >"$file" || fail "cannot read the trace of ${trace%.trace}"
	[ "$(wc -l <"$file")" -ge 10 ] || fail "no curve: $column of ${trace%.trace} $*"
}

# plot FIGURE WIDTH,HEIGHT: the script on standard input makes it.
plot()
{
	{
		cat <<-END
			set terminal svg size $2 font "sans-serif,12" name "$1" background "white"
			set output "$1.svg"
			set grid linecolor "#dddddd"
			set key top right opaque
			set border 3
			set tics nomirror
			blue = "#2266bb"; red = "#cc3322"; green = "#228844"
			grey = "#888888"; orange = "#dd8800"
		END
		cat
	} | gnuplot - || fail "gnuplot does not draw $1"
	[ -s "$1.svg" ] || fail "gnuplot wrote nothing for $1"
}

# One writer on a device that nobody has measured.
draw_start()
{
	curve outstanding one outstanding_bytes 0.02 to=4
	curve limit one limit_bytes 0.1 to=4
	curve setpoint one setpoint_bytes 0.1 to=4
	curve background one background_bytes 0.1 to=4
	plot start 800,360 <<-'END'
		set xlabel "seconds"
		set ylabel "MB"
		set yrange [0:14]
		set key bottom right
		plot "limit" using 1:($2/1e6) with lines lw 2 lc rgb red title "limit", \
		"setpoint" using 1:($2/1e6) with lines lw 1.5 lc rgb orange title "setpoint", \
		"background" using 1:($2/1e6) with lines lw 1.5 lc rgb green title "background", \
		"outstanding" using 1:($2/1e6) with lines lw 1 lc rgb blue title "outstanding"
	END
}

# Ten writers find a tenth each.
draw_converge()
{
	local task
	for task in 0 1 2 3 4 5 6 7 8 9; do
		curve "task$task" equal-10 task_bps 1 task="$task" to=60
	done
	curve base equal-10 base_bps 0.5 to=60
	curve bandwidth equal-10 bandwidth_bps 0.5 to=60
	plot converge 800,400 <<-'END'
		set xlabel "seconds"
		set ylabel "MB/s"
		set yrange [0:4]
		plot for [i=0:9] "task".i using 1:($2/1e6) with lines lw 0.5 lc rgb "#99bbdd" \
			title (i ? "" : "rates of the ten tasks"), \
		"base" using 1:($2/1e6) with lines lw 2 lc rgb blue title "base rate", \
		"bandwidth" using 1:($2/1e7) with lines lw 1.5 lc rgb red \
			title "bandwidth / 10"
	END
}

# A device that becomes ten times slower, and one that becomes ten times faster, at 20 s.
draw_speed()
{
	local scenario
	for scenario in slower faster; do
		curve "$scenario-outstanding" $scenario outstanding_bytes 0.2 from=15 to=45
		curve "$scenario-limit" $scenario limit_bytes 0.2 from=15 to=45
		curve "$scenario-bandwidth" $scenario bandwidth_bps 0.2 from=15 to=45
	done
	plot speed 800,640 <<-'END'
		set multiplot layout 2,1
		set ylabel "MB, MB/s"
		do for [scenario in "slower faster"] {
			set title "ten times ".scenario
			if (scenario eq "faster") { set xlabel "seconds"; set key bottom right }
			plot scenario."-limit" using 1:($2/1e6) with lines lw 2 lc rgb red \
				title "limit", \
			scenario."-bandwidth" using 1:($2/1e6) with lines lw 1.5 dt 2 lc rgb green \
				title "bandwidth known", \
			scenario."-outstanding" using 1:($2/1e6) with lines lw 1 lc rgb blue \
				title "outstanding"
		}
		unset multiplot
	END
}

# The load moves from a device to one 32 times slower at 120 s, at 240 s both are written to.
draw_move()
{
	local world names=(none 3s 8s auto)
	for world in 1 2 3; do
		curve "share-${names[world]}" period-move \
			writeout_numerator/writeout_denominator 1 \
			device=1 world=$world from=120 to=300
		curve "period-${names[world]}" period-move period_ns 2 \
			device=1 world=$world from=120 to=300
	done
	plot move 800,560 <<-'END'
		set multiplot
		set lmargin 9
		set xrange [110:300]
		set origin 0,0.32
		set size 1,0.68
		set ylabel "share of the slow device"
		set yrange [0:1.1]
		set label "5" at 135,1.06 center textcolor rgb blue
		set label "10 periods of 3 s" at 150,1.06 left offset -0.5,0 textcolor rgb blue
		set arrow from 135,0 to 135,1.03 nohead dt 3 lc rgb blue
		set label "5" at 160,0.06 left offset 0.3,0 textcolor rgb red
		set label "10 periods of 8 s" at 200,0.06 left offset 0.3,0 textcolor rgb red
		set arrow from 160,0 to 160,1.03 nohead dt 3 lc rgb red
		set arrow from 150,0 to 150,1.03 nohead dt 3 lc rgb blue
		set arrow from 200,0 to 200,1.03 nohead dt 3 lc rgb red
		set key at 298,0.8
		plot "share-3s" using 1:2 with lines lw 1.5 lc rgb blue title "3 s", \
		"share-8s" using 1:2 with lines lw 1.5 lc rgb red title "8 s", \
		"share-auto" using 1:2 with lines lw 1.5 lc rgb green title "auto"
		unset label
		unset arrow
		unset key
		set origin 0,0
		set size 1,0.34
		set xlabel "seconds"
		set ylabel "period, s"
		set yrange [0:9]
		plot "period-3s" using 1:($2/1e9) with lines lw 1.5 lc rgb blue, \
		"period-8s" using 1:($2/1e9) with lines lw 1.5 lc rgb red, \
		"period-auto" using 1:($2/1e9) with lines lw 1.5 lc rgb green
		unset multiplot
	END
}

# A device whose commands cost 5 ms each: one long unit at a time is what it wants.
draw_window()
{
	curve window stick window_bytes 0.1 to=60
	curve unit stick unit_bytes 0.1 to=60
	plot window 800,360 <<-'END'
		set xlabel "seconds"
		set ylabel "KiB"
		set logscale y 2
		set yrange [32:2048]
		plot "window" using 1:($2/1024) with steps lw 2 lc rgb blue title "window", \
		"unit" using 1:($2/1024) with steps lw 1 lc rgb orange title "unit"
	END
}

# Others come at 20 s, there is headroom for them from 40 s on, at 105 s they have gone.
draw_headroom()
{
	curve outstanding headroom outstanding_bytes 0.2 from=10 to=120
	curve limit headroom limit_bytes 0.2 from=10 to=120
	curve bandwidth headroom bandwidth_bps 0.5 from=10 to=120
	plot headroom 800,400 <<-'END'
		set xlabel "seconds"
		set ylabel "MB, MB/s"
		set logscale y 2
		set xrange [10:120]
		set yrange [0.25:24]
		set ytics (0.25, 0.5, 1, 2, 4, 8, 16)
		set key at 100,5
		set arrow from 20,0.25 to 20,15 nohead dt 3 lc rgb grey
		set arrow from 40,0.25 to 40,15 nohead dt 3 lc rgb grey
		set arrow from 105,0.25 to 105,15 nohead dt 3 lc rgb grey
		set label "others come" at 20,18 center
		set label "headroom" at 40,18 center
		set label "they have gone" at 105,18 center
		plot "limit" using 1:($2/1e6) with lines lw 2 lc rgb red title "limit", \
		"bandwidth" using 1:($2/1e6) with lines lw 1.5 dt 2 lc rgb green \
			title "bandwidth known", \
		"outstanding" using 1:($2/1e6) with lines lw 1 lc rgb blue title "outstanding"
	END
}

is_figure()
{
	local figure
	for figure in "${figures[@]}"; do
		[ "$figure" != "$1" ] || return 0
	done
	return 1
}

if [ "${1-}" = --list ]; then
	printf '%s\n' "${figures[@]}"
	exit
fi
if [ "${1-}" = -o ]; then
	[ -d "${2-}" ] || fail "-o needs a folder"
	folder=$(cd "$2" && pwd)
	shift 2
fi
[ $# -gt 0 ] || set -- "${figures[@]}"
for figure; do
	is_figure "$figure" || fail "no figure '$figure', see --list"
done
command -v gnuplot >/dev/null || fail "no gnuplot (Debian: gnuplot-nox)"
[ -x "$sim" ] || fail "no simulator in this build"
sim=$(realpath "$sim")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for figure; do
	"draw_$figure"
	cp "$figure.svg" "$folder"
done
