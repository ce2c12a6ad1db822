#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Somebody else syncs the file system while a paced program writes: the kernel starts all there is by
# itself. Oracle: the kernel's count of what is outstanding goes on as before.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=20971520
MB=120

lab_require ext4 || skip_all "$LAB_WHY"

lab_make ext4 600 $RATE || bail_out "$LAB_WHY"
lab_forget
setsid "$LAB_WRITEPACE" dd if=/dev/zero of="$LAB_MNT/big" bs=64k count=${MB}M iflag=count_bytes \
	status=none &
pid=$!
peak=0
for ((i = 0; i < 80; i++)); do
	[ $i != 20 ] || sync -f "$LAB_MNT" &
	lab_run sleep 0.05
	kill -0 $pid 2>/dev/null || break
	now=$(arm_outstanding)
	[ "$now" -le "$peak" ] || peak=$now
done
lab_cap 0
wait $pid
is "the dd ends well" $? 0
compare "steps of 50 ms that it wrote in" $i ge 60
# a limit of a second, and what the kernel's flusher may have counted twice
compare "most outstanding, by the rate" "$(arm_ratio "$peak" $RATE 2)" le 2.5

done_testing
