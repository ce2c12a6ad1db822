# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What people report and no other case shows.

bench_case reports case_reports 300 30 "a copy between slow devices, a camera, a recorder, an unmount, a memory group"

# reports_rows PLACE RUN VARIANT. On ext4 the kernel waits where on btrfs it often kills.
reports_rows()
{
	local wrapper metric fs=$fs

	[ "$1" != memory ] || fs=${fs_given:-btrfs}
	under "$3"
	say "$1, run $2 of $runs, $3"
	reports_arm "$1" "$fs" "$rate" "$size" "${wrapper[@]}" || return
	for metric in $(printf '%s\n' "${!ARM[@]}" | sort); do
		row "$3" "$2" "$1_${metric#"$1"_}" "${ARM[$metric]}"
	done
}

case_reports()
{
	local place

	lab_require "$fs" "${fs_given:-btrfs}" || impossible "$LAB_WHY"
	[ "$scope" = full ] || REPORTS_SPAN_S=5
	for place in $REPORTS_PLACES; do
		wanted "$place" || continue
		paired "$place" reports_rows
	done
}
