# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The same copy under writepace and under what else there is, with a neighbour's fsync beside it.

bench_case peers-beside-dd case_others 150 30 "fsync beside a copy: writepace, nocache, pv, ionice, rsync, cgroup, kernel limits"

others_run()
{
	local metric status=1

	ARM_WRITER=others_${1//-/_}
	others_before "$1" && arm_beside fsync "$fs" "$rate" "$size" && status=0
	others_after
	[ $status = 0 ] || return
	for metric in fsync_p50_ms fsync_p99_ms sync_s rate_bps cpu_ms peak_outstanding; do
		row "$1" "$2" $metric "${ARM[$metric]}"
	done
	row "$1" "$2" needs_root "$3"
}

case_others()
{
	local run other package program root
	local quick="^(plain|writepace|pv-L|ionice-c3|cgroup-throttle|vm-dirty-bytes)$"

	lab_require "$fs" || impossible "$LAB_WHY"
	arm_source "$size" || fail "$LAB_WHY"
	OTHERS_RATE=$rate
	[ "$scope" = full ] || only=${only:-$quick}
	for ((run = 1; run <= runs; run++)); do
		while IFS='|' read -r -u 7 other package program root; do
			wanted "$other" || continue
			if ! install_program "$package" "$program"; then
				skipped "$other" "$package is not installed"
				continue
			fi
			say "run $run of $runs, $other"
			others_run "$other" "$run" "$root" && continue
			[[ ! $other =~ ^(plain|writepace)$ ]] || fail "$other: $LAB_WHY"
			skipped "$other" "$LAB_WHY"
			lab_remove_all
		done 7< <(others_list)
	done
}
