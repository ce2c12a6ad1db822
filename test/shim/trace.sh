#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the library does inside a program, seen from outside. Oracle: strace of the same program
# without it. After the constructor the two make the same calls that open, copy or close
# descriptors or make threads; no WAIT flag is ever given to sync_file_range.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"

command -v strace >/dev/null || skip_all "no strace"
lab_require ext4 || skip_all "$LAB_WHY"

head -c 12M /dev/urandom >"$LAB_TMP/source"
lab_make ext4 300 10485760 || bail_out "$LAB_WHY"
lab_forget
export WRITEPACE_HELPER=off # the program alone is looked at

# Calls of these families from the program's first own one on (it opens its input), without
# calls that strace has no name for (cachestat, which makes no descriptor).
families=open,openat,openat2,creat,dup,dup2,dup3,pipe,pipe2,socket,memfd_create,eventfd2
families+=,epoll_create1,timerfd_create,signalfd4,close,close_range,clone,clone3,fork,vfork
own_calls()
{
	sed -n '/"[^"]*\/source"/,$p' "$1" | grep -v -e exited -e syscall_0x
}

strace -f -e "trace=$families" -o "$LAB_TMP/plain" \
	dd if="$LAB_TMP/source" of="$LAB_MNT/plain" bs=1M status=none
sync -f "$LAB_MNT"
strace -f -e "trace=$families,sync_file_range" -o "$LAB_TMP/all" \
	"$LAB_WRITEPACE" dd if="$LAB_TMP/source" of="$LAB_MNT/paced" bs=1M status=none
grep -v sync_file_range "$LAB_TMP/all" >"$LAB_TMP/paced"
own_calls "$LAB_TMP/plain" | sed 's/^[0-9]* *//; s/plain/OUT/' >"$LAB_TMP/plain.own"
own_calls "$LAB_TMP/paced" | sed 's/^[0-9]* *//; s/paced/OUT/' >"$LAB_TMP/paced.own"

compare "calls of these families seen" "$(wc -l <"$LAB_TMP/plain.own")" ge 4
is "no descriptor and no thread of ours" \
	"$(diff "$LAB_TMP/plain.own" "$LAB_TMP/paced.own")" ""
compare "writeback started by the program itself" \
	"$(grep -c 'sync_file_range(1, .*, SYNC_FILE_RANGE_WRITE) = 0' "$LAB_TMP/all")" ge 20
is "no WAIT flag" "$(grep -c SYNC_FILE_RANGE_WAIT "$LAB_TMP/all")" 0
is "the file is the same" "$(cmp "$LAB_TMP/source" "$LAB_MNT/paced" 2>&1)" ""

done_testing
