# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The observer against the laboratory, for observer.sh and more.sh. Oracle: what dd wrote, and the kernel's own counts of the
# device's queue in debugfs; both before and after, on a device nobody else writes to.

# Functions are called by name.
# shellcheck disable=SC2119,SC2317
# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"
. "$here/../lab/arms.sh"
. "$here/../lab/denied.sh"

SIZE_MB=48
SIZE=$((SIZE_MB << 20))
RATE=41943040
seen_syncs=ext4 # whose waits in fsync are seen; xfs with --syncs

observer=$lab_build/writepace-observer
folder=$LAB_TMP/observed
said=$LAB_TMP/said

# ---------------------------------------------------------------- helpers ---

once()
{
	"$observer" --once --folder "$folder" "$@"
}

is_running()
{
	once >/dev/null 2>&1
}

running()
{
	if is_running; then echo yes; else echo no; fi
}

start_observer()
{
	"$observer" --foreground --folder "$folder" "$@" 2>"$said" &
	observer_pid=$!
	lab_retry is_running
}

# value DEVICE FIELD: of the running instance; 0 for a device that it has not seen.
value()
{
	once --json | awk -F '[{,}]' -v dev="\"dev\":\"$1\"" -v field="\"$2\":" '
		index($0, "\"pid\"") { next }
		index($0, dev) {
			for (i = 1; i <= NF; i++)
				if (index($i, field) == 1)
					found = substr($i, length(field) + 1)
		}
		END { print found == "" ? 0 : found }'
}

# Of processes with this NAME on a DEVICE: sum of a FIELD.
task_sum()
{
	once --json | awk -F '[{,}]' -v name="\"name\":\"$1\"" -v dev="\"dev\":\"$2\"" \
		-v field="\"$3\":" '
		index($0, name) && index($0, dev) {
			for (i = 1; i <= NF; i++)
				if (index($i, field) == 1)
					sum += substr($i, length(field) + 1)
		}
		END { printf "%.0f\n", sum }'
}

# What debugfs counts of the queue, in bytes.
queue()
{
	awk -v name="$1:" '$1 == name { printf "%.0f\n", $2 * 1024 }' \
		"/sys/kernel/debug/bdi/$bdi/stats"
}

# near WHAT GOT WANTED: within one part in a hundred
near()
{
	local off

	off=$(awk -v got="$2" -v wanted="$3" 'BEGIN {
		printf "%.5f", wanted ? (got > wanted ? got - wanted : wanted - got) / wanted : 1 }')
	compare "$1: $2 of $3, off by" "$off" le 0.01
}

# The queue and the number of the file system at $LAB_MNT: btrfs has its own.
find_queue()
{
	bdi=$LAB_ID
	id=$LAB_ID
	[ "$1" = btrfs ] || return 0
	id=$(awk -v mnt="$LAB_MNT" '$5 == mnt { print $3 }' /proc/self/mountinfo)
	bdi=$(basename "$(echo /sys/kernel/debug/bdi/btrfs-* | tr ' ' '\n' | sort -V | tail -n 1)")
}

write_file()
{
	lab_run dd if=/dev/zero of="$LAB_MNT/$1" bs=64k count=$((SIZE / 65536)) \
		conv="fsync$2" status=none
}

# ------------------------------------------------------------------ cases ---

counts()
{
	local fs=$1
	local dirtied completed queue_dirtied queue_written pid_sum pid_fsync

	lab_make "$fs" 320 $RATE || bail_out "$LAB_WHY"
	find_queue "$fs"
	lab_run sync -f "$LAB_MNT"
	lab_run sleep 0.4
	dirtied=$(value "$id" dirtied_bytes)
	completed=$(value "$LAB_ID" completed_bytes)
	queue_dirtied=$(queue BdiDirtied)
	queue_written=$(queue BdiWritten)
	pid_sum=$(task_sum dd "$id" dirtied_bytes)
	pid_fsync=$(task_sum dd "$id" fsync_ns)
	write_file data
	lab_run sync -f "$LAB_MNT"
	lab_run sleep 1.3
	dirtied=$(($(value "$id" dirtied_bytes) - dirtied))
	completed=$(($(value "$LAB_ID" completed_bytes) - completed))
	queue_dirtied=$(($(queue BdiDirtied) - queue_dirtied))
	queue_written=$(($(queue BdiWritten) - queue_written))
	pid_sum=$(($(task_sum dd "$id" dirtied_bytes) - pid_sum))
	pid_fsync=$(($(task_sum dd "$id" fsync_ns) - pid_fsync))
	near "$fs: dirtied bytes and dd's" "$dirtied" $SIZE
	near "$fs: dirtied bytes and the queue's" "$dirtied" $queue_dirtied
	near "$fs: completed bytes and dd's" "$completed" $SIZE
	near "$fs: completed bytes and the queue's" "$completed" $queue_written
	near "$fs: what dd dirtied" "$pid_sum" $SIZE
	[ "$fs" != "$seen_syncs" ] || compare "$fs: dd's fsync" "$pid_fsync" ge 300000000
	is "$fs: under writeback at the end" "$(value "$id" in_flight_bytes)" \
		"$(queue BdiWriteback)"
	lab_remove || bail_out "$LAB_WHY"
}

