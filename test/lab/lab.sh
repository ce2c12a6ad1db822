# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The laboratory: real slow devices, made and removed by whoever sources this file.
#
# A device is a loop device over a file of its own, with a write speed cap in the block
# cgroup. One that was just made has never been seen before by anybody.
#
#	. lab.sh			makes LAB_TMP, traps EXIT, HUP, INT and TERM
#	lab_require ext4 btrfs		can this machine do it? else LAB_WHY says why not
#	lab_make ext4 512 10485760	sets LAB_DEV, LAB_MNT, LAB_ID (major:minor)
#	lab_cap 1048576			another speed; 0 lifts the cap
#	lab_remove			the current device, or the one named
#
# Everything else stands on the device's backing file: what is not bound to a file in our
# LAB_TMP is not ours and is never touched, and cleanup needs no bookkeeping that a
# signal could interrupt. All functions return 1 with LAB_WHY set when they fail.
#
# cgroup v1: the cap belongs into the root block group, where the flusher's writes are
# charged. cgroup v2 has no cap on the root: we move into a child group with io.max.
# Journal commits then still run in the root group, unthrottled: results are milder.

LC_ALL=C
export LC_ALL

# A test that sources this file after tap.sh and fails is run once more, and the second run
# counts: devices of the laboratory share their machine with whatever else runs there. What
# the first run said stays in the log.
lab_again()
{
	local first

	export LAB_RUN=first
	first=$(bash "$0" 2>&1)
	if ! grep -q '^not ok\|^Bail out' <<<"$first" && grep -q '^1\.\.' <<<"$first"; then
		printf '%s\n' "$first"
		exit
	fi
	printf '%s\n' "$first" | sed 's/^/# first run: /'
	export LAB_RUN=second
	exec bash "$0"
}

[ -n "${LAB_RUN-}" ] || ! declare -F done_testing >/dev/null || lab_again

LAB_WHY=
LAB_DEV=
LAB_MNT=
LAB_ID=
# The block group that holds the cap, where this shell was before, the file to write.
lab_group=
lab_home=
lab_cap_file=
lab_read_file=
lab_debugfs=
lab_image_nr=0
lab_segment_nr=0
# Functions called at the end, before the devices go: what others changed.
LAB_AT_END=()

LAB_TMP=$(mktemp -d "${TMPDIR:-/var/tmp}/writepace-lab.XXXXXX") || exit 1
chmod 755 "$LAB_TMP"

# Runs a command so that a signal to this shell is obeyed at once, not when it ends.
lab_run()
{
	"$@" &
	wait $!
}

lab_fail()
{
	LAB_WHY=$1
	return 1
}

# --- what this machine can do -----------------------------------------------------------

lab_use_debugfs()
{
	[ -d /sys/kernel/debug/bdi ] && return
	mount -t debugfs none /sys/kernel/debug 2>/dev/null || return
	lab_debugfs=mounted
	[ -d /sys/kernel/debug/bdi ]
}

# Path of this process's group below a cgroup mount; "" is the v2 hierarchy.
lab_group_of()
{
	awk -F: -v want="$1" '
		want == "" && $1 == 0 { print $3 }
		want != "" && ("," $2 ",") ~ ("," want ",") { print $3 }
	' /proc/self/cgroup
}

lab_use_group()
{
	local root

	root=$(findmnt -n -o TARGET -t cgroup -O blkio | head -n 1)
	if [ -w "$root/blkio.throttle.write_bps_device" ]; then
		lab_home=$root$(lab_group_of blkio)
		lab_group=$root
		lab_cap_file=$root/blkio.throttle.write_bps_device
		lab_read_file=$root/blkio.throttle.read_bps_device
	else
		root=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
		grep -qw io "$root/cgroup.controllers" 2>/dev/null || return
		echo "+io +memory" >"$root/cgroup.subtree_control" || return
		mkdir "$root/writepace-lab.$$" || return
		lab_home=$root$(lab_group_of "")
		lab_group=$root/writepace-lab.$$
		lab_cap_file=$lab_group/io.max
		lab_read_file=$lab_cap_file
	fi 2>/dev/null
	[ -w "$lab_cap_file" ] && echo "$BASHPID" >"$lab_group/cgroup.procs"
}

