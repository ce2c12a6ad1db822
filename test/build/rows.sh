#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Other ways to build it. Oracle: the compilers' warnings as errors, the sanitizers' verdict on
# the unit tests. Every row is built outside of the source tree, which must stay as it was.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"

root=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

unit_tests=$(sed -n 's|^\ttest/unit/\(test_[a-z0-9]*\) .*|test/unit/\1|p' "$root/Makefile.am")

# What the make around us was told (TEST_LOGS) is not for these.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

# row NAME TARGET... -- CONFIGURE_ARGUMENT...
row()
{
	local name=$1 targets=()

	shift
	while [ "$1" != -- ]; do
		targets+=("$1")
		shift
	done
	shift
	mkdir "$tmp/$name" && cd "$tmp/$name" || return
	if "$root/configure" -q --cache-file="../$name.cache" "$@" >log 2>&1 &&
		make -s -j2 "${targets[@]}" >>log 2>&1; then
		ok "$name"
	else
		not_ok "$name" "$(grep -E 'error|warning|FAIL|ERROR' log | head -n 5 | tr '\n' ';')"
	fi
	cd "$root" || return
}

before=$(find "$root" -path "$root/build" -prune -o -path "$root/.git" -prune -o -newer "$tmp" -print)

row gcc-warnings-are-errors all check TESTS= -- CC=gcc --enable-devel
if command -v clang >/dev/null; then
	row clang-warnings-are-errors all check TESTS= -- CC=clang --enable-devel
else
	skip clang-warnings-are-errors "no clang"
fi
row address-and-undefined check TESTS="$unit_tests" -- CC=gcc --with-sanitizers=address,undefined
row thread check TESTS="$unit_tests" -- CC=gcc --with-sanitizers=thread
after=$(find "$root" -path "$root/build" -prune -o -path "$root/.git" -prune -o -newer "$tmp" -print)
is "the source tree is untouched" "$after" "$before"

done_testing