# What is left to the flusher.
flushed()
{
	local bytes

	lab_make ext4 320 $RATE || bail_out "$LAB_WHY"
	lab_run sync -f "$LAB_MNT"
	lab_run sleep 0.4
	bytes=$(value "$LAB_ID" writeback_bytes)
	lab_run dd if=/dev/zero of="$LAB_MNT/data" bs=64k count=256 status=none
	lab_run sync -f "$LAB_MNT"
	lab_run sleep 0.4
	bytes=$(($(value "$LAB_ID" writeback_bytes) - bytes))
	compare "the flusher wrote" "$bytes" ge 16777216
	compare "the same" "$bytes" le 17825792
	lab_remove || bail_out "$LAB_WHY"
}

in_flight()
{
	local most=0 now writer_pid

	lab_make ext4 320 10485760 || bail_out "$LAB_WHY"
	write_file data &
	writer_pid=$!
	for _ in 1 2 3 4 5 6 7 8; do
		lab_run sleep 0.2
		now=$(value "$LAB_ID" in_flight_bytes)
		[ "$now" = null ] || [ "$now" -le "$most" ] || most=$now
	done
	compare "under writeback while dd syncs" "$most" ge 1048576
	compare "no more than was dirtied" "$most" le $((SIZE * 11 / 10))
	lab_cap 0
	wait "$writer_pid"
	lab_remove || bail_out "$LAB_WHY"
}

block_device()
{
	local dirtied

	lab_make none 64 $RATE || bail_out "$LAB_WHY"
	dirtied=$(value "$LAB_ID" dirtied_bytes)
	lab_run dd if=/dev/zero of="$LAB_DEV" bs=1M count=32 conv=fsync,notrunc status=none
	lab_run sleep 0.4
	near "a block device itself: dirtied bytes" \
		$(($(value "$LAB_ID" dirtied_bytes) - dirtied)) $((32 << 20))
	lab_remove || bail_out "$LAB_WHY"
}

places()
{
	"$observer" --foreground --folder "$folder" 2>"$LAB_TMP/second"
	is "a second one is refused" "$?" 125
	is "with a line" "$(grep -c 'another observer is running' "$LAB_TMP/second")" 1
	is "the first one goes on" "$(running)" yes
	is "devices are readable by all" "$(stat -c %a:%u "$folder/devices")" 444:0
	is "tasks by their user alone" "$(stat -c %a:%u "$folder/tasks.0")" 400:0
	is "no command line is shown" "$(once --json | grep -c 'status=none')" 0
	if once --json | python3 -c 'import json, sys; json.load(sys.stdin)' 2>/dev/null; then
		ok "it is JSON"
	else
		not_ok "it is JSON" "$(once --json | head -c 300)"
	fi
	if command -v setpriv >/dev/null; then
		setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$observer" --foreground --folder "$folder" 2>"$LAB_TMP/user"
		is "not as a user" "$?:$(grep -c 'needs root' "$LAB_TMP/user")" 125:1
	else
		skip "not as a user" "no setpriv"
	fi
}

# word NAME: of the device in the paced programs' segment
word()
{
	"$lab_build/test/helper/peek" "$(lab_segment)" | grep "^device=$LAB_ID " |
		tr ' ' '\n' | sed -n "s/^$1=//p"
}

