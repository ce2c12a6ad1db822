#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Where the kernel has a strict limit on the device, write() itself blocks. Oracle: the same dd
# without: until durable a tenth longer at most, twice the room of what is promised; and less
# outstanding than the kernel allows, as it need not step in any more.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=10485760
LIMIT=8388608

lab_require ext4 || skip_all "$LAB_WHY"

# arm [WRAPPER...]
arm()
{
	local watch_pid start

	lab_make ext4 400 $RATE || bail_out "$LAB_WHY"
	lab_forget
	{ echo 1 >"/sys/class/bdi/$LAB_ID/strict_limit" &&
		echo $LIMIT >"/sys/class/bdi/$LAB_ID/max_bytes"; } 2>/dev/null ||
		skip_all "the kernel has no strict limits in bytes"
	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	start=${EPOCHREALTIME/./}
	lab_run "$@" dd if=/dev/zero of="$LAB_MNT/big" bs=1M count=50 status=none
	lab_run sync -f "$LAB_MNT"
	DURABLE_S=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 3)
	arm_stop $watch_pid
	PEAK=$(arm_value peak_outstanding "$LAB_TMP/watch")
	lab_remove "$LAB_DEV"
}

arm
plain=$DURABLE_S
compare "plain, the kernel holds it: most bytes outstanding" "$PEAK" le $((LIMIT * 5 / 4))
arm "$LAB_WRITEPACE"
compare "most bytes outstanding" "$PEAK" le $LIMIT
compare "until durable, over plain" "$(arm_ratio "$DURABLE_S" "$plain" 3)" le 1.1
done_testing
