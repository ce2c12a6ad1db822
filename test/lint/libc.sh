#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: the functions that the C library beside us exports. Each one of the families that write,
# sync, open, close, duplicate, allocate, truncate, unlink, rename or end a program is in
# preload/calls.def or, with a reason, in preload/left.txt; a new one must be looked at.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

library=${1:-$build_dir/.libs/libwritepace.so}
[ -e "$library" ] || skip_all "no preload library in this build"
command -v readelf >/dev/null || skip_all "no readelf"
libc=$(ldd "$library" | awk '$1 == "libc.so.6" { print $3 }')
[ -n "$libc" ] || skip_all "the library's libc is not glibc"

families='write|sync|open|close|dup|fallocate|trunc|link|rename|sendfile|splice|tee$|copy_file'
families+='|put(c|w|s|char|pw|gr|sp|sg|env|msg|pmsg|utx?line)|print|overflow|underflow|flow$'
families+='|flush|puts|(f|_)put|^v?(err|warn)x?$|^(perror|psignal|psiginfo|herror)$'
families+='|^error(_at_line)?$|symbols_fd|xsput|sputb|^aio_(write|fsync)|^lio_|^munmap$'
families+='|fcntl|^(_exit|_Exit|quick_exit|prctl|syscall|remove)$|^creat'
# What only libc itself may call is marked, and has no names for others.
aside='pthread|sched|rpc|svc|clnt|xdr|res_|ns_|_nss_|inet|getaddr|pkey|strtok|unlinkat_|catgets'

readelf --dyn-syms -W "$libc" |
	awk '$7 != "UND" && ($4 == "FUNC" || $4 == "IFUNC") && $8 !~ /GLIBC_PRIVATE/ {
		sub(/@.*/, "", $8); print $8 }' | sort -u >"$work/libc"
grep -E "$families" "$work/libc" | grep -Ev "$aside" >"$work/asked"
sed -nE 's/^[A-Z]+\(([^,]+),.*/\1/p' preload/calls.def | sort -u >"$work/calls"
sed '/^#/d' preload/left.txt | tr -s ' ' '\n' | sed '/^$/d' | sort >"$work/left.all"
sort -u "$work/left.all" >"$work/left"
[ "$(wc -l <"$work/asked")" -ge 200 ] || bail_out "no list of functions from $libc"

sort -u "$work/calls" "$work/left" | comm -23 "$work/asked" - |
	none "every call of these families is known"
comm -12 "$work/calls" "$work/left" | none "what is left alone is not a call of ours"
uniq -d "$work/left.all" | none "nothing is left alone twice"

done_testing