# Nanoseconds since the segment heard of the observer.
word_age()
{
	awk -v seen="$(word observed_ns)" '{ printf "%.0f\n", $1 * 1e9 - seen }' /proc/uptime
}

# Beside paced programs, whose helper reads the common place: it is killed, and comes back.
paced()
{
	local writer_pid age

	folder=/run/writepace
	if is_running; then
		skip "beside paced programs" "an observer of this machine is running"
		return
	fi
	start_observer || bail_out "it does not start: $(cat "$said")"
	lab_make ext4 320 10485760 || bail_out "$LAB_WHY"
	lab_forget
	"$LAB_WRITEPACE" dd if=/dev/zero of="$LAB_MNT/paced" bs=64k count=1600 \
		status=none 2>"$LAB_TMP/paced" &
	writer_pid=$!
	lab_run sleep 3
	compare "the segment has it of this moment" "$(word_age)" le 1000000000
	compare "what it says is outstanding" "$(word observed)" ge 1000000
	compare "the same" "$(word observed)" le 16000000
	kill -KILL "$observer_pid"
	wait "$observer_pid" 2>/dev/null
	lab_run sleep 2.5
	age=$(word_age)
	compare "killed: what it said is old" "$age" ge 2000000000
	start_observer || bail_out "it does not start again: $(cat "$said")"
	lab_run sleep 1
	compare "another one: of this moment again" "$(word_age)" le 1000000000
	lab_cap 0
	wait "$writer_pid"
	is "the program did not notice" "$?:$(cat "$LAB_TMP/paced")" 0:
	kill -TERM "$observer_pid"
	wait "$observer_pid"
	rm -f $folder/lock
	rmdir $folder
	lab_remove || bail_out "$LAB_WHY"
}

# blamed FILTER: of what blame said of the last time
blamed()
{
	jq -r "$1" <"$LAB_TMP/blame"
}

# A writer that syncs; what blame says of the time in which it did.
blames()
{
	local ctl=$lab_build/writepacectl
	local writer_pid blame_pid

	if ! command -v jq >/dev/null; then
		skip "blame" "no jq"
		return
	fi
	lab_make ext4 320 $RATE || bail_out "$LAB_WHY"
	"$ctl" blame --folder "$folder" -d "$LAB_ID" -t 4s --json >"$LAB_TMP/blame" &
	blame_pid=$!
	lab_run sleep 1.2
	write_file data &
	writer_pid=$!
	wait "$writer_pid"
	wait "$blame_pid"
	is "blame names that device's writer alone" "$(blamed '[.tasks[] |
		select(.command == "dd")] | length'):$(blamed '[.tasks[].device] |
		unique | join(" ")')" "1:$LAB_ID"
	near "what it dirtied" "$(blamed '.tasks[] | select(.command == "dd") | .dirtied_bytes')" \
		$SIZE
	is "its fsync" "$(blamed '.tasks[] | select(.command == "dd") | .fsyncs')" 1
	compare "its wait" "$(blamed '.tasks[] | select(.command == "dd") | .fsync_ns')" ge 300000000
	"$ctl" blame --folder "$folder" --device "$LAB_MNT" >"$LAB_TMP/blame"
	compare "a path stands for its device: lines" \
		"$(grep -c " dd .* $LAB_ID " "$LAB_TMP/blame")" ge 1
	lab_remove || bail_out "$LAB_WHY"
}

# It dies under load; another begins in its place, at 0.
restart()
{
	local writer_pid

	lab_make ext4 320 $RATE || bail_out "$LAB_WHY"
	write_file data &
	writer_pid=$!
	lab_run sleep 0.3
	kill -KILL "$observer_pid"
	wait "$observer_pid" 2>/dev/null
	lab_run sleep 2.2
	is "killed: nothing fresh is shown" "$(running)" no
	wait "$writer_pid"
	is "killed: the writer goes on" "$?" 0
	start_observer || bail_out "another one does not start: $(cat "$said")"
	write_file again
	lab_run sleep 0.4
	near "another begins at 0" "$(value "$LAB_ID" dirtied_bytes)" $SIZE
	lab_remove || bail_out "$LAB_WHY"
}

