#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A paced writer is killed, or stopped, in the middle. Oracle: the kernel's own count of what is
# outstanding, and the time of a second paced copy to the same device: what the first one held
# must not hold up the second for longer than a second.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"

lab_require ext4 || skip_all "$LAB_WHY"
head -c 100M /dev/urandom >"$LAB_TMP/source"
head -c 20M "$LAB_TMP/source" >"$LAB_TMP/small"
sync "$LAB_TMP"/*

# Seconds of a paced copy of 20 MB at 10 MB/s: 2 alone.
second_copy()
{
	local start

	start=$(date +%s%N)
	"$LAB_WRITEPACE" cp "$LAB_TMP/small" "$LAB_MNT/second"
	awk -v ns=$(($(date +%s%N) - start)) 'BEGIN { printf "%.2f", ns / 1e9 }'
}

# In the middle of pauses, of units in flight, of a large call: wherever it happens to be.
for signal in KILL STOP; do
	lab_make ext4 400 10485760 || bail_out "$LAB_WHY"
	lab_forget
	"$LAB_WRITEPACE" dd if="$LAB_TMP/source" of="$LAB_MNT/first" bs=16M status=none &
	first=$!
	sleep 2
	kill "-$signal" "$first"
	sync -f "$LAB_MNT"
	compare "copy after SIG$signal, seconds" "$(second_copy)" le 4
	is "SIG$signal: the copy is the same" \
		"$(cmp "$LAB_TMP/small" "$LAB_MNT/second" 2>&1)" ""
	kill -KILL "$first" 2>/dev/null
	wait "$first" 2>/dev/null
	lab_remove "$LAB_DEV"
done

# Twenty writers killed at twenty moments: the segment serves the next one.
lab_make ext4 400 104857600 || bail_out "$LAB_WHY"
lab_forget
for moment in 01 02 03 05 07 11 13 17 19 23; do
	for writer in a b; do
		"$LAB_WRITEPACE" dd if="$LAB_TMP/source" of="$LAB_MNT/$writer" bs=1M \
			status=none &
		pids[${#pids[@]}]=$!
	done
	sleep "0.$moment"
	kill -KILL "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	pids=()
done
lab_cap 10485760
sync -f "$LAB_MNT"
# What they left in truncated files is nobody's to confirm: the helper finds out within
# a second, and the writer gets its rate back in a few more.
compare "copy after twenty deaths, seconds" "$(second_copy)" le 12

done_testing
