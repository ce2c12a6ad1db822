#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Equal paced writers get equal shares of a slow device. Oracle: Jain's index, which is 1
# where all wrote the same; twice the room of what is promised.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=10485760

lab_require ext4 || skip_all "$LAB_WHY"

# A hundred on two processors are fair only as long as nothing else wants those: check-long.
counts=10
[ -z "${WRITEPACE_LONG-}" ] || counts="2 10 100"
for writers in $counts; do
	arm_fair ext4 $RATE "$writers" 10 15 "$LAB_WRITEPACE" || bail_out "$LAB_WHY"
	compare "$writers writers: Jain's index" "${ARM[jain]}" ge 0.98
	compare "$writers writers: the device is theirs" "${ARM[writers_share]}" ge 0.9
done

[ "${WRITEPACE_LONG-}" ] || done_testing
arm_weights ext4 $RATE 15 30 400 100 || bail_out "$LAB_WHY"
compare "weights 400 and 100: error of a part" "${ARM[off]}" le 0.1
arm_weights ext4 $RATE 15 60 100 10 10 10 10 10 10 10 10 10 10 || bail_out "$LAB_WHY"
# Half is its due, and within 8 % of it in the simulator (sim backups).
compare "weight 100 beside ten of 10: part of the device" "${ARM[first]}" ge 0.4

done_testing
