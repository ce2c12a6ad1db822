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
	(trap '' HUP USR1 && exec "$LAB_WRITEPACE" sleep 60) &
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
is "its directory" "$(readlink "/proc/$helper/cwd")" /
# after the name: state parent group session terminal
is "its session and terminal" \
	"$(sed 's/.*) //' "/proc/$helper/stat" | cut -d ' ' -f 4,5)" "$helper 0"
# Of the 31 that have names: libc keeps the next two to itself.
masks=$(awk '/^Sig(Blk|Ign)/ { print "0x" $2 }' "/proc/$helper/status" | paste -sd '|')
is "signals that it blocks or ignores" "$(((masks) & 0x7fffffff))" 0

kill -STOP "$helper"
sleep 8
kill -CONT "$helper"
sleep 1
is "stopped for 8 s, missed by nobody, still the one" "$(word helper)" "$helper"
# There is one, so these end at once.
"$lab_build/writepaced" --foreground
"$lab_build/writepaced" --foreground
is "two more, started by hand" "$(helpers)" "$helper"

kill "${sleepers[@]}"
wait "${sleepers[@]}" 2>/dev/null
start=${EPOCHREALTIME/./}
sleep 8
is "still there 8 s after the last task" "$(helpers)" "$helper"
until_true 10 no_helper
compare "gone, seconds after the last task" "$(seconds_since "$start")" le 13
is "its place is free" "$(word helper)" 0

# --- started at once, or not at all, with nothing of the caller's -----------------------

lab_forget
WRITEPACE_HELPER=off "$LAB_WRITEPACE" true
"$lab_build/writepaced" --foreground &
pair=$!
"$lab_build/writepaced" --foreground &
pair="$pair $!"
"$LAB_WRITEPACE" sleep 60 &
sleepers=($!)
until_true 5 one_helper
sleep 2
is "two at the same moment, one stays" "$(helpers | wc -l)" 1
# shellcheck disable=SC2086
kill "${sleepers[@]}" $pair 2>/dev/null
wait

lab_forget
# Why not by the time: a pipe, a lock or a directory held would be held for ten seconds.
timeout 5 bash -c "'$LAB_WRITEPACE' true | cat"
is "a reader of the command's output sees its end" $? 0
lab_forget
(cd "$LAB_TMP" && flock -n 9 && "$LAB_WRITEPACE" true) 9>"$LAB_TMP/lock"
is "the caller's lock is free after the command" \
	"$(flock -n "$LAB_TMP/lock" echo free)" free
until_true 3 one_helper
is "it ran meanwhile" "$(helpers | wc -l)" 1
lab_forget
(ulimit -Sn 12 && "$LAB_WRITEPACE" true)
until_true 3 one_helper
is "started beside a command with few descriptors" "$(helpers | wc -l)" 1
lab_forget
(ulimit -n 8 && timeout 5 "$lab_build/writepaced" --foreground)
is "with too few for itself it ends" $? 0
lab_forget
timeout 5 unshare -m sh -c "umount -l /proc && exec '$lab_build/writepaced' --foreground"
is "without /proc it ends" $? 0

mkdir "$LAB_TMP/half"
ln -s "$lab_build/writepace-check" "$LAB_TMP/half"
sed "s|^helpers=.*|helpers='$LAB_TMP/half'|" "$LAB_WRITEPACE" >"$LAB_TMP/half/writepace"
lab_forget
is "a helper that is not there is not missed" \
	"$(sh "$LAB_TMP/half/writepace" sh -c 'echo ran; exit 3' 2>&1; echo $?; helpers)" \
	"$(printf 'ran\n3')"

# Who has the segment mapped goes on with it, and its helper too.
lab_forget
"$LAB_WRITEPACE" sleep 60 &
sleepers=($!)
until_true 3 one_helper
first=$helper
rm "$(lab_segment)"
"$LAB_WRITEPACE" true
until_true 3 one_helper_but "$first"
is "a removed segment's helper stays for those who have it, a new one has its own" \
	"$(kill -0 "$first" && kill -0 "$helper" && echo both)" both
kill "${sleepers[@]}"
wait "${sleepers[@]}" 2>/dev/null
ended()
{
	! kill -0 "$first" 2>/dev/null
}
until_true 13 ended
is "and ends after them" "$(ended && echo ended)" ended

lab_forget
WRITEPACE_HELPER=off "$LAB_WRITEPACE" sleep 1
is "WRITEPACE_HELPER=off starts none" "$(helpers)" ""
# There every orphan is a child of the command.
unshare --pid --fork --mount-proc "$LAB_WRITEPACE" sleep 1
is "the first process of a pid namespace starts none" "$(helpers)" ""
LD_PRELOAD=$lab_build/.libs/libwritepace.so sleep 1
is "the library alone starts none" "$(helpers)" ""

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
	sleep 2
	one_helper && awk '/^Private/ { sum += $2 } END { print sum }' \
		"/proc/$helper/smaps_rollup"
} >"$LAB_TMP/private"

