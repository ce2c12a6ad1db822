#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What kernels.sh lets an emulated machine do, whose init is systemd. Each part of what is said
# begins with a line "=== NAME".

unit=writepace-observer

part()
{
	echo "=== $1"
}

# Instructions of a plain dd of 64 MiB, in thousands: the least of six.
thousands()
{
	local least=0 now

	for _ in 1 2 3 4 5 6; do
		now=$(spent dd if=/dev/zero of=/mnt/big bs=4k count=16384 status=none)
		[ "$least" != 0 ] && [ "$least" -le "$now" ] || least=$now
		rm /mnt/big
		sync
		sleep 0.2
	done
	echo "$least"
}

observed()
{
	sleep 1.5
	part "$1"
	writepace-observer --once --json
}

property()
{
	part "$1"
	systemctl show -P "$2" $unit
}

# A dd that the kernel has to pause.
slow()
{
	local group=/sys/fs/cgroup/slow

	mkdir $group
	echo "+io +memory" >/sys/fs/cgroup/cgroup.subtree_control
	echo "$(cat /sys/block/nvme0n1/dev) wbps=10485760" >$group/io.max
	echo 4194304 >/proc/sys/vm/dirty_bytes
	(
		echo $BASHPID >$group/cgroup.procs
		dd if=/dev/zero of=/mnt/slow bs=64k count=320 status=none
	)
}

part devices
cat /sys/block/nvme0n1/dev /sys/block/nvme1n1/dev
mke2fs -q -t ext4 /dev/nvme0n1
mount /dev/nvme0n1 /mnt
chmod 777 /mnt
sync
# What the first ones make ready.
systemctl start $unit
property started ActiveState
thousands >/dev/null
systemctl stop $unit
part without
thousands
systemctl start $unit
part with
thousands
systemctl restart $unit
property again ActiveState
dd if=/dev/zero of=/mnt/data bs=64k count=768 conv=fsync status=none
setpriv --reuid 1000 --regid 1000 --clear-groups dd if=/dev/zero of=/mnt/user bs=4k count=1024 \
	status=none
sync
observed written
dd if=/dev/zero of=/dev/nvme1n1 bs=1M count=32 conv=fsync status=none
observed node
slow
observed held
part files
stat -c '%a %u %n' /run/writepace/tasks.*
kill -KILL "$(systemctl show -P MainPID $unit)"
sleep 2
property killed ActiveState
property restarts NRestarts
systemctl stop $unit
property stopped Result
part left
stat -c %n /run/writepace/* 2>/dev/null
part journal
journalctl --no-pager -o cat -u $unit
part end
sleep 1 # the line is slow
systemctl poweroff -ff
