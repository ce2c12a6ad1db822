#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The observer on other kernels, started by its unit, in an emulated machine where an instruction
# takes a nanosecond: so what it costs is counted. Takes two minutes a kernel: part of check-long.
#
#	WRITEPACE_KERNELS="DIR ..." kernels.sh
#
# In each DIR a kernel's package was unpacked: boot/vmlinuz-* with ext4 and NVMe built in, as in
# Debian's linux-image-*-cloud-amd64.

# shellcheck disable=SC1091,SC2154 source-path=SCRIPTDIR
. "$(dirname "$0")/cases.sh"

root=$LAB_TMP/root
said=$LAB_TMP/said
tools="bash cat chmod dd journalctl mkdir mke2fs mount rm setpriv sleep stat sync systemctl"

# A program of this machine, and its libraries.
carry()
{
	local file

	for file in "$1" $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
		mkdir -p "$root${file%/*}"
		cp -L "$file" "$root$file"
	done
}

carry_all()
{
	local tool

	mkdir -p "$root"/{dev,etc,mnt,proc,run,sys,tmp,var} "$root/usr"/{bin,sbin,lib,lib64}
	for tool in bin sbin lib lib64; do
		ln -s usr/$tool "$root/$tool"
	done
	cp -a /usr/lib/systemd "$root/usr/lib/"
	rm -rf "$root/usr/lib/systemd"/{catalog,system-generators,tests}
	cp /etc/passwd /etc/group "$root/etc/"
	touch "$root/etc/machine-id"
	for tool in $tools; do
		carry "$(command -v "$tool")"
	done
	for tool in systemd systemd-executor systemd-journald; do
		[ ! -x /usr/lib/systemd/$tool ] || carry /usr/lib/systemd/$tool
	done
	ln -sf bash "$root/usr/bin/sh"
	carry "$observer"
	mv "$root$observer" "$root/usr/sbin/"
	cp "$lab_build/test/observer/spent" "$root/usr/bin/"
	cp "$here/guest.sh" "$root/"
	sed 's,^ExecStart=[^ ]*/,ExecStart=/usr/sbin/,' "$lab_build/writepace-observer.service" \
		>"$root/usr/lib/systemd/system/writepace-observer.service"
	cat >"$root/usr/lib/systemd/system/guest.service" <<-'END'
		[Unit]
		DefaultDependencies=no
		Wants=sys-kernel-debug.mount systemd-journald.socket
		After=sys-kernel-debug.mount systemd-journald.socket
		[Service]
		ExecStart=/bin/bash /guest.sh
		StandardOutput=file:/dev/ttyS1
		StandardError=file:/dev/ttyS1
	END
	printf '[Unit]\nWants=guest.service\n' >"$root/usr/lib/systemd/system/guest.target"
	(cd "$root" && find . | cpio -oH newc --quiet | gzip -1) >"$LAB_TMP/initrd"
}

# Why not cx16: this emulator may lose half of it where it counts instructions.
run_guest()
{
	: >"$said"
	rm -f "$LAB_TMP"/disk.*
	truncate -s 320M "$LAB_TMP/disk.0" "$LAB_TMP/disk.1"
	lab_run timeout 540 qemu-system-x86_64 -accel tcg -icount shift=0 \
		-cpu Nehalem,-cx16 -m 2048 -nodefaults -display none -no-reboot \
		-serial "file:$LAB_TMP/console" -serial "file:$said" \
		-drive "if=none,id=one,format=raw,file=$LAB_TMP/disk.0" -device nvme,drive=one,serial=1 \
		-drive "if=none,id=two,format=raw,file=$LAB_TMP/disk.1" -device nvme,drive=two,serial=2 \
		-kernel "$1"/boot/vmlinuz-* -initrd "$LAB_TMP/initrd" \
		-append "console=ttyS0 quiet panic=-1 rdinit=/usr/lib/systemd/systemd
			SYSTEMD_IN_INITRD=0 systemd.unit=guest.target systemd.show_status=false"
}

# part NAME: what the guest said of it
part()
{
	tr -d '\r' <"$said" | awk -v name="$1" '/^=== / { on = $2 == name; next } on'
}

# For value and task_sum.
once()
{
	part "$looked_at"
}

kernel()
{
	local name=${1##*/}
	local id other

	run_guest "$1"
	if ! grep -q '^=== end' "$said"; then
		not_ok "$name: the guest comes to its end" "$(tail -n 3 "$LAB_TMP/console")"
		return
	fi
	is "$name: the unit starts, and starts again" "$(part started):$(part again)" active:active
	is "$name: nothing is missing" "$(part journal | grep -c '^writepace-observer: ')" 0
	id=$(part devices | head -n 1)
	other=$(part devices | tail -n 1)
	looked_at=written
	near "$name: dirtied bytes" "$(value "$id" dirtied_bytes)" $((52 << 20))
	near "$name: completed bytes" "$(value "$id" completed_bytes)" $((52 << 20))
	near "$name: what two dd dirtied" "$(task_sum dd "$id" dirtied_bytes)" $((52 << 20))
	compare "$name: dd's fsync" "$(task_sum dd "$id" fsync_ns)" ge 1000000
	is "$name: a file of tasks for each user" "$(part files)" \
		"400 0 /run/writepace/tasks.0
400 1000 /run/writepace/tasks.1000"
	looked_at=node
	near "$name: a block device itself" "$(value "$other" dirtied_bytes)" $((32 << 20))
	is "$name: its queue is found" "$(value "$other" outstanding_bytes)" 0
	looked_at=held
	compare "$name: the kernel's pauses" "$(value "$id" kernel_pauses)" ge 1
	compare "$name: the rate it holds a writer to" "$(value "$id" kernel_rate_bps)" ge 1
	compare "$name: what its flusher wrote" "$(value "$id" writeback_bytes)" ge 1048576
	is "$name: killed, it is there again" "$(part killed):$(part restarts)" active:1
	is "$name: it stops, and nothing is left" "$(part stopped):$(part left)" success:
	compare "$name: thousand instructions of dd in pieces of 4 KiB, $(part without) without" \
		"$(part with)" le "$(($(part without) * 101 / 100))"
}

[ -x "$observer" ] || skip_all "writepace-observer was not built (configure says why)"
[ -n "${WRITEPACE_KERNELS-}" ] || skip_all "WRITEPACE_KERNELS names no kernel"
for tool in $tools cpio qemu-system-x86_64; do
	command -v "$tool" >/dev/null || skip_all "no $tool"
done
carry_all
for dir in $WRITEPACE_KERNELS; do
	kernel "$dir"
done
done_testing