# In a shell of its own, as the next: it finds its helper itself.
stopped_for_8_s()
{
	sleep 1
	one_helper && kill -STOP "$helper" && sleep 8 && kill -CONT "$helper"
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
compare "private memory in KiB beside a copy" "$(cat "$LAB_TMP/private")" le 4096
is "the kernel's limits are known" "$([ "$(word kernel_limit)" -gt 1048576 ] && echo yes)" yes
lab_remove "$LAB_DEV"
copy stopped_for_8_s
compare "seconds of a copy beside a stopped one, $undisturbed_s without" "$copy_s" le \
	"$(awk -v s="$undisturbed_s" 'BEGIN { print s * 1.2 + 0.3 }')"
sleep 1
is "resumed it is the one still" "$(helpers)" "$(word helper)"
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

# --- aged by the timer, aged by the clock -----------------------------------------------

# Periods of half a second that a copy of some seconds goes through, less those that its time says.
periods_off()
{
	local start

	lab_make ext4 400 10485760 || bail_out "$LAB_WHY"
	lab_forget
	start=${EPOCHREALTIME/./}
	WRITEPACE_HELPER=$1 WRITEPACE_PERIOD=500ms \
		"$LAB_WRITEPACE" cp "$LAB_TMP/source" "$LAB_MNT/copy"
	awk -v s="$(seconds_since "$start")" -v periods="$(word periods)" \
		'BEGIN { off = periods - s * 2; print off < 0 ? -off : off }'
	lab_remove "$LAB_DEV"
}

compare "periods missing or too many without a helper" "$(periods_off off)" le 2
compare "periods missing or too many with one" "$(periods_off auto)" le 2

# --- the subvolumes of a btrfs ----------------------------------------------------------

# The real device of each device that was written to, once each.
aliases()
{
	"$peek" "$(lab_segment)" | grep "^device=0:" | sed 's/.* alias=\([^ ]*\) .*/\1/' | sort -u
}

# Both subvolumes are known by then, and the whole that they stand for.
all_are()
{
	[ "$("$peek" "$(lab_segment)" 2>/dev/null | grep -c "^device=0:")" = 3 ] &&
		[ "$(aliases)" = "$1" ]
}

if lab_require btrfs; then
	lab_make btrfs 400 10485760 || bail_out "$LAB_WHY"
	whole=$(findmnt -n -o MAJ:MIN "$LAB_MNT" | tr -d ' ')
	for volume in a b; do
		btrfs -q subvolume create "$LAB_MNT/$volume" ||
			bail_out "no subvolume can be made"
	done
	for round in 1 2 3; do
		lab_forget
		copies=()
		for volume in a b; do
			"$LAB_WRITEPACE" cp "$LAB_TMP/source" "$LAB_MNT/$volume/copy" &
			copies[${#copies[@]}]=$!
		done
		until_true 3 all_are "$whole"
		is "two subvolumes, one device ($round)" "$(aliases)" "$whole"
		kill "${copies[@]}"
		wait "${copies[@]}" 2>/dev/null
	done
	# Files that hardly anybody ever finds open. Without any other btrfs in sight.
	# shellcheck disable=SC2016
	few='for other in $(findmnt -n -t btrfs -o TARGET); do
			[ "$other" = "$LAB_MNT" ] || umount -l "$other"
		done
		for volume in a b; do
			"$LAB_WRITEPACE" sh -c "cd $LAB_MNT/$volume
				for i in 1 2 3 4 5 6 7 8; do
					head -c 60k /dev/zero >small.\$i
					sleep 0.2
				done" &
		done
		wait'
	lab_forget
	LAB_MNT=$LAB_MNT unshare -m bash -c "$few" &
	copies=($!)
	until_true 4 all_are "$whole"
	is "two subvolumes, files never open for long" "$(aliases)" "$whole"
	wait "${copies[@]}"
	lab_remove "$LAB_DEV"
else
	skip "two subvolumes, one device" "$LAB_WHY"
fi

# Who only reads is noticed, and what the paced program itself reads is not taken for that.
is_held()
{
	[ "$(word held 2>/dev/null)" -gt 0 ] 2>/dev/null
}

{ lab_make ext4 400 10485760 && lab_cap 0; } || bail_out "$LAB_WHY"
lab_run dd if=/dev/zero of="$LAB_MNT/old" bs=1M count=150 oflag=direct status=none
lab_cap 10485760 || bail_out "$LAB_WHY"
lab_forget
"$LAB_WRITEPACE" dd if="$LAB_MNT/old" of="$LAB_MNT/new" bs=64k status=none &
copies=($!)
if until_true 7 is_held; then
	not_ok "a copy's own reads are nobody else's" "$(word held) B/s are held"
else
	ok "a copy's own reads are nobody else's: its speed, $(word speed) B/s, is known"
fi
while dd if="$LAB_MNT/old" of=/dev/null bs=64k count=8 skip=$((RANDOM % 1000)) iflag=direct \
	status=none; do
	sleep 0.3
done &
copies+=($!)
until_true 6 is_held
is "somebody who reads is given room" $? 0
kill "${copies[@]}"
wait "${copies[@]}" 2>/dev/null
lab_remove "$LAB_DEV"

done_testing
