#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pages written at random places of a file that is there. Oracle: the same fio without, until it is
# durable: fewer pages are merged into one than the kernel merges, and that may cost some of it. The
# device is a fast one, so that looks at the file, and a window that stays small, would cost most.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=209715200
MB=256

lab_require ext4 || skip_all "$LAB_WHY"
command -v fio >/dev/null || skip_all "fio is not installed"

# arm [WRAPPER...]: TOOK_S until durable
arm()
{
	local start

	lab_make ext4 900 $RATE || bail_out "$LAB_WHY"
	lab_forget
	lab_cap 0
	dd if=/dev/zero of="$LAB_MNT/file" bs=1M count=$MB oflag=direct status=none
	lab_cap $RATE || bail_out "$LAB_WHY"
	start=${EPOCHREALTIME/./}
	lab_run "$@" fio --name=r --filename="$LAB_MNT/file" --rw=randwrite --bs=4k \
		--size=${MB}M --ioengine=psync --fallocate=none --minimal >"$LAB_TMP/fio" ||
		bail_out "fio failed"
	lab_run sync -f "$LAB_MNT"
	TOOK_S=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 3)
	lab_remove "$LAB_DEV"
}

arm
plain=$TOOK_S
arm "$LAB_WRITEPACE"
compare "until durable, paced over plain ($plain s)" "$(arm_ratio "$TOOK_S" "$plain" 3)" le 1.6

done_testing
