#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a user says of one device (--device) and the ceiling of every device's rate (--rate).
# Oracle: the kernel's own count of outstanding bytes, and the clock.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=10485760
MAX=2097152

# copy SIZE_MB [OPTION...]: a paced dd; the most outstanding in $peak, its time in $seconds
copy()
{
	local size_mb=$1
	local start watch_pid

	shift
	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	lab_run sleep 0.1
	start=${EPOCHREALTIME/./}
	lab_run "$LAB_WRITEPACE" "$@" dd if=/dev/zero of="$LAB_MNT/file" bs=1M \
		count="$size_mb" status=none || bail_out "dd failed with status $?"
	seconds=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 2)
	lab_run sync -f "$LAB_MNT"
	arm_stop $watch_pid || bail_out "watching the device failed"
	peak=$(arm_value peak_outstanding "$LAB_TMP/watch")
}

lab_require ext4 || skip_all "$LAB_WHY"
lab_make ext4 200 $RATE || bail_out "$LAB_WHY"

lab_forget
copy 8
compare "a device nobody knows: most outstanding" "$peak" le 5500000
lab_forget
copy 8 --device "$LAB_MNT:bandwidth=10M"
compare "with its bandwidth given: most outstanding" "$peak" ge 6000000
compare "the same, its limit" "$peak" le $((RATE * 11 / 10))

# It is known by now. A half more, for the limit it had comes down gently; without it is 7 MB
# and more.
for what in "$LAB_MNT" "$LAB_DEV" "$LAB_ID"; do
	copy 10 -D "/:max_bytes=1M;$what:max_bytes=2M"
	compare "max_bytes=2M of ${what##*/}: most outstanding" "$peak" le $((MAX * 3 / 2))
done
copy 10 -D "$LAB_MNT:max_ratio=20"
compare "max_ratio=20: most outstanding" "$peak" le $((RATE * 2 / 5))
copy 10 -D "8:250:max_bytes=2M"
compare "max_bytes=2M of another device: most outstanding" "$peak" ge 6000000

copy 12 --rate 3M
compare "rate=3M: seconds of 12 MB" "$seconds" ge 3.4
compare "rate=3M: seconds of 12 MB" "$seconds" le 6

done_testing
