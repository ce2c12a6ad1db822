#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: the compiler, on a file that holds nothing but one header, twice. Not of *.bpf.h, which are
# parts of the kernel's programs.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

cc=${CC:-cc}
command -v "${cc%% *}" >/dev/null || skip_all "no compiler '$cc'"

find include src preload -name '*.h' ! -name '*.bpf.h' | sort >"$work/headers"
[ -s "$work/headers" ] || bail_out "no headers found"
while read -r header; do
	case $header in
	include/*) line="<${header#include/}>" ;;
	*) line="\"${header#*/}\"" ;;
	esac
	printf '#include %s\n#include %s\n' "$line" "$line" >"$work/alone.c"
	# shellcheck disable=SC2086 # CC may hold words
	if $cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wundef -Werror -fsyntax-only \
		-Iinclude -Isrc -Ipreload "$work/alone.c" 2>"$work/said"; then
		ok "$header compiles alone"
	else
		not_ok "$header compiles alone" "$(head -3 "$work/said" | tr '\n' ' ')"
	fi
done <"$work/headers"
done_testing
