# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Published tables 1 and 2: rates until durable under a limit on dirty memory, on one device and
# two, and how the shares of two devices follow the load.

bench_case table1 case_table 1500 300 "published table 1: rates under limits, two devices, RAID0, RAID1"
bench_case table1-turns case_turns - - "two devices, one four times slower, in turns: their shares"
bench_case table1-move case_move - - "the load moves to a device 32 times slower: its share"
bench_case table2 case_table 1500 300 "published table 2: rates of 1, 2, 10, 100 dd, a stick beside a disk"
bench_case requeue case_table 600 200 "the rows of table 2 that a wrong place in the queue cost most"

# LAYOUT LIMIT FS WRITERS, a line each.
table1_full()
{
	local layout limit fs writers

	for limit in 1000M 100M; do
		for fs in btrfs ext4 xfs; do
			for writers in 10 1; do
				echo "jbod $limit $fs $writers"
			done
		done
		echo "raid0 $limit btrfs 1"
		echo "raid1 $limit btrfs 1"
	done
	for limit in 1000M 100M 10M 1M; do
		for fs in btrfs ext4 xfs; do
			for writers in 10 1; do
				echo "one $limit $fs $writers"
			done
		done
	done
}

table1_quick()
{
	cat <<-END
	jbod 100M ext4 10
	raid0 100M btrfs 1
	raid1 100M btrfs 1
	one 100M xfs 10
	one 10M btrfs 1
	one 10M ext4 1
	one 1M ext4 1
	END
}

table2_full()
{
	local limit fs writers

	for fs in ext4 xfs; do
		for writers in 10 1 2; do
			echo "stick 0 $fs $writers"
		done
	done
	for limit in 100M 1G 8M; do
		for fs in btrfs ext4 xfs; do
			for writers in 100 10 1 2; do
				echo "one $limit $fs $writers"
			done
		done
	done
}

table2_quick()
{
	cat <<-END
	stick 0 ext4 1
	one 100M btrfs 2
	one 100M ext4 100
	one 8M ext4 1
	one 8M xfs 2
	END
}

requeue_full()
{
	cat <<-END
	one 100M btrfs 10
	one 100M btrfs 1
	one 100M xfs 10
	one 8M xfs 2
	one 8M ext4 10
	one 100M ext4 100
	END
}

requeue_quick()
{
	requeue_full | tail -n 1
}

# Where there is little time the third one is left to its own case.
table_variants()
{
	if [ "$scope" = full ] || [ "$name" = requeue ]; then
		dds_variants
	else
		dds_variants | grep -v '^requeue '
	fi | cut -d " " -f 1
}

# As in the published tables, but that two are not hard disks.
table_name()
{
	case $1 in
	one) echo "thresh=$2/$3-$4dd" ;;
	stick) echo "STICK-DISK/$3-$4dd" ;;
	*) echo "${1^^}-2DEV-thresh=$2/$3-$4dd" ;;
	esac
}

# table_row RUN LAYOUT LIMIT FS WRITERS: all variants, or none.
table_row()
{
	local run=$1 row_name variant bytes

	shift
	row_name=$(table_name "$@")
	wanted "$row_name" || return 0
	bytes=$(numfmt --from=iec "$2")
	for variant in $(table_variants); do
		say "$row_name, run $run of $runs, $variant"
		if ! dds_arm "$1" "$3" "$bytes" "$4" "$size" "$variant"; then
			[ "$variant" = plain ] || fail "$row_name: $LAB_WHY"
			skipped "$row_name" "$LAB_WHY"
			lab_remove_all
			return
		fi
		row "$variant" "$run" "${row_name}_bps" "${ARM[rate_bps]}"
		[ "${ARM[limited_by]:-}" != strict_limit ] || skipped "$row_name by vm.dirty_bytes" \
			"others had dirty data; plain had strict_limit and max_bytes instead"
	done
}

case_table()
{
	local run variant line

	lab_require ext4 xfs btrfs || impossible "$LAB_WHY"
	for ((run = 1; run <= runs; run++)); do
		while read -r -u 7 line; do
			# shellcheck disable=SC2086 # words
			table_row "$run" $line
		done 7< <("${name}_$scope")
		for variant in $(table_variants); do
			total "$variant" "$run"
		done
	done
}

# Periods of the published trial, and the one that chooses itself.
periods()
{
	if [ "$scope" = full ]; then
		echo 500ms 3s 8s auto
	else
		echo 3s
	fi
}

case_turns()
{
	local run period turn_s=30 turns=6

	lab_require ext4 || impossible "$LAB_WHY"
	[ "$scope" = full ] || { turn_s=12 && turns=2; }
	for ((run = 1; run <= runs; run++)); do
		for period in $(periods); do
			say "run $run of $runs, period $period"
			MOVES_SERIES=${BENCH_VALUES:+$BENCH_VALUES/turns-$period.series}
			turns_arm "$period" $turn_s $turns || fail "$LAB_WHY"
			row "period $period" "$run" settled_s "${ARM[settled_s]}"
			row "period $period" "$run" error "${ARM[error]}"
		done
	done
}

case_move()
{
	local run period

	lab_require ext4 || impossible "$LAB_WHY"
	[ "$scope" = full ] || { MOVES_BEFORE_S=10 && MOVES_AFTER_S=30; }
	for ((run = 1; run <= runs; run++)); do
		for period in $(periods); do
			say "run $run of $runs, period $period"
			MOVES_SERIES=${BENCH_VALUES:+$BENCH_VALUES/move-$period.series}
			moves_arm "$period" || fail "$LAB_WHY"
			row "period $period" "$run" half_s "${ARM[half_s]}"
			row "period $period" "$run" nine_tenths_s "${ARM[nine_tenths_s]}"
		done
	done
}
