# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One device: others beside a writer, equal writers, a change of speed, a large file.

bench_case fsync-beside-dd case_beside 150 60 "4 KiB write + fsync every 50 ms beside a dd and its sync"
bench_case known-beside-dd case_beside 150 60 "the same beside a second dd, when the device's speed is known"
bench_case overwrite-beside-dd case_beside 150 30 "as fsync-beside-dd, over and over one block"
bench_case light-beside-dd case_beside 150 70 "creating, appending, storing to a mapped page, no syncs"
bench_case fairness case_fairness - - "Jain's index of 2, 10 and 100 equal dd, paced"
bench_case sync-first case_sync_first 150 30 "a paced fsync beside a second dd: with and without hold, headroom"
bench_case speed-change case_change - - "a device becomes ten times slower, and faster, paced"
bench_case throughput-200 case_throughput 2000 800 "a dd of 2 GB until durable, on a device of 200 MB/s"

case_beside()
{
	local probes probe

	case $name in
	light-*) probes="create log mapstore append" ;;
	known-*) probes="fsync append" && ARM_KNOWN=1 ;;
	*) probes="${name%-beside-dd} append" ;;
	esac
	lab_require "$fs" || impossible "$LAB_WHY"
	arm_source "$size" || fail "$LAB_WHY"
	for probe in $probes; do
		metrics+=("${probe}_p50_ms" "${probe}_p99_ms" "${probe}_max_ms")
	done
	metrics+=(dd_s sync_s rate_bps device_share peak_outstanding)
	pairs arm_beside "$probes" "$fs" "$rate" "$size"
}

# A plain arm would measure the page cache: there is none.
case_fairness()
{
	local run writers counts="2 10 100" warm_up=10 span=30

	lab_require "$fs" || impossible "$LAB_WHY"
	[ "$scope" = full ] || { counts=10 && warm_up=5 && span=10; }
	for ((run = 1; run <= runs; run++)); do
		for writers in $counts; do
			say "run $run of $runs, $writers writers"
			arm_fair "$fs" "$rate" "$writers" $warm_up $span "$LAB_WRITEPACE" ||
				fail "$LAB_WHY"
			row writepace "$run" "jain_$writers" "${ARM[jain]}"
			row writepace "$run" "share_$writers" "${ARM[writers_share]}"
		done
	done
}

# What the hold and the headroom each add for a program that syncs and is paced itself.
case_sync_first()
{
	local run hold headroom metric headrooms="0% auto"

	lab_require "$fs" || impossible "$LAB_WHY"
	arm_source "$size" || fail "$LAB_WHY"
	[ "$scope" = full ] || headrooms=auto
	ARM_KNOWN=1
	ARM_PROBE_UNDER=("$LAB_WRITEPACE")
	for ((run = 1; run <= runs; run++)); do
		for headroom in $headrooms; do
			for hold in 0 100ms; do
				say "run $run of $runs, headroom $headroom, hold $hold"
				export WRITEPACE_HEADROOM=$headroom WRITEPACE_SYNC_HOLD=$hold
				arm_beside fsync "$fs" "$rate" "$size" "$LAB_WRITEPACE" ||
					fail "$LAB_WHY"
				for metric in fsync_p50_ms fsync_p99_ms fsync_max_ms rate_bps; do
					row "headroom $headroom, hold $hold" "$run" "$metric" \
						"${ARM[$metric]}"
				done
			done
		done
	done
}

# As above: plain, all of it would be outstanding for good.
case_change()
{
	local run way ways=("slower 41943040 4194304" "faster 4194304 41943040")

	lab_require "$fs" || impossible "$LAB_WHY"
	[ "$scope" = full ] || { ways=("${ways[0]}") && ARM_CHANGE_S=11; }
	for ((run = 1; run <= runs; run++)); do
		for way in "${ways[@]}"; do
			# shellcheck disable=SC2086
			set -- $way
			say "run $run of $runs, $1"
			arm_change "$fs" "$2" "$3" "$LAB_WRITEPACE" || fail "$LAB_WHY"
			row writepace "$run" "$1_settled_s" "${ARM[settled_s]}"
			row writepace "$run" "$1_used_share" "${ARM[used_share]}"
		done
	done
}

case_throughput()
{
	lab_require "$fs" || impossible "$LAB_WHY"
	metrics=(durable_s)
	pairs arm_durable "$fs" 209715200 "$size"
}
