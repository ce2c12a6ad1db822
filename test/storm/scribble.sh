#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Random words over the segment while ten writers use it, and the helper. Oracle: every program
# ends as it does plain, in time, and its file is the same; the helper does not spin; when nobody
# writes into the segment any more, the next program is paced again. WRITEPACE_LONG=1: ten rounds.
#
# shellcheck disable=SC2016 # shells within shells

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"
. "$here/../lab/arms.sh"

scribble=$lab_build/test/storm/scribble
rounds=1 size=3M
[ -z "${WRITEPACE_LONG-}" ] || rounds=10 size=12M
unset WRITEPACE_LONG
seed=${STORM_SEED:-$RANDOM}
echo "# STORM_SEED=$seed"

lab_require ext4 || skip_all "$LAB_WHY"
lab_make ext4 500 52428800 || bail_out "$LAB_WHY"
head -c $size /dev/urandom >"$LAB_TMP/source"
sync "$LAB_TMP/source"

# Ten programs that copy the source, each in its own way.
programs=(
	'cp "$1" "$2"'
	'cat "$1" >"$2"'
	'dd if="$1" of="$2" bs=4k status=none'
	'dd if="$1" of="$2" bs=64k conv=fsync status=none'
	'dd if="$1" of="$2" bs=1M oflag=append conv=notrunc status=none'
	'dd if="$1" of="$2" bs=16M status=none'
	'tee "$2" <"$1" >/dev/null'
	'head -c 1M "$1" >"$2" && tail -c +1048577 "$1" >>"$2"'
	'split -b 512k "$1" "$2." && cat "$2".* >"$2"'
	'perl -e "open I, shift; open O, q(>), shift; print O while <I>; close O or die" "$1" "$2"'
)

start_programs()
{
	local i

	for i in "${!programs[@]}"; do
		timeout -k 5 150 "${under[@]}" sh -c "${programs[i]}" sh "$LAB_TMP/source" \
			"$LAB_MNT/copy.$i" &
		pids[i]=$!
	done
}

# What did not end well, or copied something else, into $bad. Why not printed: a shell waits for
# its own children alone.
find_bad_programs()
{
	local i status

	bad=''
	for i in "${!programs[@]}"; do
		wait "${pids[i]}"
		status=$?
		[ $status = 0 ] && cmp -s "$LAB_TMP/source" "$LAB_MNT/copy.$i" ||
			bad+="status $status of ${programs[i]}; "
	done
	rm -f "$LAB_MNT"/copy.*
}

# One helper after the other, for each leaves when it finds its place taken or the header damaged.
# What would spin is ended by its limit of processor time.
keep_helping()
{
	local count=1 status

	trap 'kill $helper 2>/dev/null; exit' TERM
	: >"$LAB_TMP/helped"
	echo 1 >"$LAB_TMP/helpers"
	while :; do
		(ulimit -t 4 -c 0 && exec "$lab_build/writepaced" --foreground) &
		helper=$!
		wait $helper
		status=$?
		[ $status = 0 ] || echo "status $status" >>"$LAB_TMP/helped"
		count=$((count + 1))
		echo $count >"$LAB_TMP/helpers"
		sleep 0.2
	done
}

for ((round = 0; round < rounds; round++)); do
	lab_forget
	WRITEPACE_HELPER=off "$LAB_WRITEPACE" sleep 300 &
	sleeper=$!
	WRITEPACE_HELPER=off "$LAB_WRITEPACE" true
	keep_helping &
	keeper=$!
	# Why the library alone: the wrapper would start helpers, and replace a damaged segment.
	under=(env "LD_PRELOAD=$lab_build/.libs/libwritepace.so" WRITEPACE_LIMIT=4M)
	start_programs
	segment=$(lab_segment)
	"$scribble" "$segment" $((rounds > 1 ? 10 : 3)) $((seed + round)) &
	scribbler=$!
	start=${EPOCHREALTIME/./}
	find_bad_programs
	is "round $round: programs that did not end as plain" "$bad" ""
	# Seconds over a minute: somebody waits for what will not come.
	compare "round $round: seconds of the last of ten" \
		"$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 1)" le 60
	wait $scribbler
	is "round $round: scribbler" $? 0
	kill $keeper && wait $keeper 2>/dev/null
	is "round $round: helpers that ended badly" "$(cat "$LAB_TMP/helped")" ""
	compare "round $round: helpers that were there" "$(cat "$LAB_TMP/helpers")" ge 1

	# Nobody scribbles any more. A header that is damaged is noticed, and another file made.
	start=${EPOCHREALTIME/./}
	timeout 120 "$LAB_WRITEPACE" --stats dd if=/dev/zero of="$LAB_MNT/after" bs=1M \
		count=$((rounds > 1 ? 100 : 40)) status=none 2>"$LAB_TMP/after"
	is "round $round: the next program" $? 0
	compare "round $round: its pauses" "$(arm_value sleeps "$LAB_TMP/after")" ge 1
	compare "round $round: seconds for what takes 1 or 2" \
		"$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 1)" le 60
	kill $sleeper 2>/dev/null
	wait $sleeper 2>/dev/null
	rm -f "$LAB_MNT/after"
done
done_testing