lab_leave_group()
{
	local pid

	[ -n "$lab_group" ] || return 0
	case $lab_cap_file in
	*/io.max)
		while read -r pid; do
			echo "$pid" >"$lab_home/cgroup.procs" 2>/dev/null
		done <"$lab_group/cgroup.procs"
		rmdir "$lab_group"
		;;
	*)
		echo "$BASHPID" >"$lab_home/cgroup.procs"
		;;
	esac
}

lab_require()
{
	local fs

	[ "$(id -u)" = 0 ] || lab_fail "making slow devices needs root" || return
	losetup -f >/dev/null 2>&1 || lab_fail "no loop devices" || return
	lab_use_debugfs || lab_fail "no bdi statistics in debugfs" || return
	lab_use_group || lab_fail "no block throttle in cgroup v1 or v2" || return
	for fs; do
		[ "$fs" != none ] || continue
		command -v "mkfs.$fs" >/dev/null || lab_fail "no mkfs.$fs" || return
		grep -qw "$fs" /proc/filesystems || modprobe -q "$fs" ||
			lab_fail "the kernel has no $fs" || return
	done
}

# --- devices ----------------------------------------------------------------------------

# The cap in force on device MAJOR:MINOR, or nothing.
lab_capped()
{
	awk -v id="$1" '$1 == id {
		for (i = 2; i <= NF; i++)
			if ($i ~ /^wbps=/ || NF == 2) {
				sub(/^wbps=/, "", $i)
				if ($i != "max")
					print $i
			}
	}' "$lab_cap_file"
}

lab_id()
{
	cat "/sys/block/${1#/dev/}/dev"
}

# lab_cap RATE [DEV]: bytes per second, 0 lifts.
lab_cap()
{
	local rate=$1 want=$1
	local id

	id=$(lab_id "${2:-$LAB_DEV}") || return
	[ "$rate" != 0 ] || want=
	case $lab_cap_file in
	*/io.max) echo "$id wbps=${want:-max}" >"$lab_cap_file" ;;
	*) echo "$id $rate" >"$lab_cap_file" ;;
	esac
	[ "$(lab_capped "$id")" = "$want" ] || lab_fail "cannot cap device $id to $rate"
}

# lab_cap_reads RATE [DEV]: none unless asked for.
lab_cap_reads()
{
	local rate=$1 want=$1
	local id

	id=$(lab_id "${2:-$LAB_DEV}") || return
	[ "$rate" != 0 ] || want=max
	case $lab_read_file in
	*/io.max) echo "$id rbps=$want" >"$lab_read_file" ;;
	*) echo "$id $rate" >"$lab_read_file" ;;
	esac || lab_fail "cannot cap the reads of device $id"
}

# A backing file with every block written, not only reserved: the first write to a fresh
# block costs the disk below up to half its speed, and that would be counted for the one
# arm that came first.
lab_image()
{
	local zeros="if=/dev/zero bs=1M count=$2 conv=fsync status=none"

	# shellcheck disable=SC2086
	lab_run dd $zeros of="$1" oflag=direct 2>/dev/null || lab_run dd $zeros of="$1" ||
		lab_fail "no room for a device of $2 MB"
}

# Three tenths of a second's worth of direct writes must take half of that at least: a cap
# that is set but does not bite would make every result look good.
lab_check_cap()
{
	local rate=$1
	local blocks=$((rate * 3 / 10 / 65536 + 2))
	local start=${EPOCHREALTIME/./}

	lab_run dd if=/dev/zero of="$LAB_DEV" bs=64k count=$blocks oflag=direct \
		conv=notrunc status=none || lab_fail "cannot write to $LAB_DEV" || return
	[ $((${EPOCHREALTIME/./} - start)) -ge 150000 ] ||
		lab_fail "the cap of $LAB_DEV is set but not in force"
}

