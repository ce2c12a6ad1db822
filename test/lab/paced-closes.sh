#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A shell loop of 100 cp, each a process that ends before its file is clean; half of them rename
# over or cut a file. Another program's fsync beside them. Oracle: the row of fsync beside a dd,
# with twice the room; plain, fsync waits seconds. Of two runs the better one counts: what else
# goes on in the machine only ever adds.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

lab_require ext4 || skip_all "$LAB_WHY"
arm_source 1 || bail_out "$LAB_WHY"

# ARM[p99_ms], sync_s, peak_outstanding
closes()
{
	local probe_pid watch_pid start

	ARM=()
	lab_make ext4 400 10485760 || bail_out "$LAB_WHY"
	lab_forget
	export ARM_SOURCE LAB_MNT
	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	"$LAB_PROBE" fsync "$LAB_MNT/probe" >"$LAB_TMP/probe" &
	probe_pid=$!
	lab_run sleep 1
	# shellcheck disable=SC2016
	lab_run "$LAB_WRITEPACE" sh -c '
		for i in $(seq 50); do
			cp "$ARM_SOURCE" "$LAB_MNT/copy.$i"
			case $i in
			*[02468]) cat "$ARM_SOURCE" >"$LAB_MNT/cut" ;;
			*) cp "$ARM_SOURCE" "$LAB_MNT/new" && mv "$LAB_MNT/new" "$LAB_MNT/renamed" ;;
			esac || exit
		done' || bail_out "cp failed with status $?"
	start=${EPOCHREALTIME/./}
	lab_run sync -f "$LAB_MNT"
	ARM[sync_s]=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 2)
	{ arm_stop $probe_pid && arm_stop $watch_pid; } || bail_out "a probe failed"
	ARM[p99_ms]=$(($(arm_value p99_us "$LAB_TMP/probe") / 1000))
	ARM[peak_outstanding]=$(arm_value peak_outstanding "$LAB_TMP/watch")
	lab_remove "$LAB_DEV"
}

closes
[ "${ARM[p99_ms]}" -le 120 ] || closes
compare "fsync beside them, p99 in ms" "${ARM[p99_ms]}" le 120
compare "sync after them, seconds" "${ARM[sync_s]}" le 1
compare "most bytes outstanding" "${ARM[peak_outstanding]}" le 8388608
done_testing
