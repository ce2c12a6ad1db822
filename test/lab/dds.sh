# shellcheck shell=bash
# shellcheck disable=SC2015,SC2016,SC2034,SC2154 # shared with the laboratory, shells of their own
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The throughput tables: equal dd of 4 KiB blocks on one device or two, under a limit on dirty
# memory, until durable.
#
#	dds_arm LAYOUT FS LIMIT WRITERS MB VARIANT	ARM[rate_bps]
#
# LAYOUT   one, jbod (two file systems), raid0, raid1 (btrfs over two devices), stick (a device
#          thirteen times slower beside one)
# LIMIT    bytes, 0 for none: WRITEPACE_LIMIT for writepace, with the drain target out of the way;
#          vm.dirty_bytes for plain, but where others have more than a quarter of it dirty the
#          strict_limit of each device: ARM[limited_by]
# WRITERS  on each file system
# MB       on each device, the stick a thirteenth
# VARIANT  of dds_variants

declare -A ARM
DDS_RATE=52428800
DDS_STICK_RATE=4194304

# A name, and what its program runs under. More of them: a line each.
dds_variants()
{
	echo "plain"
	echo "writepace WRITEPACE_DRAIN=1h"
	# a file that can make no progress keeps its turn: the published rule that lost
	echo "requeue WRITEPACE_DRAIN=1h WRITEPACE_REQUEUE=1"
}

# dds_make LAYOUT FS MB WRITERS: the directories in dds_where, MB for each writer there in dds_mb.
dds_make()
{
	local mb

	mb=$(arm_device_mb "$3")
	dds_mb=($(($3 / $4)))
	case $1 in
	one) lab_make "$2" "$mb" $DDS_RATE && dds_where=("$LAB_MNT") ;;
	jbod)
		lab_make "$2" "$mb" $DDS_RATE || return
		dds_where=("$LAB_MNT")
		lab_make "$2" "$mb" $DDS_RATE || return
		dds_where+=("$LAB_MNT")
		dds_mb+=("${dds_mb[0]}")
		;;
	raid0)
		lab_make_btrfs raid0 "$mb" $DDS_RATE && dds_where=("$LAB_MNT")
		dds_mb=($(($3 * 2 / $4)))
		;;
	raid1) lab_make_btrfs raid1 "$mb" $DDS_RATE && dds_where=("$LAB_MNT") ;;
	stick)
		lab_make "$2" "$(arm_device_mb $(($3 / 13)))" $DDS_STICK_RATE || return
		dds_where=("$LAB_MNT")
		lab_make "$2" "$mb" $DDS_RATE || return
		dds_where+=("$LAB_MNT")
		dds_mb=($(($3 / 13 / $4)) $(($3 / $4)))
		;;
	*) lab_fail "no layout '$1'" ;;
	esac
}

# dds_write WRITERS [WRAPPER...]
dds_write()
{
	local writers=$1 i pids=()

	shift
	for i in "${!dds_where[@]}"; do
		"$@" sh -c '
			i=0
			while [ $i -lt "$1" ]; do
				dd if=/dev/zero of="$2/w.$i" bs=4k count="$3" status=none &
				pids="$pids $!"
				i=$((i + 1))
			done
			for pid in $pids; do
				wait $pid || exit
			done' sh "$writers" "${dds_where[i]}" $((dds_mb[i] * 256)) &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || return
	done
}

# All at a time: one that is still dirty must not wait for the other one's sync.
dds_sync()
{
	local where pids=()

	for where in "${dds_where[@]}"; do
		sync -f "$where" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

# dds_limit BYTES: the kernel's.
dds_limit()
{
	local where

	ARM[limited_by]=vm.dirty_bytes
	if [ "$(kernel_outstanding)" -le $(($1 / 4)) ]; then
		kernel_limit "$1"
		return
	fi
	ARM[limited_by]=strict_limit
	for where in "${dds_where[@]}"; do
		kernel_strict $(($1 / ${#dds_where[@]})) "$where" || return
	done
}

dds_arm()
{
	local limit=$3 writers=$4 variant settings run=() start took i bytes=0

	ARM=()
	read -r variant settings < <(dds_variants | grep "^$6\( \|$\)") ||
		lab_fail "no variant '$6'" || return
	dds_make "$1" "$2" "$5" "$writers" || return
	lab_forget
	if [ "$variant" != plain ]; then
		[ "$limit" = 0 ] && settings="" || settings+=" WRITEPACE_LIMIT=$limit"
		# shellcheck disable=SC2206 # words
		run=(env $settings "$LAB_WRITEPACE")
	elif [ "$limit" != 0 ]; then
		dds_limit "$limit" || return
	fi
	start=${EPOCHREALTIME/./}
	lab_run dds_write "$writers" "${run[@]}" || lab_fail "a dd failed" || return
	lab_run dds_sync
	took=$((${EPOCHREALTIME/./} - start))
	kernel_unlimit
	for i in "${!dds_mb[@]}"; do
		bytes=$((bytes + writers * dds_mb[i] * 1048576))
	done
	ARM[rate_bps]=$((bytes * 1000000 / took))
	lab_remove_all
}
