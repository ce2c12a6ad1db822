#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Others' fsync beside a paced dd to a device whose speed is known: the dd stays below it,
# and the queue runs empty between two units. Oracle: the probe, and what reaches the
# device; twice the room of what is promised.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

MB=60
RATE=10485760

lab_require ext4 xfs btrfs || skip_all "$LAB_WHY"
arm_source $MB || bail_out "$LAB_WHY"
ARM_KNOWN=1

# beside FS P50_MS P99_MS SHARE
beside()
{
	arm_beside fsync "$1" $RATE $MB "$LAB_WRITEPACE" || bail_out "$LAB_WHY"
	compare "$1: fsync beside it, p50 in ms" "${ARM[fsync_p50_ms]}" le "$2"
	compare "$1: p99 in ms" "${ARM[fsync_p99_ms]}" le "$3"
	compare "$1: the dd's rate by the device's" \
		"$(arm_ratio "${ARM[rate_bps]}" $RATE 3)" ge "$4"
}

beside ext4 8 20 0.86
beside xfs 8 20 0.86
beside btrfs 8 120 0.72

arm_beside "" ext4 $RATE $MB "$LAB_WRITEPACE" || bail_out "$LAB_WHY"
compare "nobody beside it: the dd's rate by the device's" \
	"$(arm_ratio "${ARM[rate_bps]}" $RATE 3)" ge 0.94

done_testing
