#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What does not become dirty is not paced, what passes no call is charged at the next one, on a
# device of 10 MB/s whose speed is known. Oracles: the summary line's sleeps, the kernel's count of
# what was dirtied, the device's own count of what was written, the same without the library.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"
. "$here/../lab/arms.sh"

dirt=${WRITEPACE_BUILD:-$here/../../build}/test/shim/dirt
MB=32

# clean: nothing is dirty, nothing is left of the last one.
clean()
{
	lab_cap 0
	rm -f "$LAB_MNT"/file "$LAB_MNT"/other "$LAB_MNT"/copy
	sync -f "$LAB_MNT"
	lab_cap 10485760
}

# run WAY: the summary's fields in SAW, what the device got in SAW[written], plain PLAIN_WRITTEN.
declare -A SAW
run()
{
	local before word

	clean
	before=$(lab_written)
	"$dirt" "$1" "$LAB_MNT" $MB >"$LAB_TMP/plain" || bail_out "dirt $1 failed"
	PLAIN_WRITTEN=$(($(lab_written) - before))
	clean
	before=$(lab_written)
	"$LAB_WRITEPACE" --stats "$dirt" "$1" "$LAB_MNT" $MB 2>"$LAB_TMP/stats" \
		>"$LAB_TMP/paced" || bail_out "paced dirt $1 failed"
	SAW=()
	for word in sleeps slept dirtied uncovered; do
		SAW[$word]=$(arm_value $word "$LAB_TMP/stats")
	done
	SAW[written]=$(($(lab_written) - before))
	echo "# $1: plain $(cat "$LAB_TMP/plain"), paced $(cat "$LAB_TMP/paced")" \
		"$(sed 's/^[^]]*\]: //' "$LAB_TMP/stats")"
}

lab_require ext4 xfs btrfs || skip_all "$LAB_WHY"

for fs in ext4 btrfs; do
	lab_make $fs 400 10485760 || bail_out "$LAB_WHY"
	lab_forget
	"$LAB_WRITEPACE" dd if=/dev/zero of="$LAB_MNT/copy" bs=64k count=640 status=none

	# btrfs dirties its metadata in the caller's name, its log at each synchronous write.
	uncovered=0
	[ $fs = ext4 ] || uncovered=2097152

	for way in nameless cut preallocate direct sync; do
		run $way
		is "$fs, $way: never slept for" "${SAW[sleeps]}" 0
		compare "$fs, $way: bytes uncovered" "${SAW[uncovered]}" le $uncovered
		compare "$fs, $way: bytes written beyond the plain $PLAIN_WRITTEN" \
			"$((SAW[written] > PLAIN_WRITTEN ? SAW[written] - PLAIN_WRITTEN : 0))" \
			le 2097152
	done

	# Eight times over one file; what is left of it goes at its close, the one pause.
	run rewrite
	compare "$fs, rewrite: sleeps" "${SAW[sleeps]}" le 1
	compare "$fs, rewrite: bytes dirtied" "${SAW[dirtied]}" le 4259840

	# The first is drained at its close, then the program is known for one of its kind.
	run temporary
	compare "$fs, temporary: sleeps" "${SAW[sleeps]}" le 3
	compare "$fs, temporary: bytes written" "${SAW[written]}" le 4194304

	# Held in a stream's buffer for sixteen calls, dirty all at once.
	run buffered
	compare "$fs, buffered: bytes uncovered" "${SAW[uncovered]}" le $uncovered
	compare "$fs, buffered: ms slept of the 3000 it takes" \
		"$(awk -v s="${SAW[slept]%s}" 'BEGIN { print s * 1000 }')" ge 1500

	# 32 MB stored, 2 passed a call: all is owed, but a call pauses once, 0.2 s at most.
	run mapped
	compare "$fs, mapped: bytes uncovered" "${SAW[uncovered]}" ge 30000000
	compare "$fs, mapped: bytes uncovered" "${SAW[uncovered]}" le 36000000
	compare "$fs, mapped: ms slept of the 3400 it is worth" \
		"$(awk -v s="${SAW[slept]%s}" 'BEGIN { print s * 1000 }')" ge 700
	lab_remove "$LAB_DEV"
done

# A copy that shares extents dirties nothing.
for fs in btrfs xfs; do
	lab_make $fs 500 10485760 || bail_out "$LAB_WHY"
	lab_forget
	lab_cap 0
	head -c 64M /dev/urandom >"$LAB_MNT/source"
	sync -f "$LAB_MNT"
	lab_cap 10485760
	"$LAB_WRITEPACE" --stats cp "$LAB_MNT/source" "$LAB_MNT/copy" 2>"$LAB_TMP/stats"
	is "$fs, cp that shares: exit status" $? 0
	is "$fs, cp that shares: sleeps" "$(arm_value sleeps "$LAB_TMP/stats")" 0
	compare "$fs, cp that shares: bytes dirtied" "$(arm_value dirtied "$LAB_TMP/stats")" \
		le 1048576
	"$LAB_WRITEPACE" --stats python3 -c "
import os
source = os.open('$LAB_MNT/source', os.O_RDONLY)
copy = os.open('$LAB_MNT/other', os.O_WRONLY | os.O_CREAT)
while os.copy_file_range(source, copy, 1 << 30):
	pass" 2>"$LAB_TMP/stats"
	is "$fs, copy_file_range that shares: exit status" $? 0
	is "$fs, copy_file_range that shares: sleeps" "$(arm_value sleeps "$LAB_TMP/stats")" 0
	is "$fs, copy_file_range that shares: the copy" \
		"$(cmp "$LAB_MNT/source" "$LAB_MNT/other" 2>&1)" ""
	lab_remove "$LAB_DEV"
done

done_testing
