#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The bench itself: what it lists, the form of its rows, its sums, its report, and that the
# machine's own limits come back. Oracle: figures worked out by hand.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"

bench=${LAB_WRITEPACE%/*}/test/bench/bench
unset WRITEPACE_LONG WRITEPACE_IDLE_S
export WRITEPACE_BUILD=$lab_build

cases=$("$bench" --list | cut -d " " -f 1)
is "no case is listed twice" "$(sort <<<"$cases" | uniq -d)" ""
for name in table1 table2 table3 table4 table5 peers-beside-dd programs reports; do
	is "there is a case $name" "$(grep -xF $name <<<"$cases")" $name
done
said=$("$bench" none 2>&1)
is "a case that is not there is refused" "$?:$said" "2:bench: no case 'none', see --list"

# --- sums ---------------------------------------------------------------------------------

# table FORM: of three runs with 2, 10 and 1 plain and 4, 6 and 5 paced, and a row not run.
table()
{
	{
		printf 'x\tplain\t%s\ta_bps\t%s\tB/s\n' 1 2000000 2 10000000 3 1000000
		printf 'x\twritepace\t%s\ta_bps\t%s\tB/s\n' 1 4000000 2 6000000 3 5000000
		printf 'x\tskipped\t0\tb\t-\tno b here\n'
	} | awk -F '\t' -v form="$1" -f "$lab_source/test/bench/report.awk"
}

is "medians, quartiles and the ratio of the medians" "$(table markdown | sed -n 3p)" \
	"| a | MB/s | 2.00 (1.50 to 6.00) | 5.00 (4.50 to 5.50), x 2.500 |"
is "what was not run is said" "$(table markdown | tail -n 1)" "- not run: b: no b here"
is "the ratio is a row as well" "$(table tsv | tail -n 1)" \
	"$(printf 'x\tratio\tall\ta_bps\t2.5000\tratio')"

# --- a case and its report ----------------------------------------------------------------

"$bench" fprop --runs 2 --tsv >"$LAB_TMP/tsv" 2>"$LAB_TMP/said" || cat "$LAB_TMP/said"
is "rows have a head" "$(head -n 1 "$LAB_TMP/tsv" | tr '\t' ' ')" \
	"case variant run metric value unit"
is "and six columns, the fifth a number" "$(awk -F '\t' 'NR > 1 &&
	(NF != 6 || $5 !~ /^[0-9.]+$/) { print }' "$LAB_TMP/tsv")" ""
compare "rows of two runs" "$(awk -F '\t' '$3 == 2' "$LAB_TMP/tsv" | wc -l)" ge 3

"$bench" fprop --quick --report "$LAB_TMP/report" 2>"$LAB_TMP/said" || cat "$LAB_TMP/said"
page=$LAB_TMP/report/BENCHMARKS.md
is "the report has the case" "$(grep -c '^## fprop' "$page")" 1
compare "with rows" "$(sed -n '/^## fprop/,$p' "$page" | grep -c '^| [a-z]')" ge 2
is "and its values beside it" "$(head -n 1 "$LAB_TMP/report/bench/fprop.tsv" | cut -f 1)" case
# shellcheck disable=SC2016
named=$(sed -n '/^## What people report/,/^## /p' "$page" | cut -d "|" -f 3 | grep -o '`[^`]*`' |
	tr -d '`' | sort -u)
compare "cases that show what people report" "$(wc -l <<<"$named")" ge 15
is "all of them exist" "$(comm -23 <(echo "$named") <(sort <<<"$cases"))" ""

# --- the machine's limits -----------------------------------------------------------------

limits()
{
	cat /proc/sys/vm/dirty{,_background}_{ratio,bytes}
}

# kernel_limit in a shell of its own, then what it is told.
limited()
{
	bash -c '. "$1/lab.sh" && . "$1/kernel.sh" && kernel_limit 2147483648 &&
		cat /proc/sys/vm/dirty_bytes && eval "$2"' bash "$lab_source/test/lab" "$1" 2>&1
}

before=$(limits)
if [ "$(id -u)" != 0 ] || [ ! -w /proc/sys/vm/dirty_bytes ]; then
	skip "the machine's limits come back" "setting them needs root"
else
	is "a limit is set, and given back" "$(limited kernel_unlimit):$(limits)" \
		"2147483648:$before"
	is "at the end too" "$(limited exit):$(limits)" "2147483648:$before"
	# shellcheck disable=SC2016
	said=$(limited 'echo "$LAB_TMP"; kill -KILL $$')
	for _ in {1..50}; do
		[ "$(limits)" != "$before" ] || break
		sleep 0.1
	done
	is "and when the laboratory is killed" "${said%%$'\n'*}:$(limits)" "2147483648:$before"
	left=${said#*$'\n'}
	[[ $left != */writepace-lab.* ]] || rm -rf "$left"
fi
done_testing
