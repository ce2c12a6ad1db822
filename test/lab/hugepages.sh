# shellcheck shell=bash
# shellcheck disable=SC2015,SC2016,SC2034,SC2154 # shared with the laboratory, shells of their own
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Published table 5: huge pages asked for in a group with little memory, beside a writer in it.
#
#	hugepages_arm FS RATE GROUP_MB VARIANT	ARM[first_percent], second_percent (a second try),
#						p50_ms, max_ms of one page; oom_kills
#
# VARIANT  rest (nobody writes), plain, writepace

declare -A ARM

# hugepages_ask MB: into ARM, with a prefix.
hugepages_ask()
{
	local said=$LAB_TMP/huge

	memory_run "$lab_build/test/lab/huge" "$1" 20 >"$said" || lab_fail "huge failed" || return
	ARM[$2_percent]=$(arm_ratio $((100 * $(arm_value huge "$said"))) \
		"$(arm_value wanted "$said")" 1)
	ARM[$2_p50_ms]=$(arm_ratio "$(arm_value p50_us "$said")" 1000 3)
	ARM[$2_max_ms]=$(arm_ratio "$(arm_value max_us "$said")" 1000 3)
}

# What is clean already fills the group, and the machine's host has given the memory. Why: one that
# waits for those says nothing of the writer.
hugepages_before()
{
	lab_cap 0
	lab_run "$lab_build/test/lab/huge" $(($1 * 8)) >"$LAB_TMP/huge" &&
		memory_run dd if=/dev/zero of="$LAB_MNT/before" bs=64k count=$(($1 * 16)) \
			conv=fsync status=none || lab_fail "cannot fill the group" || return
	lab_cap "$2"
}

# The writer goes on for as long as it takes: as much as the group has, twice over, is the most
# that it can have dirty.
hugepages_arm()
{
	local fs=$1 rate=$2 group_mb=$3 run=() pid=

	ARM=()
	lab_make "$fs" "$(arm_device_mb $((group_mb * 3)))" "$rate" || return
	lab_forget
	memory_group "$group_mb" && hugepages_before "$group_mb" "$rate" || return
	[ "$4" != writepace ] || run=("$LAB_WRITEPACE")
	if [ "$4" != rest ]; then
		setsid sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$MEMORY_GROUP" \
			"${run[@]}" dd if=/dev/zero of="$LAB_MNT/big" bs=64k \
			count=$((group_mb * 32)) status=none &
		pid=$!
		lab_run sleep 4
	fi
	hugepages_ask $((group_mb * 9 / 10)) first && hugepages_ask $((group_mb * 9 / 10)) second ||
		return
	ARM[oom_kills]=$(sed -n 's/^oom_kill //p' "$MEMORY_GROUP/memory.oom_control")
	lab_cap 0
	[ -z "$pid" ] || { kill -KILL -- -"$pid" && wait "$pid"; } 2>/dev/null
	memory_remove
	lab_remove
}
