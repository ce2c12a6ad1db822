#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: src/conf/keys.def against what the built wrapper's --help says.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

wrapper=${1:-$build_dir/writepace}
[ -x "$wrapper" ] || skip_all "no wrapper in this build"
"$wrapper" --help >"$work/help" || bail_out "writepace --help fails"

# "variable|option|letter|help" of each key
awk -F '"' '/^KEY\(/ { print $2 "|" $6 "|" $8 "|" $12 }' src/conf/keys.def >"$work/keys"
[ -s "$work/keys" ] || bail_out "no keys in src/conf/keys.def"

while IFS='|' read -r variable option letter help; do
	name="--$option="
	[ -z "$letter" ] || name="-$letter, $name"
	[ -n "$option" ] || name="$variable="
	grep -F -- "$name" "$work/help" | grep -qF -- "$help" || echo "$variable: $name $help"
done <"$work/keys" | none "every key is in --help with its option, letter and help"

grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+=' "$work/help" | grep -oE '[a-z-]+=$' | sed 's/^--//; s/=$//' |
	grep -vxF -f <(cut -d '|' -f 2 "$work/keys") |
	none "every option with a value in --help is a key"

done_testing
