#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: shellcheck, on everything a shell runs.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

command -v shellcheck >/dev/null || skip_all "no shellcheck"

# By name, and by what the first line asks for. The wrapper's template is no script yet: the one
# made of it is looked at.
{
	find test src -type f \( -name '*.sh' -o -name '*.bash' -o -name '*.bats' \)
	find quickstart .ci preload src test doc -type f ! -name '*.in' -exec \
		awk 'FNR == 1 && /^#!.*[\/ ](ba|da)?sh( |$)/ { print FILENAME }
			{ nextfile }' {} +
	[ ! -e "$build_dir/writepace" ] || echo "$build_dir/writepace"
} 2>/dev/null | sort -u >"$work/scripts"
[ -s "$work/scripts" ] || bail_out "no scripts found"

while read -r script; do
	if shellcheck -x -P SCRIPTDIR -P . "$script" >"$work/said" 2>&1; then
		ok "$script"
	else
		not_ok "$script" "shellcheck says:"
		sed 's/^/#   /' "$work/said"
	fi
done <"$work/scripts"
done_testing
