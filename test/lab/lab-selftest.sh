#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The laboratory itself. Oracle: bytes divided by the cap is the time they take, and after
# the end, however it came, the loop device, the mount, the cap and the files are gone.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"

MB=1048576

# Seconds until SIZE_MB of zeros are durable on the current device.
durable_s()
{
	local start=${EPOCHREALTIME/./}

	dd if=/dev/zero of="$LAB_MNT/file" bs=1M count="$1" status=none
	sync -f "$LAB_MNT"
	awk -v us=$((${EPOCHREALTIME/./} - start)) 'BEGIN { print us / 1e6 }'
}

# left_over DESCRIPTION TMP DEV ID: what is still there of a lab.
left_over()
{
	local left=

	[ ! -e "$2" ] || left="$left directory"
	[ -z "$(findmnt -n -o TARGET -S "$3")" ] || left="$left mount"
	[ -z "$(losetup -n -O BACK-FILE "$3" 2>/dev/null)" ] || left="$left loop device"
	[ -z "$(lab_capped "$4")" ] || left="$left cap"
	is "$1" "$left" ""
}

# One lab that is told to end while a sync is stuck behind the cap.
victim()
{
	lab_require ext4 && lab_make ext4 128 $((2 * MB)) || exit 1
	echo "$LAB_TMP $LAB_DEV $LAB_ID" >"$1"
	lab_run dd if=/dev/zero of="$LAB_MNT/file" bs=1M count=40 status=none
	lab_run sync -f "$LAB_MNT"
	echo "not killed" >>"$1"
}

if [ "${1:-}" = victim ]; then
	victim "$2"
	exit
fi

lab_require ext4 || skip_all "$LAB_WHY"

lab_make ext4 256 $((10 * MB)) || bail_out "$LAB_WHY"
is "the mount point is open to all" "$(stat -c %a "$LAB_MNT")" 1777
took=$(durable_s 50)
compare "50 MB at 10 MB/s, seconds" "$took" ge 4
compare "50 MB at 10 MB/s, seconds" "$took" le 7

lab_cap $((5 * MB)) || bail_out "$LAB_WHY"
took=$(durable_s 20)
compare "20 MB after a cap of 5 MB/s, seconds" "$took" ge 3.2
compare "20 MB after a cap of 5 MB/s, seconds" "$took" le 6

lab_cap 0 || bail_out "$LAB_WHY"
compare "50 MB after the cap was lifted, seconds" "$(durable_s 50)" le 2

first=$LAB_DEV first_id=$LAB_ID
lab_make none 64 $((10 * MB)) || bail_out "$LAB_WHY"
is "a second device beside the first" "$(stat -c %F "$LAB_DEV")" "block special file"
second=$LAB_DEV second_id=$LAB_ID
is "it has a cap of its own" "$(lab_capped "$second_id")" $((10 * MB))
is "the first one still has none" "$(lab_capped "$first_id")" ""
lab_remove "$first"
left_over "the first one is removed" "$LAB_TMP/image.1" "$first" "$first_id"
is "the second one is not" "$(lab_capped "$second_id")" $((10 * MB))
lab_remove
left_over "the second one is removed" "$LAB_TMP/image.2" "$second" "$second_id"

foreign=$(losetup -f)
lab_remove "$foreign"
is "a device that is not ours is refused" $? 1

"$0" victim "$LAB_TMP/victim" &
victim=$!
for _ in {1..100}; do
	[ ! -s "$LAB_TMP/victim" ] || break
	sleep 0.1
done
sleep 1
start=${EPOCHREALTIME/./}
kill -TERM $victim
wait $victim
is "a lab told to end in mid-run ends by that signal" $? 143
compare "and without waiting for the slow device, seconds" \
	"$(awk -v us=$((${EPOCHREALTIME/./} - start)) 'BEGIN { print us / 1e6 }')" le 5
read -r tmp dev id <"$LAB_TMP/victim"
left_over "and leaves nothing" "$tmp" "$dev" "$id"

done_testing
