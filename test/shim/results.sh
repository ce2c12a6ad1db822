#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every interposed call returns what it returns plain, with the same errno, offset and bytes.
# Oracle: the same program without the library, on each file system of the laboratory, paced
# hard (a device of 20 MB/s, a small limit), and on a full device.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"

calls=${WRITEPACE_BUILD:-$here/../../build}/test/shim/calls

lab_require ext4 xfs btrfs || skip_all "$LAB_WHY"

for fs in ext4 xfs btrfs; do
	lab_make "$fs" 400 20971520 || bail_out "$LAB_WHY"
	lab_forget
	"$calls" "$LAB_MNT" >"$LAB_TMP/plain" 2>&1
	plain_status=$?
	"$LAB_WRITEPACE" --limit 1M "$calls" "$LAB_MNT" >"$LAB_TMP/paced" 2>&1
	is "$fs: exit status" $? $plain_status
	is "$fs: every call was made" "$(grep -c errno "$LAB_TMP/plain")" 64
	is "$fs: every call's result" "$(diff "$LAB_TMP/plain" "$LAB_TMP/paced")" ""
	lab_remove
done

# A device that fills up in the middle of a call: the bytes reported are the bytes there.
lab_make ext4 64 20971520 || bail_out "$LAB_WHY"
lab_forget
for arm in plain paced; do
	under=()
	[ $arm = plain ] || under=("$LAB_WRITEPACE" --limit 1M)
	"${under[@]}" dd if=/dev/zero of="$LAB_MNT/full" bs=200M count=1 >"$LAB_TMP/$arm" 2>&1
	echo "status $?" >>"$LAB_TMP/$arm"
	stat -c 'size %s' "$LAB_MNT/full" >>"$LAB_TMP/$arm"
	sed -i 's/ copied, .*//' "$LAB_TMP/$arm"
	rm "$LAB_MNT/full"
	sync -f "$LAB_MNT"
done
is "ENOSPC in the middle" "$(diff "$LAB_TMP/plain" "$LAB_TMP/paced")" ""
is "ENOSPC was met" "$(grep -c 'No space left' "$LAB_TMP/plain")" 1

done_testing
