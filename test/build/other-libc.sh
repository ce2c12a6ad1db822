#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The library for 32 bits and for musl. Oracle: the programs of test/shim, built for the same, do
# what they do plain, and the kernel's count of what they dirtied is near what was charged.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"
. "$here/../lab/arms.sh"

# What the make around us was told is not for these.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

root=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d /var/tmp/writepace-libc.XXXXXX) || exit 1
export WRITEPACE_SEGMENT=libc-$$ LC_ALL=C
trap 'rm -rf "$tmp" /dev/shm/writepace-*/segment*.libc-$$ /run/user/*/segment*.libc-$$' EXIT

# can_link COMPILER...: is there a libc of that kind?
can_link()
{
	echo 'int main(void) { return 0; }' | "$@" -x c -o "$tmp/empty" - 2>/dev/null &&
		"$tmp/empty"
}

# build NAME HOST COMPILER: the library alone; it needs nothing but libc.
build()
{
	mkdir "$tmp/$1" && cd "$tmp/$1" || return
	if "$root/configure" -q --enable-devel --host="$2" CC="$3" ELF_CFLAGS=' ' ELF_LIBS=' ' \
		CMOCKA_CFLAGS=' ' CMOCKA_LIBS=' ' CFLAGS=-O1 >log 2>&1 &&
		make -s -j2 libwritepace.la >>log 2>&1; then
		ok "$1: the library builds"
		return
	fi
	not_ok "$1: the library builds" "$(grep -E 'error|warning' log | head -n 3 | tr '\n' ';')"
	return 1
}

# run NAME PROGRAM ARGUMENT...: its status and output, plain and paced; 'stats' after it.
run()
{
	local name=$1 plain paced

	shift
	mkdir -p "$tmp/files"
	plain=$(timeout 60 "$1" "$2" "$tmp/files" "${@:3}" 2>&1; echo "status $?")
	rm -rf "$tmp/files"
	mkdir "$tmp/files"
	# The library is of another kind than timeout.
	# shellcheck disable=SC2016
	paced=$(WRITEPACE_STATS=1 timeout 60 bash -c 'LD_PRELOAD=$0 exec "$@"' "$library" \
		"$1" "$2" "$tmp/files" "${@:3}" 2>"$tmp/stats"; echo "status $?")
	is "$name: ${1##*/} $2" "$paced$(grep -v '^writepace: ' "$tmp/stats")" "$plain"
}

# charged NAME: of what the last run dirtied, in thousandths.
charged()
{
	local dirtied

	dirtied=$(arm_value dirtied "$tmp/stats" | tail -n 1)
	compare "$1: charged of 1000 dirtied" \
		$(($(arm_value charged "$tmp/stats" | tail -n 1) * 1000 / ${dirtied:-1})) ge 980
}

# programs NAME COMPILER...: those of test/shim, for the same libc.
programs()
{
	local name=$1 program

	shift
	library=$tmp/$name/.libs/libwritepace.so
	for program in tasks manners; do
		"$@" -std=gnu17 -D_GNU_SOURCE -O1 -w -pthread -o "$tmp/$name/$program" \
			"$root/test/shim/$program.c" 2>"$tmp/cc" || {
			not_ok "$name: $program builds" "$(grep -m 1 error "$tmp/cc")"
			return 1
		}
	done
}

# products COMPILER...: a checksum of many quotients of products beyond 64 bits.
products()
{
	"$@" -std=gnu17 -O1 -I"$root/src" -x c -o "$tmp/products" - <<-'END' && "$tmp/products"
	#include <stdio.h>
	#include "base/fixed.h"
	static uint64_t next(uint64_t *state)
	{
		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		return *state >> (*state & 63);
	}
	int main(void)
	{
		uint64_t state = 88172645463325252u, sum = 0;
		for (int i = 0; i < 1000000; i++)
			sum = sum * 31 + mul_div(next(&state), next(&state), next(&state));
		printf("%llx\n", (unsigned long long)sum);
		return 0;
	}
	END
}

if can_link gcc -m32; then
	is "32-bit: quotients of wide products" "$(products gcc -m32)" "$(products gcc)"
	build 32-bit i686-pc-linux-gnu "gcc -m32" && programs 32-bit gcc -m32 && {
		run 32-bit "$tmp/32-bit/manners" beyond
		charged 32-bit
		run 32-bit "$tmp/32-bit/manners" streams
		charged 32-bit
		for way in daemons numbers locks filter-prctl work own-offsets; do
			run 32-bit "$tmp/32-bit/manners" $way
		done
		for way in numbers threads; do
			run 32-bit "$tmp/32-bit/tasks" $way 100
		done
		programs 32-bit gcc -m32 -D_FILE_OFFSET_BITS=64 &&
			run "32-bit, large offsets" "$tmp/32-bit/manners" own-offsets
	}
else
	skip 32-bit "no gcc -m32 (Debian: gcc-multilib)"
fi

# musl-gcc has no headers of the kernel: ours are, after its own.
musl=(musl-gcc -idirafter /usr/include -idirafter "/usr/include/$(uname -m)-linux-gnu")
if can_link "${musl[@]}"; then
	build musl "$(uname -m)-linux-musl" "${musl[*]}" && programs musl "${musl[@]}" && {
		for way in beyond streams work; do
			run musl "$tmp/musl/manners" $way
		done
		charged musl
		run musl "$tmp/musl/tasks" threads 100
	}
else
	skip musl "no musl-gcc (Debian: musl-tools)"
fi

done_testing
