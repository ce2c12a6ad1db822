#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The helper beside paced programs. Oracle: the processes that map the segment, their wake-ups
# and memory as the kernel counts them; what the kernel says is dirty on the device; the segment's
# own words where only they can tell (how many periods were declared).

# Functions are called by name (until_true, copy).
# shellcheck disable=SC2317
# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"

peek=$lab_build/test/helper/peek
[ -x "$peek" ] || bail_out "$peek is missing"

lab_require ext4 || skip_all "$LAB_WHY"
export WRITEPACE_HELPER=auto

# The helpers of the segment in use, by who maps it.
helpers()
{
	local pid segment

	segment=$(lab_segment)
	for pid in $(pgrep -x writepaced); do
		! grep -qsF "$segment" "/proc/$pid/maps" || echo "$pid"
	done
}

# until SECONDS COMMAND...: true as soon as it is.
until_true()
{
	local tenths=$(($1 * 10))

	shift
	until "$@"; do
		tenths=$((tenths - 1))
		[ $tenths -gt 0 ] || return
		sleep 0.1
	done
}

no_helper()
{
	[ -z "$(helpers)" ]
}

one_helper()
{
	helper=$(helpers)
	[[ $helper =~ ^[0-9]+$ ]]
}

# one_helper_but PID: another has taken that one's place. Why not by processes: those that only
# ask whether there is one are helpers too.
one_helper_but()
{
	helper=$(word helper)
	[ "$helper" != 0 ] && [ "$helper" != "$1" ]
}

# The word of that name in the segment's header.
word()
{
	"$peek" "$(lab_segment)" | tr ' ' '\n' | sed -n "s/^$1=//p" | head -n 1
}

seconds_since()
{
	awk -v us=$((${EPOCHREALTIME/./} - $1)) 'BEGIN { printf "%.1f", us / 1e6 }'
}

wake_ups()
{
	cat "/proc/$helper/task/"*/status |
		awk '/voluntary_ctxt_switches/ { sum += $2 } END { print sum }'
}

# What the kernel has dirty for the device, in bytes.
dirty_bytes()
{
	awk '/BdiReclaimable:|BdiWriteback:/ { sum += $2 } END { print sum * 1024 }' \
		"/sys/kernel/debug/bdi/$LAB_ID/stats"
}

# --- alone with a task that does nothing ------------------------------------------------

lab_forget
for _ in 1 2 3 4 5; do
	"$LAB_WRITEPACE" sleep 60 &
	sleepers[${#sleepers[@]}]=$!
done
until_true 3 one_helper
sleep 2
is "five commands at once, one helper" "$(helpers | wc -l)" 1
is "it is no child of a command" \
	"$(ps -o pid= --ppid "$(IFS=,; echo "${sleepers[*]}")")" ""
one_helper
before=$(wake_ups)
sleep 5
is "wake-ups in 5 s without anything to do" "$(($(wake_ups) - before))" 0
compare "private memory in KiB" \
	"$(awk '/^Private/ { sum += $2 } END { print sum }' "/proc/$helper/smaps_rollup")" le 4096
is "descriptors it was given" \
	"$(find "/proc/$helper/fd" -lname '/*' ! -lname /dev/null | wc -l)" 0

kill "${sleepers[@]}"
wait "${sleepers[@]}" 2>/dev/null
start=${EPOCHREALTIME/./}
sleep 8
is "still there 8 s after the last task" "$(helpers)" "$helper"
until_true 10 no_helper
compare "gone, seconds after the last task" "$(seconds_since "$start")" le 13
is "its place is free" "$(word helper)" 0

WRITEPACE_HELPER=off "$LAB_WRITEPACE" sleep 1
is "WRITEPACE_HELPER=off starts none" "$(helpers)" ""

# --- killed, stopped, resumed, replaced while a copy runs -------------------------------

head -c 60M /dev/urandom >"$LAB_TMP/source"
sync "$LAB_TMP/source"

# Seconds of a paced copy of 60 MB at 10 MB/s; $1 runs beside it.
copy()
{
	local start

	lab_make ext4 400 10485760 || bail_out "$LAB_WHY"
	lab_forget
	"$1" &
	start=${EPOCHREALTIME/./}
	"$LAB_WRITEPACE" cp "$LAB_TMP/source" "$LAB_MNT/copy"
	copy_s=$(seconds_since "$start")
	wait $!
	is "$1: the copy is the same" "$(cmp "$LAB_TMP/source" "$LAB_MNT/copy" 2>&1)" ""
}

undisturbed()
{
	sleep 0.5
}

# The file says what came of it: this runs in a subshell.
disturbed()
{
	local stopped

	exec 2>/dev/null
	until_true 3 one_helper && kill -KILL "$helper"
	sleep 1
	"$LAB_WRITEPACE" true
	until_true 4 one_helper_but "$helper" || echo "killed: no other came"
	stopped=$helper
	kill -STOP "$stopped"
	"$LAB_WRITEPACE" true
	until_true 4 one_helper_but "$stopped" || echo "stopped: no other came"
	kill -CONT "$stopped"
	until_true 2 one_helper || echo "resumed: it did not leave"
	[ "$helper" != "$stopped" ] || echo "resumed: it stayed, the other left"
} >"$LAB_TMP/disturbed"

copy undisturbed
undisturbed_s=$copy_s
is "the kernel's limits are known" "$([ "$(word kernel_limit)" -gt 1048576 ] && echo yes)" yes
lab_remove "$LAB_DEV"
copy disturbed
is "killed, stopped and resumed: another took its place" "$(cat "$LAB_TMP/disturbed")" ""
compare "seconds of the copy beside that, $undisturbed_s without" "$copy_s" le \
	"$(awk -v s="$undisturbed_s" 'BEGIN { print s * 1.2 + 0.3 }')"
lab_remove "$LAB_DEV"

# --- a writer that stopped writing ------------------------------------------------------

# stopped_writer HELPER: what is dirty 3 s after a writer of 5 MB was stopped.
stopped_writer()
{
	local writer

	lab_make ext4 400 10485760 || bail_out "$LAB_WHY"
	lab_forget
	mkfifo "$LAB_TMP/pipe"
	# Why in pieces: the writer must have looked at its file after most of it.
	WRITEPACE_HELPER=$1 WRITEPACE_BACKGROUND=90% \
		"$LAB_WRITEPACE" dd if="$LAB_TMP/pipe" of="$LAB_MNT/tail" bs=64k \
		iflag=fullblock status=none &
	writer=$!
	exec 7<>"$LAB_TMP/pipe" # does not wait for a reader
	head -c 5M /dev/urandom >&7
	sleep 0.2
	kill -STOP $writer
	periods=$(word periods)
	dirty_then=$(dirty_bytes)
	sleep 3
	dirty_later=$(dirty_bytes)
	periods=$(($(word periods) - periods))
	exec 7>&-
	kill -KILL $writer
	wait $writer 2>/dev/null
	rm "$LAB_TMP/pipe"
	lab_remove "$LAB_DEV"
}

stopped_writer off
echo "# without: $dirty_then dirty, $dirty_later after 3 s"
without_later=$dirty_later
stopped_writer auto
compare "bytes of a stopped writer, dirty" "$dirty_then" ge 2000000
compare "bytes of it left after 3 s" "$dirty_later" le 262144
compare "bytes left without a helper" "$without_later" ge 1000000
compare "periods in 3 s in which nobody writes" "$periods" ge 1

skip "two subvolumes, one device" "not found at every run yet: doc/LIMITS.md"

done_testing
