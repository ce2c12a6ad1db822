#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: the rules of the house as patterns, on sources without comments and strings. What runs
# inside somebody else's program is preload and all of src but the programs' own folders.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

# shellcheck disable=SC2046 # no blanks in our file names
without_comments $(sources src preload include) >"$work/all"
grep -vE '^src/(launch|helper|observer|publish|any|ctl)/' "$work/all" >"$work/inside"
[ -s "$work/inside" ] || bail_out "no sources found"

# calls NAMES FILE: lines that call one of NAMES (joined by |), not as a member of anything.
calls()
{
	grep -E "(^|[^A-Za-z0-9_.>])($1)[[:space:]]*\(" "$2"
}

calls 'getenv|secure_getenv|setenv|putenv|unsetenv' "$work/inside" |
	none "the environment is read by conf alone, from the vector it is given"

calls 'clock_gettime|gettimeofday|time' "$work/all" | grep -v '^src/host/' |
	none "the clock is asked in src/host only"

grep -E '__atomic_|__sync_|memory_order|stdatomic|_Atomic|__ATOMIC' "$work/all" |
	grep -v -e '^src/base/order\.h:' -e '^src/observer/observer\.bpf\.c:' |
	none "memory orders are named in src/base/order.h only"

calls 'exit|_exit|_Exit|quick_exit|abort|assert|__assert_fail|raise|kill' "$work/inside" |
	grep -v 'WP_EXPORT' | none "nobody's program is ended"

calls 'malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|alloca' "$work/inside" |
	none "no heap"

# The wrappers of printf and its kin are their definitions.
calls '[a-z_]*printf|perror|syslog|puts|err|warn' "$work/inside" | grep -v 'WP_EXPORT' |
	none "no stdio"

names=$(sed -nE 's/^(WRITE|OFFLOAD|PUT|FORMAT|OTHER|RAW)\(([^,]+),.*/\2/p' preload/calls.def |
	paste -sd '|')
[ -n "$names" ] || bail_out "no calls in preload/calls.def"
# sys.h has it for machines whose syscall() is not interposed.
calls "$names" "$work/inside" | grep -v -e 'WP_EXPORT' -e '^src/host/sys\.h:.*syscall(' |
	none "what we interpose we do not call"

grep -E '^(include/|src/core/[^:]*\.h:)' "$work/all" |
	grep -E '[[:space:]*](time|rate|limit|size)(\[[^]]*\])?[[:space:]]*[;,]' |
	grep -v '(' |
	none "a field's name carries its unit"

for file in $(find src preload include -name '*.[ch]' | sort); do
	case $file in
	*.h) longest=150 ;;
	*) longest=400 ;;
	esac
	lines=$(wc -l <"$file")
	[ "$lines" -le $longest ] || grep -qsF "$file" doc/ARCHITECTURE.md ||
		echo "$file has $lines lines, $longest are the target"
done | none "no file is longer than its target without a reason in doc/ARCHITECTURE.md"

done_testing
