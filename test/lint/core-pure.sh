#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: nm, on the objects of src/core: no clock, no system call, no heap, no state.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

cc=${CC:-cc}
command -v "${cc%% *}" >/dev/null || skip_all "no compiler '$cc'"
command -v nm >/dev/null || skip_all "no nm"

# What a compiler may call for plain C: copies, and division of 128 bits.
allowed='memcpy|memmove|memset|memcmp|__u?(div|mod)ti3|_GLOBAL_OFFSET_TABLE_'

# Why compiled here: the objects of the build may be instrumented.
for file in src/core/*.c; do
	# shellcheck disable=SC2086 # CC may hold words
	$cc -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -fno-stack-protector -Iinclude -Isrc -c "$file" \
		-o "$work/$(basename "$file" .c).o" || bail_out "$file does not compile"
done

nm --defined-only "$work"/*.o | awk 'NF == 3 { print $3 }' | sort -u >"$work/defined"
[ -s "$work/defined" ] || bail_out "the objects of core define nothing"
nm --undefined-only -A "$work"/*.o | sed "s|^$work/||" | awk '{ print $NF, "in", $1 }' |
	awk 'FNR == NR { own[$1]; next } !($1 in own)' "$work/defined" - |
	grep -vE "^($allowed) " |
	none "core calls nothing but itself"

nm --defined-only -A "$work"/*.o | sed "s|^$work/||" | awk '$2 ~ /^[BbDdCSsGg]$/' |
	none "core has no writable data"

done_testing
