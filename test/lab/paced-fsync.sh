#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A paced dd to a slow device, another program's fsync beside it. Oracle: the numbers this
# program promises, with twice the room. Plain, each of the four is missed by far (fsync
# waits ten seconds) save the device's share, which pacing must not cost.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

lab_require ext4 || skip_all "$LAB_WHY"

arm_source 100 || bail_out "$LAB_WHY"
arm_beside fsync ext4 10485760 100 "$LAB_WRITEPACE" || bail_out "$LAB_WHY"

compare "fsync beside it, p99 in ms" "${ARM[fsync_p99_ms]}" le 120
compare "share of the device in use" "${ARM[device_share]}" ge 0.93
compare "sync after it, seconds" "${ARM[sync_s]}" le 2.6
compare "most bytes outstanding, the kernel's count" \
	"${ARM[peak_outstanding]}" le 16777216

done_testing