# No discards anywhere: they would give the written blocks back. No background work:
# ext4 would go on initialising its inode tables after the mount.
lab_mkfs()
{
	case $1 in
	ext4) mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$2" ;;
	xfs) mkfs.xfs -q -f -K "$2" ;;
	btrfs) mkfs.btrfs -q -f -K "$2" ;;
	*) echo "not known here" && false ;;
	esac >"$LAB_TMP/mkfs" 2>&1 || lab_fail "mkfs.$1: $(tail -n 1 "$LAB_TMP/mkfs")"
}

# lab_make FS SIZE_MB RATE_BPS: FS ext4, xfs, btrfs, or none for a bare block device. Mounted
# with LAB_MOUNT_OPTIONS.
LAB_MOUNT_OPTIONS=rw
lab_make()
{
	local fs=$1 size_mb=$2 rate=$3
	local image options=$LAB_MOUNT_OPTIONS

	lab_image_nr=$((lab_image_nr + 1))
	image=$LAB_TMP/image.$lab_image_nr
	LAB_MNT=
	lab_image "$image" "$size_mb" || return
	LAB_DEV=$(losetup --find --show "$image") || lab_fail "losetup failed" || return
	losetup --direct-io=on "$LAB_DEV" 2>/dev/null ||
		echo "# lab: $LAB_DEV goes without direct I/O" >&2
	# shellcheck disable=SC2034
	LAB_ID=$(lab_id "$LAB_DEV")

	lab_cap "$rate" && lab_check_cap "$rate" && lab_cap 0 || return
	if [ "$fs" != none ]; then
		[ "$fs" != btrfs ] || options+=,nodiscard
		lab_mkfs "$fs" "$LAB_DEV" || return
		LAB_MNT=$LAB_TMP/mount.$lab_image_nr
		mkdir "$LAB_MNT" || return
		mount -o $options "$LAB_DEV" "$LAB_MNT" ||
			lab_fail "cannot mount $LAB_DEV" || return
		chmod 1777 "$LAB_MNT"
	fi
	lab_cap "$rate"
}

# lab_make_btrfs PROFILE SIZE_MB RATE_BPS: btrfs over two such devices, data raid0 or raid1.
# LAB_DEV is the second one, LAB_DEV_FIRST the other; the file system's count is found by either.
lab_make_btrfs()
{
	lab_make none "$2" "$3" || return
	LAB_DEV_FIRST=$LAB_DEV
	lab_make none "$2" "$3" || return
	lab_cap 0 "$LAB_DEV_FIRST" && lab_cap 0 || return
	mkfs.btrfs -q -f -K -d "$1" "$LAB_DEV_FIRST" "$LAB_DEV" >"$LAB_TMP/mkfs" 2>&1 ||
		lab_fail "mkfs.btrfs: $(tail -n 1 "$LAB_TMP/mkfs")" || return
	LAB_MNT=$LAB_TMP/mount.$lab_image_nr
	{ mkdir "$LAB_MNT" && mount -o "device=$LAB_DEV_FIRST,nodiscard" "$LAB_DEV" "$LAB_MNT"; } ||
		lab_fail "cannot mount two devices" || return
	chmod 1777 "$LAB_MNT"
	lab_cap "$3" "$LAB_DEV_FIRST" && lab_cap "$3"
}

# Bytes that reached the device since it exists.
lab_written()
{
	local fields

	read -r -a fields <"/sys/block/${LAB_DEV#/dev/}/stat"
	echo $((fields[6] * 512))
}

# Tries a command for five seconds: a helper may still hold something open.
lab_retry()
{
	local left=50

	until "$@" 2>/dev/null; do
		left=$((left - 1))
		[ $left -gt 0 ] || return
		sleep 0.1
	done
}

# A loop device keeps the kernel's limits for whoever gets it next.
lab_lift_limits()
{
	local bdi

	bdi=/sys/class/bdi/$(lab_id "$1")
	[ "$(cat "$bdi/strict_limit" 2>/dev/null)" != 1 ] ||
		{ echo 0 >"$bdi/strict_limit" && echo 100 >"$bdi/max_ratio"; }
}

lab_detached()
{
	[ -z "$(losetup -n -O NAME -j "$1")" ]
}

