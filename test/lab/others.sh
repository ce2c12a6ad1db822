# shellcheck shell=bash
# shellcheck disable=SC2015,SC2016,SC2034,SC2154 # shared with the laboratory, shells of their own
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What else there is to keep a copy from filling memory or a disk's queue: each copies ARM_SOURCE
# to $LAB_MNT/big, as ARM_WRITER of arm_beside.
#
#	others_list			NAME|PACKAGE|PROGRAM|ROOT, a line each; ROOT 1: takes root
#	OTHERS_RATE=10485760		the device's: some must be told nine tenths of it
#	others_NAME			the copy

OTHERS_RATE=10485760

others_list()
{
	cat <<-END
	plain|coreutils|dd|0
	writepace|coreutils|dd|0
	nocache|nocache|nocache|0
	pv-L|pv|pv|0
	ionice-c3|util-linux|ionice|0
	rsync-bwlimit|rsync|rsync|0
	cgroup-throttle|coreutils|dd|1
	strict-limit|coreutils|dd|1
	vm-dirty-bytes|coreutils|dd|1
	END
}

others_plain()
{
	arm_copy_big
}

others_writepace()
{
	arm_copy_big "$LAB_WRITEPACE"
}

others_nocache()
{
	arm_copy_big nocache
}

others_pv_L()
{
	pv -q -L $((OTHERS_RATE * 9 / 10)) "$ARM_SOURCE" >"$LAB_MNT/big"
}

others_ionice_c3()
{
	arm_copy_big ionice -c3
}

others_rsync_bwlimit()
{
	rsync --bwlimit=$((OTHERS_RATE * 9 / 10 / 1024)) "$ARM_SOURCE" "$LAB_MNT/big"
}

# A group of its own below the one of the device's cap.
others_cgroup_throttle()
{
	local group

	case $lab_read_file in
	*/io.max) lab_fail "needs the block groups of cgroup v1" || return ;;
	esac
	group=${lab_cap_file%/*}/writepace-lab.$$
	mkdir "$group" && echo "$LAB_ID $((OTHERS_RATE * 9 / 10))" \
		>"$group/blkio.throttle.write_bps_device" || return
	arm_copy_big sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group"
	echo "$LAB_ID 0" >"$group/blkio.throttle.write_bps_device"
	lab_retry rmdir "$group"
}

# One second of the device.
others_strict_limit()
{
	kernel_strict "$OTHERS_RATE" "$LAB_MNT" && arm_copy_big
}

# Held until the device is removed: the sync is under it as well.
others_vm_dirty_bytes()
{
	arm_copy_big
}

# others_before NAME, others_after NAME: in this shell, round the arm.
others_before()
{
	[ "$1" = vm-dirty-bytes ] || return 0
	kernel_limit "$OTHERS_RATE"
}

others_after()
{
	kernel_unlimit
}
