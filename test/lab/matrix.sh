# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Places to write to: file systems, stacks of them, odd files, and places where writing fails.
#
#	matrix_places			their names
#	matrix_arm PLACE 24 [WRAPPER...]	24 MB to a fresh one, results in ARM
#
# 77 with LAB_WHY set where this machine can not.

declare -A ARM
MATRIX_RATE=10485760
MATRIX_TARGET=
matrix_top_nr=0

matrix_places()
{
	cat <<-END
	ext4
	ext4-journal
	xfs
	btrfs
	btrfs-subvolume
	btrfs-two-devices
	btrfs-compressed
	overlay
	overlay-hidden
	fuse
	fuse-daemon
	loop-on-loop
	block
	sparse
	preallocated
	full
	read-only
	io-error
	nfs
	dm
	md
	END
}

matrix_cannot()
{
	lab_fail "$1"
	return 77
}

# matrix_lab FS MB [MOUNT_OPTION]: a device with a file system and the target on it.
matrix_lab()
{
	# shellcheck disable=SC2034
	local LAB_MOUNT_OPTIONS=rw${3:+,$3}

	lab_make "$1" "$(arm_device_mb "$2")" "$MATRIX_RATE" || return
	MATRIX_TARGET=$LAB_MNT/target
}

matrix_top()
{
	matrix_top_nr=$((matrix_top_nr + 1))
	MATRIX_TOP=$LAB_TMP/top.$matrix_top_nr
	mkdir "$MATRIX_TOP"
}

matrix_mount_overlay()
{
	mount -t overlay overlay "$MATRIX_TOP" -o \
		"lowerdir=$LAB_MNT/lower,upperdir=$LAB_MNT/upper,workdir=$LAB_MNT/work" ||
		lab_fail "cannot mount overlay"
}

# Over ext4: its upper directory may be seen, or is hidden below another mount.
matrix_overlay()
{
	grep -qw overlay /proc/filesystems || matrix_cannot "the kernel has no overlay" ||
		return
	matrix_lab ext4 "$1" && matrix_top || return
	mkdir "$LAB_MNT/lower" "$LAB_MNT/upper" "$LAB_MNT/work"
	matrix_mount_overlay || return
	MATRIX_TARGET=$MATRIX_TOP/target
	[ "$2" != hidden ] || mount -t tmpfs hidden "$LAB_MNT/upper"
}

# What is written there the daemon makes dirty, not the program.
matrix_fuse()
{
	command -v bindfs >/dev/null || matrix_cannot "bindfs is not installed" || return
	[ -c /dev/fuse ] || matrix_cannot "no /dev/fuse" || return
	matrix_lab ext4 "$1" && matrix_top || return
	"${@:2}" bindfs "$LAB_MNT" "$MATRIX_TOP" || lab_fail "bindfs failed" || return
	MATRIX_TARGET=$MATRIX_TOP/target
}

# The cap is the outer one's.
matrix_nested()
{
	local outer image

	lab_make ext4 "$(($(arm_device_mb "$1") + 300))" "$MATRIX_RATE" && lab_cap 0 || return
	outer=$LAB_DEV
	image=$LAB_MNT/image.inner
	truncate -s "$(arm_device_mb "$1")M" "$image"
	LAB_DEV=$(losetup --find --show --direct-io=on "$image") ||
		lab_fail "losetup failed" || return
	LAB_ID=$(lab_id "$LAB_DEV")
	matrix_top
	lab_mkfs ext4 "$LAB_DEV" && mount "$LAB_DEV" "$MATRIX_TOP" || return
	lab_cap "$MATRIX_RATE" "$outer"
	MATRIX_TARGET=$MATRIX_TOP/target
	LAB_DEV=$outer
}

# A device whose backing file can not grow: what does not fit fails when it is written back.
matrix_io_error()
{
	local image

	matrix_top
	image=$MATRIX_TOP/image.full
	mount -t tmpfs -o size=$(($1 / 2))M store "$MATRIX_TOP" && truncate -s "$1M" "$image" ||
		lab_fail "no tmpfs" || return
	LAB_DEV=$(losetup --find --show "$image") || lab_fail "losetup failed" || return
	LAB_ID=$(lab_id "$LAB_DEV")
	MATRIX_TARGET=$LAB_DEV
}

