# shellcheck shell=bash
# shellcheck disable=SC2015,SC2016,SC2034,SC2154 # shared with the laboratory, shells of their own
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What people report and no other arm shows; sourced after arms, matrix, memory and readers.
#
#	reports_arm PLACE FS RATE SIZE_MB [WRAPPER...]	results in ARM
#
# PLACE  copy      from one slow device to another, probes on a third, fast one and on the target
#        camera    4 MB/s to a device that falls to a fiftieth for 0.8 s every 5 s
#        recorder  2 MB/s in writes of 9 kB
#        unmount   of an overlay, while and after others write to the file system below
#        memory    files of 50 MB by a writer in a memory group of 64 MB, to a device twice as fast
#
# 77 with LAB_WHY set where this machine can not.

declare -A ARM
declare -A reports_pids
REPORTS_PLACES="copy camera recorder unmount memory"
REPORTS_SPAN_S=30

# reports_probe NAME MODE PATH [WRAPPER...]: in the background.
reports_probe()
{
	"${@:4}" "$LAB_PROBE" "$2" "$3" >"$LAB_TMP/probe.$1" &
	reports_pids[$1]=$!
}

reports_probes_end()
{
	local name key

	for name in "${!reports_pids[@]}"; do
		arm_stop "${reports_pids[$name]}" || lab_fail "the $name probe failed" || return
		for key in p99 max; do
			ARM[${name}_${key}_ms]=$(arm_ratio \
				"$(arm_value ${key}_us "$LAB_TMP/probe.$name")" 1000 3)
		done
	done
	reports_pids=()
}

# Cold files on a device, two more devices: the fast one's directory in reports_fast, the target.
reports_copy_make()
{
	local fs=$1 rate=$2 size_mb=$3 i

	lab_make "$fs" "$(arm_device_mb "$size_mb")" "$rate" && lab_cap 0 || return
	reports_from=$LAB_MNT/from
	mkdir "$reports_from"
	for i in 1 2 3; do
		head -c "$((size_mb / 3))M" /dev/urandom >"$reports_from/$i" ||
			lab_fail "no room" || return
	done
	readers_remount && lab_cap_reads "$rate" || return
	lab_make "$fs" 400 $((rate * 20)) || return
	reports_fast=$LAB_MNT
	mkdir "$reports_fast/create"
	lab_make "$fs" "$(arm_device_mb "$size_mb")" "$rate"
}

reports_copy()
{
	local start copied

	reports_copy_make "$@" || return
	reports_probe fast_fsync fsync "$reports_fast/fsync"
	reports_probe fast_create create "$reports_fast/create"
	reports_probe target_fsync fsync "$LAB_MNT/fsync"
	lab_run sleep 1
	start=${EPOCHREALTIME/./}
	lab_run "${@:4}" cp -r "$reports_from" "$LAB_MNT/to" || lab_fail "cp failed" || return
	copied=${EPOCHREALTIME/./}
	lab_run sync -f "$LAB_MNT" || lab_fail "sync failed" || return
	ARM[sync_s]=$(arm_ratio $((${EPOCHREALTIME/./} - copied)) 1000000 2)
	ARM[durable_s]=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 2)
	reports_probes_end || return
	diff -rq "$reports_from" "$LAB_MNT/to" >&2 || lab_fail "the copy differs"
}

# reports_stream MODE FS RATE [WRAPPER...]: the probe is what writes, in the background.
reports_stream()
{
	lab_make "$2" "$(arm_device_mb $((4 * REPORTS_SPAN_S)))" "$3" || return
	reports_probe "$1" "$1" "$LAB_MNT/stream" "${@:4}"
}

reports_camera()
{
	local rate=$2 at

	reports_stream camera "$1" "$rate" "${@:4}" || return
	for ((at = 0; at < REPORTS_SPAN_S; at += 5)); do
		lab_run sleep 2.2
		lab_cap $((rate / 50)) || return
		lab_run sleep 0.8
		lab_cap "$rate" || return
		lab_run sleep 2
	done
	reports_probes_end
}

reports_recorder()
{
	reports_stream recorder "$1" "$2" "${@:4}" || return
	lab_run sleep "$REPORTS_SPAN_S"
	reports_probes_end || return
	ARM[recorder_within_1ms_percent]=$(arm_ratio \
		$((100 * $(arm_value within_1ms "$LAB_TMP/probe.recorder"))) \
		"$(arm_value n "$LAB_TMP/probe.recorder")" 2)
}

# reports_umount WHEN
reports_umount()
{
	local start

	echo abc >"$MATRIX_TOP/file"
	start=${EPOCHREALTIME/./}
	lab_run umount "$MATRIX_TOP" || lab_fail "umount failed" || return
	ARM[$1_s]=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 2)
}

# Two writers: an unmount leaves nothing of the first one for the other.
reports_unmount()
{
	local size_mb=$3 pid

	MATRIX_RATE=$2
	matrix_overlay $((size_mb * 2)) visible || return
	"${@:4}" dd if=/dev/zero of="$LAB_MNT/first" bs=1M count="$size_mb" status=none &
	pid=$!
	lab_run sleep 1
	reports_umount during || return
	wait $pid || lab_fail "dd failed" || return
	matrix_mount_overlay || return
	lab_run "${@:4}" dd if=/dev/zero of="$LAB_MNT/second" bs=1M count=$((size_mb / 2)) \
		status=none || lab_fail "dd failed" || return
	reports_umount after
}

# Dirty or under writeback, of the memory group.
reports_dirty()
{
	awk '$1 == "dirty" || $1 == "writeback" { sum += $2 } END { print sum + 0 }' \
		"$MEMORY_GROUP/memory.stat"
}

reports_memory()
{
	local files=$(($3 / 50 + 2)) start pid dirty

	memory_group 64 || matrix_cannot "$LAB_WHY" || return
	lab_make "$1" "$(arm_device_mb $((files * 50)))" $(($2 * 2)) || return
	start=${EPOCHREALTIME/./}
	memory_run "${@:4}" sh -c '
		for i in $(seq "$1"); do
			dd if=/dev/zero of="$2/$i" bs=1M count=50 status=none || exit
		done' sh $files "$LAB_MNT" &
	pid=$!
	ARM[dirty_bytes]=0
	while kill -0 $pid 2>/dev/null; do
		dirty=$(reports_dirty)
		[ "$dirty" -le "${ARM[dirty_bytes]}" ] || ARM[dirty_bytes]=$dirty
		lab_run sleep 0.1
	done
	wait $pid
	ARM[status]=$?
	lab_run sync -f "$LAB_MNT"
	# of one that was killed it says nothing
	[ "${ARM[status]}" != 0 ] ||
		ARM[durable_s]=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 2)
	ARM[oom_kills]=$(sed -n 's/^oom_kill //p' "$MEMORY_GROUP/memory.oom_control")
	ARM[limit_hits]=$(cat "$MEMORY_GROUP/memory.failcnt")
	memory_remove
}

reports_arm()
{
	ARM=()
	lab_forget
	"reports_$1" "${@:2}" || return
	lab_remove_all
}
