# shellcheck shell=bash
# shellcheck disable=SC2015,SC2016,SC2034,SC2154 # shared with the laboratory, shells of their own
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The kernel's own limits on dirty memory, of the whole machine or of one device, as the other
# side of a comparison. What is of the whole machine is given back at once, at the end of the
# laboratory, and by a guard when this shell was killed.
#
#	kernel_limit BYTES	vm.dirty_bytes, background at half of it
#	kernel_unlimit
#	kernel_strict BYTES WHERE	strict_limit and max_bytes of what is mounted there; lab_remove
#				lifts it

kernel_vm=/proc/sys/vm
kernel_guard=
kernel_lock=
kernel_before=
LAB_AT_END+=(kernel_unlimit)

# The ratios, or the bytes where those were in use: as PATH VALUE lines.
kernel_limits()
{
	local what

	for what in dirty dirty_background; do
		if [ "$(cat $kernel_vm/${what}_bytes)" != 0 ]; then
			echo "$kernel_vm/${what}_bytes $(cat $kernel_vm/${what}_bytes)"
		else
			echo "$kernel_vm/${what}_ratio $(cat $kernel_vm/${what}_ratio)"
		fi
	done
}

# Twice: one may not be set above the other, whichever comes first.
kernel_restore='
for round in 1 2; do
	echo "$1" | while read -r path value; do
		echo "$value" >"$path"
	done 2>/dev/null
done'

# A limit of somebody else's laboratory must not be taken for the machine's own.
kernel_hold()
{
	[ -z "$kernel_lock" ] || return 0
	exec {kernel_lock}>/run/writepace-lab.lock || lab_fail "no /run" || return
	flock -w 120 "$kernel_lock" || lab_fail "another laboratory holds vm.dirty_bytes" || return
	kernel_before=$(kernel_limits)
	setsid sh -c 'tail --pid="$1" -f /dev/null; exec sh -c "$2" sh "$3"' sh $$ \
		"$kernel_restore" "$kernel_before" >/dev/null 2>&1 {kernel_lock}>&- &
	kernel_guard=$!
}

kernel_limit()
{
	kernel_hold || return
	echo $(($1 / 2)) >$kernel_vm/dirty_background_bytes &&
		echo "$1" >$kernel_vm/dirty_bytes || lab_fail "vm.dirty_bytes can not be set"
}

kernel_unlimit()
{
	[ -n "$kernel_lock" ] || return 0
	sh -c "$kernel_restore" sh "$kernel_before"
	{ kill -- -"$kernel_guard" && wait "$kernel_guard"; } 2>/dev/null
	exec {kernel_lock}>&-
	kernel_lock=
}

# kernel_outstanding: of the whole machine, bytes.
kernel_outstanding()
{
	awk '$1 == "nr_dirty" || $1 == "nr_writeback" { pages += $2 }
		END { printf "%d\n", pages * 4096 }' /proc/vmstat
}

# kernel_strict BYTES WHERE
kernel_strict()
{
	local bdi

	case $(findmnt -n -o FSTYPE "$2") in
	btrfs) bdi=/sys/fs/btrfs/$(findmnt -n -o UUID "$2")/bdi ;;
	*) bdi=/sys/class/bdi/$(mountpoint -d "$2") ;;
	esac
	{ echo 1 >"$bdi/strict_limit" && echo "$1" >"$bdi/max_bytes"; } 2>/dev/null ||
		lab_fail "the kernel has no strict_limit"
}
