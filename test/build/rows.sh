#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Other ways to build it. Oracle: the compilers' warnings as errors, the sanitizers' verdict on
# the unit tests. Every row is built outside of the source tree, which must stay as it was.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"

# What the make around us was told (TEST_LOGS) is not for these.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

root=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

mapfile -t unit_tests < <(
	sed -n 's|^\ttest/unit/\(test_[a-z0-9_]*\) .*|test/unit/\1|p' "$root/Makefile.am")
[ ${#unit_tests[@]} -gt 10 ] || bail_out "no unit tests found in Makefile.am"

# row NAME TARGET... -- CONFIGURE_ARGUMENT...: builds the targets in a directory of its own.
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
	# Why all alone first: it is a make of its own, and two would build the same library.
	if "$root/configure" -q "$@" >log 2>&1 &&
		{ [ "${targets[0]}" != all ] || make -s -j2 all >>log 2>&1; } &&
		make -s -j2 "${targets[@]}" >>log 2>&1; then
		ok "$name builds"
		return 0
	fi
	not_ok "$name builds" "$(grep -E 'error|warning' log | head -n 5 | tr '\n' ';')"
	return 1
}

run_unit_tests()
{
	local test failed=()

	for test in "${unit_tests[@]}"; do
		srcdir=$root "./$test" >>log 2>&1 || failed+=("${test#test/unit/}")
	done
	is "$1: unit tests that fail" "${failed[*]}" ""
}

tree()
{
	find "$root" \( -path "$root/build" -o -path "$root/_*" -o -path "$root/.git" \) -prune -o -newer "$tmp" -print
}

before=$(tree)
row gcc-warnings-are-errors all "${unit_tests[@]}" -- CC=gcc --enable-devel
if command -v clang >/dev/null; then
	row clang-warnings-are-errors all "${unit_tests[@]}" -- CC=clang --enable-devel
else
	skip clang-warnings-are-errors "no clang"
fi
row address-and-undefined "${unit_tests[@]}" -- CC=gcc --with-sanitizers=address,undefined &&
	run_unit_tests address-and-undefined
row thread "${unit_tests[@]}" -- CC=gcc --with-sanitizers=thread && run_unit_tests thread
is "the source tree is untouched" "$(tree)" "$before"

done_testing
