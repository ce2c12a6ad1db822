# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the lint scripts share: where things are, and findings as TAP. Sourced first.

script_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
srcdir=$(cd "${srcdir:-$script_dir/../..}" && pwd)
# shellcheck disable=SC2034 # read by the scripts
build_dir=${WRITEPACE_BUILD:-$srcdir/build}
export LC_ALL=C
shopt -s lastpipe # none() counts in this shell, at the end of a pipe

# shellcheck source=test/lab/tap.sh
. "$srcdir/test/lab/tap.sh"

cd "$srcdir" || bail_out "no source directory '$srcdir'"
work=$(mktemp -d) || bail_out "no temporary directory"
trap 'rm -rf "$work"' EXIT

# none DESCRIPTION: standard input is the list of what was found, one finding a line.
none()
{
	local findings

	findings=$(cat)
	if [ -z "$findings" ]; then
		ok "$1"
	else
		not_ok "$1" "found:"
		printf '%s\n' "$findings" | sed 's/^/#   /'
	fi
}

# sources FOLDER...: the C files below them, headers and tables included.
sources()
{
	find "$@" -type f \( -name '*.[ch]' -o -name '*.def' \) | sort
}

# without_comments FILE...: "file:line:text" of each line, comments and strings taken out.
without_comments()
{
	awk '
	FNR == 1 { inside = 0 }
	{
		line = $0
		text = ""
		while (line != "") {
			if (inside) {
				at = index(line, "*/")
				if (!at)
					break
				line = substr(line, at + 2)
				inside = 0
			} else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|'\''([^'\''\\]|\\.)+'\''/)) {
				text = text substr(line, 1, RSTART - 1)
				mark = substr(line, RSTART, 2)
				if (mark == "//")
					break
				line = substr(line, RSTART + RLENGTH)
				if (mark == "/*")
					inside = 1
				else
					text = text "\"\""
			} else {
				text = text line
				break
			}
		}
		print FILENAME ":" FNR ":" text
	}' "$@"
}
