#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: doc/CONTROL.md against doc/figures, and one figure drawn anew: each of its curves has
# points, and a simulator that traces nothing is refused. Bytes are not compared: another gnuplot
# draws the same curves otherwise.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

export WRITEPACE_BUILD=$build_dir
draw=doc/figures/draw.sh

# differences FILE FILE: lines that only one of them has.
differences()
{
	LC_ALL=C comm -3 <(sort -u "$1") <(sort -u "$2") | tr -d '\t'
}

bash $draw --list >"$work/drawn"
[ -s "$work/drawn" ] || bail_out "draw.sh draws nothing"
find doc/figures -name '*.svg' -exec basename {} .svg \; >"$work/there"
grep -oE '\]\(figures/[a-z]+\.svg\)' doc/CONTROL.md | sed 's/.*\///; s/\.svg)//' >"$work/cited"
differences "$work/drawn" "$work/there" | none "every figure that draw.sh draws is there, no other"
differences "$work/drawn" "$work/cited" | none "doc/CONTROL.md shows every figure, no other"

# points FILE: "curve points" of each curve of a picture.
points()
{
	awk '
	/<g id="[a-z]+_plot_[0-9]+"/ {
		match($0, /_plot_[0-9]+/)
		curve = substr($0, RSTART + 6, RLENGTH - 6)
	}
	curve { count[curve] += gsub(/[ML][0-9.]+,[0-9.]+/, "") }
	/^<\/svg>/ { for (curve in count) print curve, count[curve] }' "$1"
}

if ! command -v gnuplot >/dev/null; then
	skip "a figure is drawn" "no gnuplot"
elif [ ! -x "$build_dir/test/sim/sim" ]; then
	skip "a figure is drawn" "no simulator in this build"
else
	mkdir "$work/figures" "$work/mute" "$work/mute/test" "$work/mute/test/sim"
	bash $draw -o "$work/figures" start >"$work/said" 2>&1
	is "a figure is drawn" "$?:$(cat "$work/said")" "0:"
	points "$work/figures/start.svg" >"$work/points"
	is "it has the curves of the one that is there" "$(wc -l <"$work/points")" \
		"$(points doc/figures/start.svg | wc -l)"
	awk '$2 < 20 { print "curve " $1 ": " $2 " points" }' "$work/points" |
		none "each of its curves has points"

	# a trace of one line, that of the columns
	"$build_dir/test/sim/sim" one --trace "$work/trace" >/dev/null
	head -n 1 "$work/trace" >"$work/mute/columns"
	# shellcheck disable=SC2016 # for the script
	printf '#!/bin/sh\ncp "%s" "$3"\n' "$work/mute/columns" >"$work/mute/test/sim/sim"
	chmod +x "$work/mute/test/sim/sim"
	WRITEPACE_BUILD=$work/mute bash $draw -o "$work/figures" start >"$work/said" 2>&1
	is "an empty curve is refused" "$?:$(grep -c 'no curve' "$work/said")" "1:1"
fi
done_testing
