#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Paced writers that are killed, stopped and restarted at any moment. Oracles: every byte in their
# files follows from its place; each goes on making steps; a process of its own (invariants) looks
# at the segment all the time. WRITEPACE_LONG=1: a thousand kills, then a thousand each of which
# falls right behind a write to the segment, then ten minutes with and ten without random yields.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"
. "$here/../lab/arms.sh"

storm=$lab_build/test/storm/storm
invariants=$lab_build/test/storm/invariants
points=$lab_build/test/storm/.libs/libpoints.so
long=${WRITEPACE_LONG-}
unset WRITEPACE_LONG
seed=${STORM_SEED:-$RANDOM$RANDOM}
echo "# STORM_SEED=$seed"

lab_require ext4 || skip_all "$LAB_WHY"
lab_make ext4 1200 31457280 || bail_out "$LAB_WHY"

# Somebody who looks at the segment in use until it is told to end.
watch_segment()
{
	"$LAB_WRITEPACE" true
	"$invariants" "$(lab_segment)" >"$LAB_TMP/looked" &
	looker=$!
}

# storm WHAT LIMIT_S HOW COUNT WRITERS: the answers of both as lines of the test.
storm()
{
	local what=$1 limit_s=$2 status

	lab_forget
	watch_segment
	rm -rf "$LAB_MNT"/w* "$LAB_TMP/board"
	timeout -k 10 "$limit_s" "${under[@]}" "$storm" "$3" "$4" "$5" "$seed" \
		"$LAB_TMP/board" "$LAB_MNT" >"$LAB_TMP/stormed" 2>"$LAB_TMP/said"
	status=$?
	[ -z "$long" ] || sleep 15
	kill -TERM $looker 2>/dev/null
	wait $looker
	is "$what: invariants, from outside" "$?$(grep -v '^looks=' "$LAB_TMP/looked")" 0
	sed "s/^/# $what: /" "$LAB_TMP/stormed"
	grep '^looks=' "$LAB_TMP/looked" | sed "s/^/# $what: /"
	is "$what: status" "$status $(head -n 5 "$LAB_TMP/said")" "0 "
	is "$what: hung" "$(arm_value hung "$LAB_TMP/stormed")" 0
	is "$what: crashed" "$(arm_value crashed "$LAB_TMP/stormed")" 0
	is "$what: wrong bytes" "$(arm_value wrong "$LAB_TMP/stormed")" 0
}

under=("$LAB_WRITEPACE" --limit 4M)
if [ -z "$long" ]; then
	storm "60 kills and stops" 120 both 60 8
	compare "kills" "$(arm_value kills "$LAB_TMP/stormed")" ge 10
	done_testing
fi

storm "1000 kills" 900 kill 1000 10
storm "300 stops" 900 stop 300 10
storm "ten minutes" 900 calm 600 10

# Processes end by SIGKILL right behind a write to the segment; or are held up there.
[ -e "$points" ] || bail_out "$points is missing"
under=(env "LD_PRELOAD=$points" WRITEPACE_LIMIT=4M)
storm "1000 deaths at a point" 900 points 1000 10
export STORM_POINTS=yield:$seed
storm "ten minutes with yields" 900 calm 600 10
done_testing
