#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: the simulator's own bounds. Runs every scenario but the large one, which takes most of
# a minute: sim large.

script_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
srcdir=$(cd "${srcdir:-$script_dir/../..}" && pwd)
sim=${WRITEPACE_BUILD:-$srcdir/build}/test/sim/sim

# shellcheck source=test/lab/tap.sh
. "$srcdir/test/lab/tap.sh"

[ -x "$sim" ] || skip_all "no simulator in this build"
work=$(mktemp -d) || bail_out "no temporary directory"
trap 'rm -rf "$work"' EXIT

"$sim" --list | cut -d ' ' -f 1 >"$work/names"
[ -s "$work/names" ] || bail_out "sim --list names nothing"

while read -r name; do
	[ "$name" != large ] || continue
	"$sim" "$name" >"$work/said"
	status=$?
	lines=0
	failed=0
	while read -r line; do
		case $line in
		"ok "*) ok "$name: ${line#*- }" ;;
		"not ok "*)
			not_ok "$name: ${line#*- }" "seen in the simulator"
			failed=1
			;;
		1..*)
			is "$name: as many promises as planned" "$lines" "${line#1..}"
			continue
			;;
		*)
			echo "$line"
			continue
			;;
		esac
		lines=$((lines + 1))
	done <"$work/said"
	[ $lines -gt 0 ] || not_ok "$name" "it promised nothing, exit status $status"
	is "$name: exit status" "$status" "$failed"
done <"$work/names"
done_testing
