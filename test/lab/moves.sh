# shellcheck shell=bash
# shellcheck disable=SC2015,SC2016,SC2034,SC2154 # shared with the laboratory, shells of their own
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Two devices under one limit, and how their shares of the writeout follow the load.
#
#	moves_arm PERIOD	the load moves to a device 32 times slower: ARM[half_s], nine_tenths_s
#	turns_arm PERIOD S N	both are written to; N times, every S seconds, one of them becomes
#				four times slower, in turns: ARM[settled_s], error
#
# Shares are sampled four times a second into MOVES_SERIES: seconds, share, what it should be.

declare -A ARM
MOVES_FAST=67108864
MOVES_SLOW=2097152
MOVES_BEFORE_S=30
MOVES_AFTER_S=45
TURNS_RATE=33554432
MOVES_SERIES=

# moves_writers PERIOD DIRECTORY...: two dd that never end in each, process groups in moves_pids.
moves_writers()
{
	local where period=$1

	shift
	moves_pids=()
	for where; do
			WRITEPACE_LIMIT=20M WRITEPACE_PERIOD=$period setsid "$LAB_WRITEPACE" sh -c '
			for i in 1 2; do
				while dd if=/dev/zero of="$1/writer.$i" bs=64k count=1600; do
					:
				done &
			done
			wait' sh "$where" 2>"$LAB_TMP/writers" &
		moves_pids+=($!)
	done
}

moves_end_writers()
{
	local pid

	for pid in "${moves_pids[@]}"; do
		{ kill -KILL -- -"$pid" && wait "$pid"; } 2>/dev/null
	done
}

# moves_share ID: of that device.
moves_share()
{
	"$lab_build/test/helper/peek" "$(lab_segment)" |
		sed -n "s/^device=$1 .* share=\([0-9.]*\) .*/\1/p"
}

# moves_sample SECONDS ID TRUTH
moves_sample()
{
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000)) now

	while now=${EPOCHREALTIME/./} && [ "$now" -lt "$end" ]; do
		awk -v us=$((now - moves_start)) -v share="$(moves_share "$2")" -v truth="$3" \
			'BEGIN { printf "%.2f\t%s\t%s\n", us / 1e6, share, truth }' >>"$MOVES_SERIES"
		lab_run sleep 0.25
	done
}

# moves_reached SHARE: seconds after which the device had it.
moves_reached()
{
	awk -F '\t' -v share="$1" '$2 >= share { print $1; found = 1; exit }
		END { if (!found) print 1000 }' "$MOVES_SERIES"
}

moves_begin()
{
	MOVES_SERIES=${MOVES_SERIES:-$LAB_TMP/series}
	: >"$MOVES_SERIES"
	ARM=()
}

moves_arm()
{
	local fast_dev fast_mnt

	moves_begin
	lab_make ext4 700 $MOVES_FAST || return
	fast_dev=$LAB_DEV
	fast_mnt=$LAB_MNT
	lab_make ext4 400 $MOVES_SLOW || return
	lab_forget
	moves_writers "$1" "$fast_mnt"
	lab_run sleep $MOVES_BEFORE_S
	moves_end_writers
	moves_writers "$1" "$LAB_MNT"
	moves_start=${EPOCHREALTIME/./}
	moves_sample $MOVES_AFTER_S "$LAB_ID" 1
	moves_end_writers
	ARM[half_s]=$(moves_reached 0.5)
	ARM[nine_tenths_s]=$(moves_reached 0.9)
	lab_cap 0 "$fast_dev"
	lab_remove_all
}

# Of each turn: seconds until the share stays within a tenth of the truth, and the mean error of
# its last quarter. The worst of all turns.
turns_measure()
{
	awk -F '\t' -v turn_s="$1" '
	{
		turn = int($1 / turn_s)
		at = $1 - turn * turn_s
		off = $2 - $3
		off = off < 0 ? -off : off
		if (off > 0.1)
			settled[turn] = at
		if (at > turn_s * 0.75) {
			sum[turn] += off
			nr[turn]++
		}
		if (turn > last)
			last = turn
	}
	END {
		for (t = 1; t <= last; t++) {
			if (settled[t] > worst)
				worst = settled[t]
			if (nr[t] && sum[t] / nr[t] > error)
				error = sum[t] / nr[t]
		}
		printf "%.2f %.3f\n", worst, error
	}' "$MOVES_SERIES"
}

turns_arm()
{
	local period=$1 turn_s=$2 turns=$3
	local devs=() where=() id turn truths=(0.2 0.8)

	moves_begin
	for turn in 1 2; do
		lab_make ext4 400 $TURNS_RATE || return
		devs+=("$LAB_DEV") where+=("$LAB_MNT") id=${id:-$LAB_ID}
	done
	lab_forget
	moves_writers "$period" "${where[@]}"
	moves_start=${EPOCHREALTIME/./}
	moves_sample "$turn_s" "$id" 0.5
	for ((turn = 0; turn < turns; turn++)); do
		lab_cap $((TURNS_RATE / 4)) "${devs[turn % 2]}"
		lab_cap $TURNS_RATE "${devs[(turn + 1) % 2]}"
		moves_sample "$turn_s" "$id" "${truths[turn % 2]}"
	done
	moves_end_writers
	read -r "ARM[settled_s]" "ARM[error]" < <(turns_measure "$turn_s")
	lab_remove_all
}
