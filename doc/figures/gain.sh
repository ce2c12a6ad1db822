#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints the numbers of doc/CONTROL.md that are not those of a scenario: what the inner loop is
# like in traces (gain.awk), where its bounds are (map.awk), and how quickly the base rate follows.

set -euo pipefail

here=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sim=${WRITEPACE_BUILD:-$here/../../build}/test/sim/sim
export LC_ALL=C

[ -x "$sim" ] || { echo "gain.sh: no simulator in this build" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "traced:"
echo "scenario     window   writers  u     z    k, 1/s   hold, longest ms k*hold margin level deviation written turns"
for scenario in one equal-2 equal-10 equal-100 ten-slowest faster headroom headroom-10; do
	"$sim" $scenario --trace "$work/trace" >/dev/null ||
		{ echo "gain.sh: $scenario keeps not all promises" >&2; exit 1; }
	for window in "5 15" "30 40" "70 80"; do
		read -r from to <<<"$window"
		awk -v name=$scenario -v from="$from" -v to="$to" -f "$here/gain.awk" "$work/trace"
	done
done

echo
echo "what is left of an error after 60 holds:"
awk -f "$here/map.awk"

# limit - setpoint is a quarter of the limit (a twentieth where the background line is at 90 %), a
# hold at most an eighth of outstanding / bandwidth.
echo
echo "many writers, every hold the longest:"
echo "   u      z  k*drain  k*hold  k*hold at background 90 %"
awk 'BEGIN {
	split("1.05 1.15 1.25 1.5 2 2.1 3 4", u, " ")
	for (i = 1; i in u; i++) {
		z = (1 - 1 / u[i]) ^ (1 / 3)
		k = 12 * z * z * u[i]
		printf "%5.2f  %5.2f  %7.2f  %6.2f  %6.2f\n", u[i], z, k,
			k * (0.75 + 0.25 * z) / 8, 5 * k * (0.95 + 0.05 * z) / 8
	}
}'

# core/ratelimit.c: an eighth of the error, halved once for each time twice the error goes into
# the base rate, five times a second.
echo
echo "base rate, the whole error seen at each step:"
echo "error     u  halved  a second  time constant, s  inner loop, times faster at drain 1 s"
awk 'BEGIN {
	split("0.6 0.5 0.4 0.2 0.1 0.05", error, " ")
	for (i = 1; i in error; i++) {
		shift = int(0.999 / (2 * error[i]))
		speed = 5 * error[i] / 8 / 2 ^ shift
		u = 1 / (1 - error[i])
		k = 12 * error[i] ^ (2 / 3) * u # z^3 = 1 - 1 / u, the error
		printf "%5.2f  %4.2f  %6d  %8.6f  %16.1f  %11.0f\n", error[i], u, shift,
			speed, error[i] / speed, k * error[i] / speed
	}
}'
