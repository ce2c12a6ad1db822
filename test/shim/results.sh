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

# half a minute each
kinds=ext4
[ -z "${WRITEPACE_LONG-}" ] || kinds="ext4 xfs btrfs"
for fs in $kinds; do
	lab_make "$fs" 400 20971520 || bail_out "$LAB_WHY"
	lab_forget
	"$calls" "$LAB_MNT" >"$LAB_TMP/plain" 2>&1
	plain_status=$?
	"$LAB_WRITEPACE" --limit 1M "$calls" "$LAB_MNT" >"$LAB_TMP/paced" 2>&1
	is "$fs: exit status" $? $plain_status
	is "$fs: every call was made" "$(grep -c errno "$LAB_TMP/plain")" 147
	is "$fs: every call's result" "$(diff "$LAB_TMP/plain" "$LAB_TMP/paced")" ""

	# Records appended by two at once stay whole below 1 MiB.
	for byte in '\101' '\102'; do
		head -c 18000000 /dev/zero | tr '\0' "$byte" |
			"$LAB_WRITEPACE" --limit 1M dd of="$LAB_MNT/records" bs=900000 \
				iflag=fullblock oflag=append conv=notrunc status=none &
	done
	wait
	is "$fs: records appended by two" "$(stat -c %s "$LAB_MNT/records")" 36000000
	# shellcheck disable=SC2016 # perl's
	is "$fs: records that are mixed" "$(perl -e '$/ = \900000;
		while (<>) { $bad++ if $_ ne substr($_, 0, 1) x 900000 } print $bad + 0' \
		"$LAB_MNT/records")" 0

	# A device that fills up in the middle of a call: 40 MB are left on it.
	lab_cap 0
	sync -f "$LAB_MNT"
	fallocate -l $(($(df -B1 --output=avail "$LAB_MNT" | tail -n 1) - 40000000)) \
		"$LAB_MNT/ballast"
	sync -f "$LAB_MNT"
	lab_cap 52428800
	"$calls" full "$LAB_MNT" >"$LAB_TMP/plain" 2>&1
	"$LAB_WRITEPACE" --limit 1M "$calls" full "$LAB_MNT" >"$LAB_TMP/paced" 2>&1
	is "$fs: a device fills up in the middle" \
		"$(grep -c 'ENOSPC, much, all of it there, offset right' "$LAB_TMP/plain")" 4
	is "$fs: the same paced" "$(diff "$LAB_TMP/plain" "$LAB_TMP/paced")" ""
	lab_remove "$LAB_DEV"
done

# A device that fills up in the middle of a call: dd ends as it does plain, and the bytes it
# reports are the bytes there (how many fit depends on how the file system reserves).
lab_make ext4 64 20971520 || bail_out "$LAB_WHY"
lab_forget
"$LAB_WRITEPACE" --limit 1M dd if=/dev/zero of="$LAB_MNT/full" bs=200M count=1 2>"$LAB_TMP/err"
is "ENOSPC in the middle: exit status" $? 1
is "ENOSPC in the middle: message" "$(grep -c 'No space left on device' "$LAB_TMP/err")" 1
is "ENOSPC in the middle: bytes reported" \
	"$(sed -n 's/^\([0-9]*\) bytes.*/\1/p' "$LAB_TMP/err")" "$(stat -c %s "$LAB_MNT/full")"
compare "bytes there" "$(stat -c %s "$LAB_MNT/full")" ge 40000000

done_testing
