#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How much of the pure core the unit tests and the simulation run through. Oracle: gcov.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"

command -v gcov >/dev/null || skip_all "no gcov"

root=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Compiled here as one archive: the tests that are linked with it leave their counts behind.
cd "$tmp" || exit
flags=(-std=gnu11 -D_GNU_SOURCE -O0 "-I$root/src" "-I$root/include" "-I$root/test/sim")
for source in "$root"/src/core/*.c; do
	gcc --coverage "${flags[@]}" -c "$source" || bail_out "$source does not compile"
done
ar rc libcore.a ./*.o
for test in "$root"/test/unit/test_*.c; do
	name=$(basename "$test" .c)
	grep -q '"core/' "$test" || continue
	gcc "${flags[@]}" -o "$name" "$test" "$root"/src/shm/*.c "$root"/src/age/*.c \
		"$root"/src/host/*.c libcore.a -lcmocka -lgcov --coverage -lpthread 2>log ||
		continue # one that needs more than the core is not counted
	./"$name" >log 2>&1
done
gcc "${flags[@]}" -o loop "$root"/test/sim/test_loop.c "$root"/test/sim/sim{disk,kernel,task}.c \
	"$root"/src/{shm,age,flush,pace,conf,base}/*.c "$root"/src/host/locate.c libcore.a -lcmocka --coverage ||
	bail_out "the simulation does not compile"
./loop >log 2>&1

# "Lines executed:97.50% of 40", one a file.
for source in "$root"/src/core/*.c; do
	gcov -n -o . "$(basename "$source" .c).o" 2>/dev/null |
		sed -n "\\|src/core/$(basename "$source")'|{n;p}" |
		sed "s|^Lines executed:|$(basename "$source") |; s/% of / /"
done >covered
sed 's/^/# /' covered
compare "files of the core counted" "$(wc -l <covered)" ge 9
compare "per cent of the core's lines run" \
	"$(awk '{ run += $2 * $3; all += $3 } END { printf "%.1f", run / all }' covered)" ge 95

done_testing
