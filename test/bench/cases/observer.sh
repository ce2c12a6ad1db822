# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What writepace-observer brings, and what it costs. It takes no other observer on the machine.

bench_case observer case_observer 60 30 "files that can not be asked, with writepace-observer and without; what it costs"

observer_runs()
{
	"$build_dir/writepace-observer" --once >/dev/null 2>&1
}

# Where writepaced looks for it. One that a machine has already would be in both arms.
start_observer()
{
	"$build_dir/writepace-observer" --foreground 2>"$LAB_TMP/observer" &
	observer_pid=$!
	lab_retry observer_runs || impossible "$(head -n 1 "$LAB_TMP/observer")"
}

# Nanoseconds that the observer's programs in the kernel have run so far.
programs_ns()
{
	awk '/^run_time_ns:/ { sum += $2 } END { printf "%.0f\n", sum }' \
		"/proc/$observer_pid/fdinfo/"*
}

# System time, in seconds, of a plain dd of 200 MB in writes of BS.
dd_sys_s()
{
	local TIMEFORMAT=%S

	{ time dd if=/dev/zero of="$LAB_MNT/big" bs="$1" count=200M iflag=count_bytes \
		status=none; } 2>&1
	rm "$LAB_MNT/big"
}

# cost_of VARIANT BS: what the dd takes, and what of that the observer's programs had in another
# one. Why another: the kernel's statistics of programs read the clock twice an event.
cost_of()
{
	local before sys_s stats

	ARM[dd_$2_sys_s]=$(dd_sys_s "$2")
	[ "$1" = with ] || return 0
	stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
	before=$(programs_ns)
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	sys_s=$(dd_sys_s "$2")
	echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
	ARM[dd_$2_programs]=$(awk -v ns=$(($(programs_ns) - before)) -v sys="$sys_s" \
		'BEGIN { printf "%.4f", sys ? ns / 1e9 / sys : 0 }')
}

arm_cost()
{
	lab_make "$fs" 600 209715200 || return
	cost_of "$1" 4k
	cost_of "$1" 64k
	lab_remove ""
}

case_observer()
{
	local run variant place places=

	lab_require "$fs" || impossible "$LAB_WHY"
	! observer_runs || impossible "an observer of this machine is running"
	[ -x "$build_dir/writepace-observer" ] || impossible "writepace-observer is not built"
	[ -w /proc/sys/kernel/bpf_stats_enabled ] || impossible "no statistics of bpf"
	for place in $DENIED_PLACES; do
		wanted "$place" || continue
		if denied_can "$place"; then
			places+=" $place"
		else
			skipped "$place" "$LAB_WHY"
		fi
	done
	for ((run = 1; run <= runs; run++)); do
		for variant in without with; do
			say "run $run of $runs, $variant"
			ARM=()
			metrics=()
			[ $variant = without ] || start_observer
			for place in $places; do
				denied_arm "$place" "$fs" "$rate" "$size" || fail "$LAB_WHY"
				metrics+=("${place}_peak_outstanding" "${place}_s")
			done
			metrics+=(dd_4k_sys_s dd_64k_sys_s)
			arm_cost $variant || fail "$LAB_WHY"
			if [ $variant = with ]; then
				metrics+=(dd_4k_programs dd_64k_programs)
				arm_stop "$observer_pid" || fail "the observer failed"
			fi
			record $variant "$run"
		done
	done
}
