#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: the table in layers.txt, against every include line of src and preload.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

# "file:line folder header" of each quoted include
sources src preload >"$work/files"
xargs grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' <"$work/files" |
	sed -E 's|^((src/)?([a-z]+)/[^:]+:[0-9]+):[^"]*"([^"]+)".*|\1 \3 \4|' >"$work/quoted"
[ -s "$work/quoted" ] || bail_out "no include lines found"

awk '
FNR == NR {
	if ($0 !~ /^#/ && NF) {
		layer++
		for (i = 1; i <= NF; i++)
			level[$i] = layer
	}
	next
}
!($2 in level) { print $1 ": folder " $2 " has no layer"; next }
$3 !~ /\// { next } # a header of its own folder: checked below
{
	folder = $3
	sub(/\/.*/, "", folder)
	if (!(folder in level))
		print $1 ": \"" $3 "\" is of no layer"
	else if (folder != $2 && level[folder] >= level[$2])
		print $1 ": " $2 " is not above " folder
}' test/lint/layers.txt "$work/quoted" |
	none "a folder includes its own layer and lower ones only"

while read -r where _ header; do
	case $header in
	*/*) continue ;;
	esac
	[ -e "$(dirname "$where")/$header" ] || echo "$where: \"$header\" without its folder"
done <"$work/quoted" | none "a header of another folder is included with its folder"

find src -mindepth 1 -maxdepth 1 -type d -printf '%f\n' |
	grep -vxF -f <(grep -v '^#' test/lint/layers.txt | tr ' ' '\n') |
	none "every folder of src has a layer"

grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' src/core/* |
	grep -vE '<(stdint|stdbool|stddef|limits)\.h>|<writepace/' |
	none "core includes nothing of the system but plain types"

done_testing
