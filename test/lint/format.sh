#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: clang-format with the tree's .clang-format.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

[ -e .clang-format ] || skip_all "no .clang-format"
command -v clang-format >/dev/null || skip_all "no clang-format"
clang-format --dump-config >/dev/null 2>&1 ||
	skip_all "$(clang-format --version) does not know our .clang-format"

for file in $(find src preload include test -name '*.[ch]' | sort); do
	if clang-format --dry-run -Werror "$file" 2>"$work/said"; then
		ok "$file"
	else
		not_ok "$file" "$(grep -c 'error:' "$work/said") places, the first: $(head -1 "$work/said")"
	fi
done
done_testing
