#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Random inputs for the parsers and the segment, by libFuzzer, with the sanitizers. Beforehand and
# without clang the inputs of test/fuzz/corpus. WRITEPACE_LONG=1: FUZZ_S seconds each, at a time.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"

root=$(cd "$here/../.." && pwd)
build=$(cd "${WRITEPACE_BUILD:-$root/build}" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

targets="keys mounts statistics segment"
for target in $targets; do
	said=$(timeout 120 "$build/test/fuzz/$target" "$here/corpus/$target"/* 2>&1)
	is "$target: the corpus" "$? $(tail -n 1 <<<"$said")" \
		"0 $(find "$here/corpus/$target" -type f | wc -l) inputs"
done
[ "${WRITEPACE_LONG-}" ] || done_testing

sources()
{
	case $1 in
	keys) echo src/conf/{conf,devices,programs,unit}.c ;;
	mounts) echo src/helper/{mounts,read}.c ;;
	statistics) echo src/helper/{bdi,blockstat,memory,read}.c src/core/limits.c ;;
	segment) echo src/{core,shm,age}/*.c src/host/kernel.c ;;
	esac
}

compile()
{
	# shellcheck disable=SC2046 # a list of files
	(cd "$root" && clang -std=gnu17 -g -O1 -w -include "$build/config.h" -Isrc -Iinclude \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-o "$tmp/$1" "test/fuzz/$1.c" $(sources "$1")) >"$tmp/log.$1" 2>&1
}

fuzz()
{
	local found=${FUZZ_FOUND:-$tmp}

	cp -r "$here/corpus/$1" "$tmp/corpus.$1"
	nice "$tmp/$1" -max_total_time="${FUZZ_S:-600}" -timeout=10 -max_len=4000 \
		-print_final_stats=1 -artifact_prefix="$found/$1." "$tmp/corpus.$1" \
		>"$tmp/log.$1" 2>&1
	echo $? >"$tmp/status.$1"
}

for target in $targets; do
	if ! compile "$target"; then
		skip "$target: libFuzzer" "clang has none: $(tail -n 1 "$tmp/log.$target")"
		continue
	fi
	fuzz "$target" &
done
wait
for target in $targets; do
	[ -e "$tmp/status.$target" ] || continue
	is "$target: findings" \
		"$(cat "$tmp/status.$target")$(grep -m 1 -E 'ERROR|SUMMARY' "$tmp/log.$target")" 0
	echo "# $target: $(grep -E 'number_of_executed_units|new_units_added' \
		"$tmp/log.$target" | tr -s ' \n' ' ')"
done
done_testing