# What a kernel or a user may lack, made to be lacking in a mount namespace or by capabilities.
lines()
{
	local elsewhere=$LAB_TMP/elsewhere

	if ! unshare -m true 2>/dev/null; then
		skip "what is missing is said" "no mount namespaces"
		return
	fi
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh \
		"$observer" --foreground --folder "$elsewhere" 2>"$said"
	is "no BTF" "$?:$(grep -c 'has no BTF' "$said")" 125:1
	# shellcheck disable=SC2016
	unshare -m sh -c 'umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug; exec "$@"' \
		sh "$observer" --foreground --syncs --folder "$elsewhere" 2>"$said" &
	observer_pid=$!
	folder=$elsewhere
	lab_retry is_running
	is "no tracefs" "$(grep -c 'no tracefs' "$said")" 1
	head -c 1M /dev/zero >"$LAB_TMP/dirt"
	lab_run sleep 0.4
	is "no debugfs: in flight is not known" \
		"$(once --json | grep -c '"in_flight_bytes":null')" \
		"$(once --json | grep -c '"in_flight_bytes"')"
	kill -TERM "$observer_pid"
	wait "$observer_pid"
	if command -v setpriv >/dev/null; then
		setpriv --bounding-set -all "$observer" --foreground --folder "$elsewhere" \
			2>"$said"
		is "a root that may not" "$?:$(grep -c 'the kernel refused' "$said")" 125:1
	else
		skip "a root that may not" "no setpriv"
	fi
	folder=$LAB_TMP/observed
}

# Its unit as systemd reads it: kernels.sh starts it.
unit()
{
	local unit=$LAB_TMP/writepace-observer.service

	if ! systemd-analyze security --help 2>/dev/null | grep -q -- --offline; then
		skip "its unit" "no systemd-analyze that can"
		return
	fi
	sed "s,^ExecStart=[^ ]*,ExecStart=$observer," "$lab_build/writepace-observer.service" \
		>"$unit"
	is "its unit is a good one" "$(systemd-analyze verify "$unit" 2>&1)" ""
	systemd-analyze security --offline=true --threshold=20 "$unit" >/dev/null 2>&1
	is "it may do little" "$?" 0
}

# Whoever started it is told: a socket as systemd has it.
notify()
{
	if ! command -v python3 >/dev/null; then
		skip "its starter is told" "no python3"
		return
	fi
	is "its starter is told" "$(python3 - "$observer" "$LAB_TMP" <<-'END'
		import os, socket, subprocess, sys
		observer, folder = sys.argv[1:]
		path = folder + "/notify"
		listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		listener.bind(path)
		listener.settimeout(20)
		running = subprocess.Popen(
		    [observer, "--foreground", "--folder", folder + "/notified"],
		    env=dict(os.environ, NOTIFY_SOCKET=path))
		first = listener.recv(99).decode()
		running.terminate()
		print(first, listener.recv(99).decode(), running.wait())
	END
	)" "READY=1 STOPPING=1 0"
}

ends()
{
	kill -TERM "$observer_pid"
	wait "$observer_pid"
	is "it ends when asked to" "$?" 0
	is "its files are gone" "$(find "$folder" -type f ! -name lock | wc -l)" 0
	once >/dev/null 2>"$LAB_TMP/none"
	is "then there is nothing to show" "$?" 1
}

# Where files can not be asked what of them is outstanding: the limit is held all the same.
held()
{
	local place

	folder=/run/writepace
	if is_running; then
		skip "held limits" "an observer of this machine is running"
		return
	fi
	start_observer || bail_out "it does not start: $(cat "$said")"
	for place in $DENIED_PLACES; do
		if ! denied_can "$place"; then
			skip "$place: most outstanding" "$LAB_WHY"
			continue
		fi
		denied_arm "$place" ext4 10485760 40 || bail_out "$LAB_WHY"
		compare "$place: most outstanding" "${ARM[${place}_peak_outstanding]}" \
			le $((DENIED_LIMIT_BYTES * 103 / 100))
		compare "$place: until durable, seconds" "${ARM[${place}_s]}" le 8
	done
	kill -TERM "$observer_pid"
	wait "$observer_pid"
	rm -f $folder/lock
	rmdir $folder
}

begin()
{
	[ -x "$observer" ] || skip_all "writepace-observer was not built (configure says why)"
	lab_require ext4 || skip_all "$LAB_WHY"
	start_observer "$@" || skip_all "$(head -n 1 "$said")"
}