# What stands on a device and would keep it busy: loop devices over files on mounts of ours,
# then mounts on $LAB_TMP/top.* or below another one, the last one first.
lab_remove_tops()
{
	local top image

	for image in "$LAB_TMP"/{mount,top}.*/image.*; do
		[ ! -e "$image" ] || lab_remove_image "$image"
	done
	for top in $(findmnt -rn -o TARGET | grep -E "^$LAB_TMP/(top[.]|mount[.].*/)" | tac); do
		lab_retry umount "$top" || umount -l "$top"
	done
}

# Where a device is mounted, as a member of a btrfs too: mounts name only one of those.
lab_mounts()
{
	local member members

	members=$(ls -d /sys/fs/btrfs/*/devices/"${1#/dev/}" 2>/dev/null)
	for member in "$1" ${members:+"${members%/*}"/*}; do
		findmnt -n -o TARGET -S "/dev/${member##*/}"
	done | sort -u
}

# The device of a backing file. The cap goes first, else the unmount takes as long as
# everything that is still dirty.
lab_remove_image()
{
	local image=$1
	local dev mnt

	for dev in $(losetup -n -O NAME -j "$image"); do
		lab_cap 0 "$dev"
		lab_cap_reads 0 "$dev"
		lab_lift_limits "$dev"
		for mnt in $(lab_mounts "$dev"); do
			lab_retry umount "$mnt" || umount -l "$mnt"
			rmdir "$mnt"
		done
		chown root "$dev"	# a test may have lent the node to a user
		losetup -d "$dev"
	done
	lab_retry lab_detached "$image" || lab_fail "$image is still in use" || return
	rm -f "$image"
}

# lab_remove [DEV]
lab_remove()
{
	local image

	image=$(losetup -n -O BACK-FILE "${1:-$LAB_DEV}") ||
		lab_fail "no such device" || return
	case $image in
	"$LAB_TMP"/image.*) lab_remove_tops && lab_remove_image "$image" ;;
	*) lab_fail "${1:-$LAB_DEV} is not ours" ;;
	esac
}

# No cap on any of ours: a process stuck behind one cannot end.
lab_cap_none()
{
	local image dev

	for image in "$LAB_TMP"/image.*; do
		for dev in $(losetup -n -O NAME -j "$image" 2>/dev/null); do
			lab_cap 0 "$dev"
		done
	done
}

# All of ours.
lab_remove_all()
{
	local image

	lab_cap_none
	lab_remove_tops
	for image in "$LAB_TMP"/image.*; do
		[ ! -e "$image" ] || lab_remove_image "$image" || return
	done
}

# --- the state of paced programs --------------------------------------------------------

# From here on no paced program knows any device: a segment that did not exist before.
lab_forget()
{
	lab_remove_segments
	lab_segment_nr=$((lab_segment_nr + 1))
	export WRITEPACE_SEGMENT=lab-$$-$lab_segment_nr
}

# The file of the segment in use.
lab_segment()
{
	find /run/user /dev/shm -name "segment*.$WRITEPACE_SEGMENT" 2>/dev/null
}

lab_remove_segments()
{
	rm -f /run/user/*/segment*lab-$$-* /dev/shm/writepace-*/segment*lab-$$-*
}

# --- the end ----------------------------------------------------------------------------

# In this order: caps (a process stuck behind one cannot end), our own children, devices.
lab_cleanup()
{
	local image pids restore

	trap '' HUP INT TERM
	for restore in "${LAB_AT_END[@]}"; do
		$restore
	done
	lab_cap_none
	pids=$(jobs -p)
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill $pids 2>/dev/null
	wait
	lab_remove_tops
	for image in "$LAB_TMP"/image.*; do
		[ ! -e "$image" ] || lab_remove_image "$image" ||
			echo "# lab: $LAB_WHY" >&2
	done
	lab_remove_segments
	lab_leave_group
	[ -z "$lab_debugfs" ] || umount /sys/kernel/debug
	rm -rf --one-file-system "$LAB_TMP"
}

trap lab_cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
