#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A paced dd to all kinds of places, each a device of 10 MB/s. Oracle: what it promises anywhere:
# 16 MB outstanding by the kernel's count and a sync of a second, with twice the room for that;
# plain, the first is all of it and the second twice as long. Where writing fails, the same
# dd without: its status, its message.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"
. "$here/matrix.sh"

SIZE_MB=24

lab_require ext4 || skip_all "$LAB_WHY"
arm_source $SIZE_MB || bail_out "$LAB_WHY"

# arm PLACE [WRAPPER...]: false, and skipped, where there is no such place.
arm()
{
	matrix_arm "$1" $SIZE_MB "${@:2}" && return
	[ $? = 77 ] || bail_out "$1: $LAB_WHY"
	skip "$1" "$LAB_WHY"
	return 1
}

# held PLACE SECONDS: until durable, where the device is never left idle.
held()
{
	arm "$1" "$LAB_WRITEPACE" || return
	is "$1: dd and what it wrote" "${ARM[status]} ${ARM[said]} ${ARM[same]}" "0  1"
	compare "$1: most bytes outstanding" "${ARM[peak_outstanding]}" le 16777216
	compare "$1: sync, seconds" "${ARM[sync_s]}" le 1.5
	compare "$1: until durable, seconds" "${ARM[durable_s]}" le "$2"
}

passes()
{
	arm "$1" "$LAB_WRITEPACE" || return
	is "$1: dd and what it wrote" "${ARM[status]} ${ARM[said]} ${ARM[same]}" "0  1"
	compare "$1: passes at its own speed, seconds" "${ARM[dd_s]}" le 1.5
}

fails()
{
	local plain

	arm "$1" || return
	plain="${ARM[status]} ${ARM[said]}"
	[ "${ARM[status]}" != 0 ] || bail_out "$1: does not fail"
	arm "$1" "$LAB_WRITEPACE"
	is "$1: fails as plain" "${ARM[status]} ${ARM[said]}" "$plain"
}

# 24 MB at 10 MB/s, a third more; a journal that takes the data too writes it twice.
held ext4-journal 7
for place in xfs btrfs-compressed btrfs-subvolume overlay fuse-daemon loop-on-loop block \
	preallocated sparse; do
	held $place 3.2
done
held btrfs-two-devices 2
passes overlay-hidden
passes fuse
for place in full read-only io-error; do
	fails $place
done
for place in nfs dm md; do
	arm $place
done
done_testing