matrix_make()
{
	local place=$1 size_mb=$2

	case $place in
	ext4) matrix_lab ext4 "$size_mb" ;;
	ext4-journal) matrix_lab ext4 "$size_mb" data=journal ;;
	xfs | btrfs) matrix_lab "$place" "$size_mb" ;;
	btrfs-subvolume)
		matrix_lab btrfs "$size_mb" &&
			btrfs -q subvolume create "$LAB_MNT/volume" >/dev/null &&
			MATRIX_TARGET=$LAB_MNT/volume/target
		;;
	btrfs-two-devices)
		lab_make_btrfs raid0 "$(arm_device_mb "$size_mb")" "$MATRIX_RATE" &&
			MATRIX_TARGET=$LAB_MNT/target
		;;
	btrfs-compressed) matrix_lab btrfs "$size_mb" compress-force=zstd ;;
	overlay) matrix_overlay "$size_mb" visible ;;
	overlay-hidden) matrix_overlay "$size_mb" hidden ;;
	fuse) matrix_fuse "$size_mb" ;;
	fuse-daemon) matrix_fuse "$size_mb" "${@:3}" ;;
	loop-on-loop) matrix_nested "$size_mb" ;;
	block)
		lab_make none "$(arm_device_mb "$size_mb")" "$MATRIX_RATE" &&
			MATRIX_TARGET=$LAB_DEV
		;;
	sparse) matrix_lab ext4 "$size_mb" && truncate -s 4G "$MATRIX_TARGET" ;;
	preallocated)
		matrix_lab ext4 "$size_mb" && fallocate -l "${size_mb}M" "$MATRIX_TARGET"
		;;
	full) lab_make ext4 $((size_mb / 2)) "$MATRIX_RATE" && MATRIX_TARGET=$LAB_MNT/target ;;
	read-only) matrix_lab ext4 "$size_mb" errors=remount-ro ;;
	io-error) matrix_io_error "$size_mb" ;;
	nfs) matrix_cannot "needs an NFS server in the kernel" ;;
	dm) matrix_cannot "the kernel has no device mapper" ;;
	md) matrix_cannot "the kernel has no md" ;;
	*) lab_fail "no place '$place'" ;;
	esac
}

# In the middle of the write the file system gives up, as it does after an error of its own.
matrix_abort_soon()
{
	sleep 0.5
	mount -o remount,abort "$LAB_MNT"
}

# ARM_SOURCE: where the program must be writing when something happens, at 20 MB/s.
matrix_read()
{
	local i

	if [ "$MATRIX_PLACE" != read-only ]; then
		cat "$ARM_SOURCE"
		return
	fi
	for ((i = 0; i < size_mb; i++)); do
		head -c 1M && sleep 0.05
	done <"$ARM_SOURCE" 2>/dev/null
}

# matrix_write SIZE_MB [WRAPPER...]: ARM_SOURCE to the target, then its sync. dd reports the
# error that fsync finds, where there may be one.
matrix_write()
{
	local size_mb=$1 conv=notrunc
	local watch_pid start wrote synced

	shift
	ARM=()
	case $MATRIX_PLACE in
	io-error) conv+=,fsync ;;
	read-only) matrix_abort_soon & ;;
	esac
	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	start=${EPOCHREALTIME/./}
	"$@" dd of="$MATRIX_TARGET" bs=1M count="$size_mb" iflag=fullblock conv=$conv \
		status=none < <(matrix_read) 2>"$LAB_TMP/said"
	ARM[status]=$?
	wrote=${EPOCHREALTIME/./}
	lab_run sync "$MATRIX_TARGET" 2>/dev/null
	synced=${EPOCHREALTIME/./}
	arm_stop $watch_pid || lab_fail "watching the device failed" || return
	ARM[said]=$(sed "s,$MATRIX_TARGET,TARGET,g" "$LAB_TMP/said")
	ARM[dd_s]=$(arm_ratio $((wrote - start)) 1000000 2)
	ARM[sync_s]=$(arm_ratio $((synced - wrote)) 1000000 2)
	ARM[durable_s]=$(arm_ratio $((synced - start)) 1000000 2)
	ARM[peak_outstanding]=$(arm_value peak_outstanding "$LAB_TMP/watch")
	cmp -s -n $((size_mb << 20)) "$ARM_SOURCE" "$MATRIX_TARGET"
	# shellcheck disable=SC2034
	ARM[same]=$((!$?))
}

# matrix_arm PLACE SIZE_MB [WRAPPER...]
matrix_arm()
{
	MATRIX_PLACE=$1
	lab_forget
	matrix_make "$@" || return
	shift
	matrix_write "$@" || return
	lab_remove_all
}
