# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Published table 5: huge pages, asked for where somebody fills the memory with dirty pages.

bench_case table5 case_hugepages 512 192 "published table 5: huge pages in a memory group beside a writer in it"

case_hugepages()
{
	local run variant metric

	lab_require "$fs" || impossible "$LAB_WHY"
	grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null &&
		impossible "the kernel gives no huge pages"
	for ((run = 1; run <= runs; run++)); do
		for variant in rest plain writepace; do
			say "run $run of $runs, $variant"
			hugepages_arm "$fs" "$rate" "$size" $variant || fail "$LAB_WHY"
			for metric in first_percent first_p50_ms first_max_ms second_percent \
				second_max_ms oom_kills; do
				row $variant "$run" $metric "${ARM[$metric]}"
			done
		done
	done
}
