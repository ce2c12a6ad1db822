# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What of a program passes through calls, held against what the kernel saw it dirty.

bench_case coverage case_coverage 64 8 "charged and dirtied bytes of some fifty programs"

# refused NAME COMMAND: the wrapper says so and starts nothing.
refused()
{
	local said

	said=$(eval "\"\$LAB_WRITEPACE\" $2" 2>&1 >/dev/null)
	[ $? = 125 ] || fail "$1 is not refused: $said"
	skipped "$1" "refused: ${said#writepace: }"
}

# shellcheck disable=SC2153 # what programs_run says
cover()
{
	local metric

	programs_run "$2" || fail "$LAB_WHY"
	[ "${PROGRAM[status]}" = 0 ] || fail "$1: status ${PROGRAM[status]}: ${PROGRAM[said]}"
	for metric in charged dirtied uncovered; do
		row "$1" 1 ${metric}_bytes "${PROGRAM[$metric]}"
	done
	row "$1" 1 charged_ratio "${PROGRAM[ratio]}"
	row "$1" 1 peak_outstanding "${PROGRAM[peak]}"
}

# Packages are installed for the whole table alone: compilers of four languages.
case_coverage()
{
	local kind program package command label
	local quick="^(cp|cat, redirected|dd bs=1M|tar x|sort|rsync|pv|fio (mmap|io_uring)|a static program)$"

	[ "$scope" = full ] || only=${only:-$quick}
	lab_require "$fs" || impossible "$LAB_WHY"
	while IFS='|' read -r _ label package program _; do
		[ "$scope" = full ] && wanted "$label" && install_program "$package" "$program"
	done < <(programs_list)
	PROGRAMS_RATE=$rate
	programs_prepare "$size" || fail "$LAB_WHY"
	lab_make "$fs" $((size * 4 + 400)) "$rate" || fail "$LAB_WHY"
	lab_forget
	while IFS='|' read -r kind label package program command; do
		wanted "$label" || continue
		say "$label"
		if ! command -v "$program" >/dev/null; then
			skipped "$label" "$package is not installed"
		elif [ "$kind" = refused ]; then
			refused "$label" "$command"
		else
			cover "$label" "$command"
		fi
	done < <(programs_list)
}
