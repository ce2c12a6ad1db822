# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Writes whose files can not be asked what of them is outstanding, for the tests and the bench;
# sourced after arms.sh. Oracle: the kernel's own count of the device's queue.

DENIED_PLACES="closed owner sandbox overlay"
DENIED_LIMIT=4M
DENIED_LIMIT_BYTES=4194304

# 256 KiB a file, each closed at once.
denied_closed()
{
	head -c 256K /dev/zero >"$LAB_TMP/piece"
	# shellcheck disable=SC2016
	lab_run "${@:2}" sh -c '
		for nr in $(seq "$3"); do
			cp "$2" "$1/$nr" || exit
		done' sh "$LAB_MNT" "$LAB_TMP/piece" $(($1 * 4))
}

# A file that the writer may neither open nor own: it was handed the descriptor.
denied_owner()
{
	local status

	install -m 600 /dev/null "$LAB_MNT/owned"
	lab_run setpriv --reuid 65534 --regid 65534 --clear-groups "${@:2}" \
		dd if=/dev/zero bs=64k count=$(($1 * 16)) status=none >"$LAB_MNT/owned"
	status=$?
	# of the other user, whom lab_forget does not know
	rm -f "/dev/shm/writepace-65534/segment.$WRITEPACE_SEGMENT" \
		"/run/user/65534/segment.$WRITEPACE_SEGMENT"
	rmdir /dev/shm/writepace-65534 2>/dev/null
	return $status
}

# A sandbox that does not know the call.
denied_sandbox()
{
	lab_run "$lab_build/test/lab/deny" "${@:2}" dd if=/dev/zero of="$LAB_MNT/sandboxed" \
		bs=64k count=$(($1 * 16)) status=none
}

# Pages of a file there are those of the upper one.
denied_overlay()
{
	local top=$LAB_TMP/top status

	mkdir -p "$LAB_MNT/lower" "$LAB_MNT/upper" "$LAB_MNT/work" "$top"
	mount -t overlay overlay "$top" -o \
		"lowerdir=$LAB_MNT/lower,upperdir=$LAB_MNT/upper,workdir=$LAB_MNT/work" ||
		return
	lab_run "${@:2}" dd if=/dev/zero of="$top/file" bs=64k count=$(($1 * 16)) status=none
	status=$?
	umount "$top"
	return $status
}

# denied_can PLACE: else LAB_WHY
denied_can()
{
	case $1 in
	owner)
		setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$LAB_WRITEPACE" ||
			lab_fail "nobody may not run the wrapper here"
		;;
	sandbox)
		"$lab_build/test/lab/deny" true || lab_fail "no seccomp"
		;;
	overlay)
		grep -qw overlay /proc/filesystems || lab_fail "the kernel has no overlay"
		;;
	esac
}

# denied_arm PLACE FS RATE SIZE_MB: paced, within DENIED_LIMIT. ARM[PLACE_peak_outstanding] is the most that
# was outstanding, ARM[PLACE_s] the time until it was durable.
denied_arm()
{
	local place=$1 fs=$2 rate=$3 size_mb=$4
	local watch_pid start

	lab_make "$fs" "$(arm_device_mb "$size_mb")" "$rate" || return
	lab_forget
	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	start=${EPOCHREALTIME/./}
	"denied_$place" "$size_mb" "$LAB_WRITEPACE" --limit $DENIED_LIMIT ||
		lab_fail "$place: failed with status $?" || return
	lab_run sync -f "$LAB_MNT"
	ARM[${place}_s]=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 3)
	arm_stop $watch_pid || return
	ARM[${place}_peak_outstanding]=$(arm_value peak_outstanding "$LAB_TMP/watch")
	lab_remove ""
}
