#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# System calls fail. Those that the library makes by itself, refused by a filter that was there
# before; those of the program, refused by a second preloaded library. Oracle: what the program
# prints plain under the same faults: results, errno, offsets, sums of the files.
# WRITEPACE_LONG=1: every call with every error.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"

deeds=$lab_build/test/storm/deeds
inject=$lab_build/test/storm/inject
fail=$lab_build/test/storm/.libs/libfail.so
library=$lab_build/.libs/libwritepace.so
long=${WRITEPACE_LONG-}
unset WRITEPACE_LONG

lab_require ext4 || skip_all "$LAB_WHY"
lab_make ext4 400 104857600 || bail_out "$LAB_WHY"
lab_forget
export WRITEPACE_LIMIT=1M WRITEPACE_HELPER=off

# ENOSYS EPERM EINTR EIO ENOMEM EBADF EINVAL EAGAIN ENOSPC
errors="38 1 4 5 12 9 22 11 28"
mapfile -t calls < <("$inject" 2>&1 | tail -n +2)
[ ${#calls[@]} -gt 10 ] || bail_out "inject knows no calls"

# deeds_of NAME COMMAND...: with the output of its errors, and its status.
deeds_of()
{
	local out=$LAB_TMP/$1

	shift
	rm -f "$LAB_MNT"/deed*
	timeout 60 "$@" >"$out" 2>&1 </dev/null
	echo "status $?" >>"$out"
}

# injected LIST: the same as plain under the same filter, and in time.
injected()
{
	deeds_of plain "$inject" "$1" "$deeds" $count 150000 "$LAB_MNT"
	deeds_of paced "$inject" "$1" env LD_PRELOAD="$library" "$deeds" $count 150000 "$LAB_MNT"
	if grep -q '^status 77' "$LAB_TMP/plain"; then
		skip "$1" "no seccomp filter here"
	else
		is "$1: as plain" "$(diff "$LAB_TMP/plain" "$LAB_TMP/paced" | head -n 4)" ""
	fi
}

count=100
[ -z "$long" ] || count=300
deeds_of plain "$deeds" $count 150000 "$LAB_MNT"
is "without any fault: status" "$(tail -n 1 "$LAB_TMP/plain")" "status 0"
compare "calls made" "$(grep -c errno "$LAB_TMP/plain")" ge 70

# All at once: nothing of ours works. A Linux before 6.5, a container's filter.
all=$(printf '%s=1,' "${calls[@]}")
injected "${all%,}"
injected cachestat=38
injected sync_file_range=1
injected nanosleep=4
injected mmap_shared=12,mmap_anonymous_shared=12
for call in ${long:+"${calls[@]}"}; do
	for error in $errors; do
		injected "$call=$error"
	done
done

# With a helper, which has the same filter, nobody waits for what nobody starts. 10 MB at 100 MB/s.
for list in cachestat=38 sync_file_range=1 cachestat=1,sync_file_range=1; do
	lab_forget
	WRITEPACE_HELPER=auto timeout 30 "$inject" $list "$LAB_WRITEPACE" dd if=/dev/zero \
		of="$LAB_MNT/paced" bs=64k count=160 status=none
	is "$list, with a helper: status" $? 0
done
lab_forget

# Behind ours the program's own calls fail. Below a page nothing of ours is in pieces.
for seed in 1 2 ${long:+3 4 5 6 7 8}; do
	deeds_of plain env FAIL="$seed" LD_PRELOAD="$fail" "$deeds" 3000 4000 "$LAB_MNT"
	deeds_of paced env FAIL="$seed" LD_PRELOAD="$library:$fail" "$deeds" 3000 4000 "$LAB_MNT"
	compare "seed $seed: calls that fail" \
		"$(grep -vc 'errno 0' "$LAB_TMP/plain")" ge 20
	is "seed $seed: as plain" "$(diff "$LAB_TMP/plain" "$LAB_TMP/paced" | head -n 4)" ""
done
done_testing
