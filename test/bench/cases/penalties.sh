# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Published table 4: what the forms of the task limit cost programs whose device keeps up.

bench_case table4 case_penalties 1600 600 "published table 4: write, rewrite, random and mapped writes by task_limit"

PENALTIES_RATE=209715200

# penalties_fio TEST: the array fio. New files are written, old ones written again.
penalties_fio()
{
	local longest_s=20

	[ "$scope" = full ] || longest_s=10
	fio=(fio --name=job --directory="$LAB_MNT" --numjobs=4 --size="$((size / 4))M"
		--fallocate=none --runtime="$longest_s" --minimal --group_reporting --eta=never
		--output="$LAB_TMP/fio")
	case $1 in
	write | rewrite) fio+=(--rw=write --bs=64k --ioengine=psync) ;;
	random-write) fio+=(--rw=randwrite --bs=16k --ioengine=psync) ;;
	mmap-write) fio+=(--rw=write --bs=64k --ioengine=mmap) ;;
	esac
}

# What the jobs wrote, in KiB: all of it, or what they could in time.
penalties_kib()
{
	awk -F ';' '{ sum += $47 } END { print sum + 0 }' "$LAB_TMP/fio"
}

# penalties_arm TEST VARIANT: ARM[rate_bps], until durable.
penalties_arm()
{
	local run=() fio start

	ARM=()
	lab_make "$fs" "$(arm_device_mb "$size")" $PENALTIES_RATE || return
	lab_forget
	if [ "$1" = write ]; then
		arm_touch_memory "$size"
	else
		lab_cap 0
		penalties_fio write
		"${fio[@]}" || lab_fail "fio: $(tail -n 1 "$LAB_TMP/fio")" || return
		sync -f "$LAB_MNT"
		lab_cap $PENALTIES_RATE
	fi
	penalties_fio "$1"
	[ "$2" = plain ] || run=(env WRITEPACE_TASK_LIMIT="$2" "$LAB_WRITEPACE")
	start=${EPOCHREALTIME/./}
	lab_run "${run[@]}" "${fio[@]}" || lab_fail "fio: $(tail -n 1 "$LAB_TMP/fio")" || return
	lab_run sync -f "$LAB_MNT"
	ARM[rate_bps]=$(($(penalties_kib) * 1024 * 1000000 / (${EPOCHREALTIME/./} - start)))
	lab_remove
}

case_penalties()
{
	local run test variant variants="plain off linear sqrt"

	lab_require "$fs" || impossible "$LAB_WHY"
	install_program fio fio || impossible "fio is not installed"
	[ "$scope" = full ] || variants="plain off sqrt"
	for ((run = 1; run <= runs; run++)); do
		for test in write rewrite random-write mmap-write; do
			wanted $test || continue
			for variant in $variants; do
				say "$test, run $run of $runs, $variant"
				penalties_arm $test "$variant" || fail "$LAB_WHY"
				row "$variant" "$run" ${test}_bps "${ARM[rate_bps]}"
			done
		done
	done
}
