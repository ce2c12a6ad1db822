#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Bursts with a credit (--burst) on a slow device. Oracle: the clock, and the kernel's own
# count of outstanding bytes: a burst within the credit takes no time, the next one is paced,
# both together stay below limit and credit and a tenth (plain they would be 52 MB), and
# when all of it has reached the device there is credit again.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=10485760
BURST=25165824

# burst FILE SIZE_MB [OPTION...]: a paced dd; its time in $seconds
burst()
{
	local file=$LAB_MNT/$1 size_mb=$2
	local start=${EPOCHREALTIME/./}

	shift 2
	lab_run "$LAB_WRITEPACE" "$@" dd if=/dev/zero of="$file" bs=1M count="$size_mb" \
		status=none || bail_out "dd failed with status $?"
	seconds=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 2)
}

lab_require ext4 || skip_all "$LAB_WHY"
lab_make ext4 300 $RATE || bail_out "$LAB_WHY"
lab_forget

burst unknown 20 --burst $BURST
# half a second, until it is
compare "a device that is not known yet: seconds of 20 MB" "$seconds" ge 0.4
lab_run sync -f "$LAB_MNT"
lab_run sleep 3

"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
watch_pid=$!
burst first 20 --burst $BURST
compare "seconds of 20 MB after idling" "$seconds" le 0.5
burst next 30 --burst $BURST
compare "seconds of 30 MB right after it" "$seconds" ge 1
lab_run sync -f "$LAB_MNT"
arm_stop $watch_pid || bail_out "watching the device failed"
compare "most bytes outstanding, the kernel's count" \
	"$(arm_value peak_outstanding "$LAB_TMP/watch")" le $(((RATE + BURST) * 11 / 10))

lab_run sleep 3
burst again 20 --burst $BURST
compare "seconds of 20 MB after idling again" "$seconds" le 0.5
lab_run sync -f "$LAB_MNT"
lab_run sleep 3
burst none 20
compare "seconds of 20 MB without a credit" "$seconds" ge 1

done_testing
