# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs that write many files, and all kinds of places to write to.

bench_case many-files case_many - - "cp -r, tar, git clone of small files; one dd and ten at a time: extents"
bench_case programs case_many - - "rsync, dpkg, qemu-img, a build and others, until durable"
bench_case fs-matrix case_matrix 64 16 "a dd to all kinds of file systems, devices, files, failures"

# Each of many.sh's, interleaved; the quick rows stand first.
case_many()
{
	local run variant what metric wrapper names

	lab_require "$fs" || impossible "$LAB_WHY"
	names=$(many_names "$name" "$scope")
	for what in $names; do
		wanted "$what" || continue
		if ! many_prepare "$what"; then
			skipped "$what" "$LAB_WHY"
			continue
		fi
		for ((run = 1; run <= runs; run++)); do
			for variant in plain writepace; do
				under $variant
				say "$what, run $run of $runs, $variant"
				many_arm "$what" "$fs" "$rate" "${wrapper[@]}" || fail "$LAB_WHY"
				for metric in $MANY_METRICS; do
					[ -z "${ARM[$metric]:-}" ] ||
						row $variant "$run" "${what}_$metric" "${ARM[$metric]}"
				done
			done
		done
	done
}

# place_run PLACE RUN VARIANT: said by both variants the same, else it is told.
place_run()
{
	local metric wrapper

	under "$3"
	say "$1, run $2 of $runs, $3"
	matrix_arm "$1" "$size" "${wrapper[@]}" || return
	for metric in dd_s sync_s durable_s peak_outstanding status same; do
		row "$3" "$2" "$1_$metric" "${ARM[$metric]}"
	done
	if [ "$3" = plain ]; then
		plain_said=${ARM[said]}
	elif [ "$plain_said" != "${ARM[said]}" ]; then
		echo "bench: $1: plain '$plain_said', paced '${ARM[said]}'" >&2
	fi
}

case_matrix()
{
	local place plain_said quick="^(btrfs|overlay|block|full)$"

	lab_require ext4 || impossible "$LAB_WHY"
	install_program bindfs bindfs
	arm_source "$size" || fail "$LAB_WHY"
	MATRIX_RATE=$rate
	for place in $(matrix_places); do
		wanted "$place" || continue
		[ "$scope" = full ] || [[ $place =~ $quick ]] || continue
		paired "$place" place_run
	done
}
