#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# writepacectl on a live paced run. Oracle: the kernel's own numbers (debugfs, /proc, the cap of
# the device) for what it says, the clock for what it foretells.

# The $ in single quotes are those of awk.
# shellcheck disable=SC2016
# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=10485760
ctl=$lab_build/writepacectl

# json COMMAND FILTER: a value of its JSON, as jq sees it
json()
{
	"$ctl" "$1" --json --segment "$WRITEPACE_SEGMENT" | jq -r "$2"
}

# The kernel's count of what is outstanding on the device.
kernel_bytes()
{
	awk '/^Bdi(Writeback|Reclaimable):/ { sum += $2 } END { print sum * 1024 }' \
		"/sys/kernel/debug/bdi/$LAB_ID/stats"
}

distance()
{
	local distance=$(($1 - $2))

	echo ${distance#-}
}

now_us()
{
	echo ${EPOCHREALTIME/./}
}

lab_require ext4 || skip_all "$LAB_WHY"
command -v jq >/dev/null || skip_all "no jq"
lab_make ext4 700 $RATE || bail_out "$LAB_WHY"
export WRITEPACE_HELPER=auto
lab_forget

# --- nobody ------------------------------------------------------------------------------

"$ctl" status --segment "$WRITEPACE_SEGMENT" >"$LAB_TMP/out" 2>&1
is "nobody paced: status" "$?:$(wc -l <"$LAB_TMP/out")" 3:1

# --- status, devices, tasks --------------------------------------------------------------

start=$(now_us)
"$LAB_WRITEPACE" dd if=/dev/zero of="$LAB_MNT/paced" bs=1M count=60 status=none &
dd=$!
lab_run sleep 3

json devices '.devices[0].outstanding_bytes' >"$LAB_TMP/outstanding"
kernel=$(kernel_bytes)
compare "devices: outstanding bytes, off the kernel's count by" \
	"$(distance "$(cat "$LAB_TMP/outstanding")" "$kernel")" le 2097152
compare "devices: limit above what is outstanding (kernel)" \
	"$(json devices '.devices[0].limit_bytes')" ge $((kernel * 9 / 10))
compare "devices: limit, the drain target's worth" \
	"$(json devices '.devices[0].limit_bytes')" le $((RATE * 12 / 10))
compare "devices: bandwidth, off the cap by" \
	"$(distance "$(json devices '.devices[0].bandwidth_bps')" $RATE)" le $((RATE / 6))
is "devices: who and where" \
	"$(json devices '.devices[] | [.device, .name, .mount, .share] | @csv' | tr -d '"')" \
	"$LAB_ID,${LAB_DEV#/dev/},$LAB_MNT,1"
is "tasks: pid, command, device, weight" \
	"$(json tasks '.tasks[] | [.pid, .command, .device, .weight] | @csv' | tr -d '"')" \
	"$dd,dd,${LAB_DEV#/dev/},100"
dirtied=$(json tasks '.tasks[0].dirtied_bytes')
compare "tasks: dirtied, off the kernel's count by" \
	"$(distance "$dirtied" "$(awk '/^write_bytes/ { print $2 }' "/proc/$dd/io")")" \
	le 2097152
slept=$(json tasks '.tasks[0].slept_ns')
compare "tasks: slept, of the time it runs" "$((slept / 1000))" le \
	$(($(now_us) - start))
compare "tasks: slept most of it" "$((slept / 1000))" ge $((($(now_us) - start) / 2))
is "status" "$(json status '.status[] | [.active, .tasks, .devices, .user] | @csv' |
	tr -d '"')" "true,1,1,root"
compare "status: kernel's threshold, off /proc/vmstat by" \
	"$(distance "$(json status '.status[0].kernel_threshold_bytes')" \
		$(($(awk '/^nr_dirty_threshold/ { print $2 }' /proc/vmstat) * 4096)))" \
	le 67108864
is "status: its helper lives" "$(cat "/proc/$(json status '.status[0].helper_pid')/comm")" \
	writepaced
is "all segments: ours is among them" \
	"$("$ctl" status --json | jq -r ".status[] | select(.segment == \"$WRITEPACE_SEGMENT\") | .active")" \
	true
"$ctl" doctor --json --segment "$WRITEPACE_SEGMENT" --path "$LAB_MNT" dd >"$LAB_TMP/out"
is "doctor: status" $? 0
is "doctor: the device behind the path" "$(jq -r '.doctor[] | select(.check == "device") | .detail' \
	"$LAB_TMP/out")" "$LAB_MNT is on ${LAB_DEV#/dev/} ($LAB_ID)"
is "doctor: what it says of the helper, the command" "$(jq -r '.doctor[] |
	select(.check == "helper" or .check == "command") | .verdict + " " + .detail' "$LAB_TMP/out" |
	paste -sd ',')" "ok runs,ok the library reaches $(command -v dd)"
for command in status devices tasks; do
	"$ctl" $command --segment "$WRITEPACE_SEGMENT" >"$LAB_TMP/out" 2>&1
	is "$command for people" "$?:$(grep -cE "${LAB_DEV#/dev/}|pacing 1 task" "$LAB_TMP/out")" 0:1
done
wait $dd

# --- trace and plot ------------------------------------------------------------------------

# The value of a column of the trace, of lines that a condition holds for.
column()
{
	gzip -dcf "$1" | awk -F, -v name="$2" 'NR == 1 {
		for (i = 1; i <= NF; i++)
			at[$i] = i
		next
	}
	'"${3-1}"' { print $at[name] }'
}

"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
watch_pid=$!
trace=$LAB_TMP/trace.csv.gz
"$ctl" trace -o "$trace" --segment "$WRITEPACE_SEGMENT" sh -c "
	dd if=/dev/zero of=$LAB_MNT/traced bs=1M count=25 status=none & wait; exit 5"
is "trace: the command's status" $? 5
lab_run sync -f "$LAB_MNT"
arm_stop $watch_pid || bail_out "watching the device failed"
is "trace: lines of one length" "$(gzip -dc "$trace" | awk -F, '{ print NF }' | sort -u | wc -l)" 1
is "trace: its device" "$(column "$trace" bdi | sort -u)" "$LAB_ID"
is "trace: its program" "$(column "$trace" comm '$at["pid"]' | sort -u)" dd
compare "trace: verdicts with a pause" "$(column "$trace" pause '$at["pid"] && $at["pause"] > 0' | wc -l)" ge 10
compare "trace: the most outstanding, off what the kernel saw by" "$(distance \
	"$(column "$trace" wb_dirty | sort -n | tail -n 1)" \
	"$(arm_value peak_outstanding "$LAB_TMP/watch")")" le 2097152
written=$(column "$trace" written '$at["pid"] == ""' | sort -n | sed -n '1p;$p' | paste -sd ' ')
compare "trace: written, of 25 MiB" "$((${written#* } - ${written% *}))" ge 20971520
"$ctl" trace -t 300ms >"$LAB_TMP/out"
is "trace -t, on standard output" "$?:$(head -c 13 "$LAB_TMP/out")" "0:time,segment,"
if command -v gnuplot >/dev/null; then
	"$ctl" plot -o "$LAB_TMP/plot.svg" "$trace"
	is "plot: curves with points" "$?:$(awk '
		/<g id="[a-z]+_plot_[0-9]+/ { curve++ }
		curve { points[curve] += gsub(/[ML][0-9.]+,[0-9.]+|xlink:href/, "") }
		END { for (i in points) good += points[i] > 2; print good }' \
		"$LAB_TMP/plot.svg")" 0:8
	"$ctl" plot -o "$LAB_TMP/plot.png" "$trace"
	is "plot: a picture" "$?:$(head -c 4 "$LAB_TMP/plot.png" | tail -c 3)" 0:PNG
	# The same with a second device in it: a picture more, of all.
	{
		gzip -dc "$trace"
		gzip -dc "$trace" | sed -n "s/,$LAB_ID,/,9:9,/p"
	} >"$LAB_TMP/two.csv"
	"$ctl" plot -D "$LAB_ID" -o "$LAB_TMP/two.svg" "$LAB_TMP/two.csv"
	is "plot: two devices, all of them first" "$?:$(grep -oE '>(limit|setpoint|dirty), all<' "$LAB_TMP/two.svg" |
		sort -u | wc -l)" 0:3
	is "plot --text" "$("$ctl" plot --text "$trace" | grep -cE 'MiB|seconds')" 3
	"$ctl" plot --text "$LAB_TMP/watch" 2>/dev/null
	is "plot: what is no trace" $? 1
else
	skip "plot" "no gnuplot"
fi

# --- top ---------------------------------------------------------------------------------

"$LAB_WRITEPACE" --weight 300 dd if=/dev/zero of="$LAB_MNT/heavy" bs=1M count=200 status=none &
heavy=$!
"$LAB_WRITEPACE" dd if=/dev/zero of="$LAB_MNT/light" bs=1M count=200 status=none &
light=$!
screen=$LAB_TMP/tmux

# on_screen PATTERN: waits for it, three seconds at most; the page is in $LAB_TMP/page
on_screen()
{
	local tenths=30

	until tmux -S "$screen" capture-pane -p >"$LAB_TMP/page" && grep -qE "$1" "$LAB_TMP/page"; do
		tenths=$((tenths - 1))
		[ $tenths -gt 0 ] || return
		sleep 0.1
	done
}

# The pids from top to bottom.
pids()
{
	awk '$2 == "dd" { print $1 }' "$LAB_TMP/page" | paste -sd ' '
}

lab_run sleep 2
if command -v tmux >/dev/null; then
	tmux -S "$screen" -f /dev/null new-session -d -x 80 -y 24 \
		"$ctl top --delay 200ms --segment $WRITEPACE_SEGMENT; echo over; sleep 60"
	on_screen "$light dd" && lab_run sleep 1
	tmux -S "$screen" send-keys r
	on_screen 'sorted by rate'
	is "top: both tasks, the heavy one first" "$?:$(pids)" "0:$heavy $light"
	rates=$(awk '$2 == "dd" { sum += $8 } END { print sum }' "$LAB_TMP/page")
	compare "top: rates of both, in MiB/s, of the 10 there are" "$rates" ge 6
	compare "top: rates of both, in MiB/s, of the 10 there are" "$rates" le 14
	tmux -S "$screen" send-keys p
	on_screen 'sorted by pid'
	is "top: by pid" "$?:$(pids)" "0:$(printf '%s\n' $heavy $light | sort -n | paste -sd ' ')"
	is "top: the device" "$(grep -c "^${LAB_DEV#/dev/} " "$LAB_TMP/page")" 1
	is "top: no line is cut at 80 columns" "$(awk 'length > 79' "$LAB_TMP/page")" ""
	tmux -S "$screen" resize-window -x 100 -y 9
	lab_run sleep 0.5
	on_screen "$heavy|$light"
	is "top: a smaller window" "$?:$(wc -l <"$LAB_TMP/page"):$(grep -c '^writepacectl top' "$LAB_TMP/page")" 0:9:1
	tmux -S "$screen" send-keys q
	on_screen '^over'
	is "top: q gives the terminal back" "$?:$(grep -c sorted "$LAB_TMP/page")" 0:0
	tmux -S "$screen" kill-server
else
	skip "top" "no tmux"
fi
"$ctl" top --segment "$WRITEPACE_SEGMENT" >"$LAB_TMP/page" </dev/null
is "top without a terminal: once" "$?:$(pids | wc -w)" 0:2

# --- set, reset, export --------------------------------------------------------------------

# Bytes per second that reach the device, over two seconds.
device_bps()
{
	local before

	before=$(lab_written)
	lab_run sleep 2
	echo $((($(lab_written) - before) / 2))
}

"$ctl" export --prometheus --segment "$WRITEPACE_SEGMENT" >"$LAB_TMP/metrics"
is "export: status, tasks" "$?:$(grep -c '^writepace_task_dirtied_bytes_total{' "$LAB_TMP/metrics")" 0:2
is "export: every line is a comment or a sample" "$(grep -vE \
	'^# (TYPE|HELP) writepace_|^writepace_[a-z_]+\{([a-z]+="([^"\]|\\.)*",?)+\} [0-9.e+-]+$' \
	"$LAB_TMP/metrics")" ""
if command -v promtool >/dev/null; then
	is "export: promtool" "$(promtool check metrics <"$LAB_TMP/metrics" 2>&1)" ""
else
	skip "export: promtool" "no promtool"
fi
kill $light
"$ctl" set $heavy weight=200 --segment "$WRITEPACE_SEGMENT" 2>/dev/null
is "set: options go first" $? 2
"$ctl" set --segment "$WRITEPACE_SEGMENT" $heavy weight=200
is "set a task's weight: status" $? 0
"$ctl" set --segment "$WRITEPACE_SEGMENT" "$LAB_MNT" rate=3M
"$ctl" set --segment "$WRITEPACE_SEGMENT" limit=2M
lab_run sleep 1
is "set: the task has it" "$(json tasks '.tasks[0].weight')" 200
is "set: the device has it" "$(json devices '.devices[0].set_rate_bps')" 3145728
compare "set: bytes per second" "$(device_bps)" ge 2800000
compare "set: bytes per second" "$(device_bps)" le 3500000
compare "set: outstanding on the device" "$(kernel_bytes)" le 3145728
"$ctl" set --segment "$WRITEPACE_SEGMENT" "$LAB_MNT" rate=1 2>"$LAB_TMP/out"
is "set: out of range" "$?:$(grep -c allowed "$LAB_TMP/out")" 1:1
"$ctl" reset --segment "$WRITEPACE_SEGMENT"
lab_run sleep 1
is "reset: the task has its own weight" "$(json tasks '.tasks[0].weight')" 300
compare "reset: bytes per second" "$(device_bps)" ge 7000000
kill $heavy
wait

# --- another user's segment, as root and as that user ------------------------------------

stranger()
{
	setpriv --reuid 54321 --regid 54321 --clear-groups "$@"
}

if stranger test -x "$LAB_WRITEPACE" 2>/dev/null; then
	stranger "$LAB_WRITEPACE" dd if=/dev/zero of="$LAB_MNT/nobody" bs=1M count=3 status=none
	is "root sees two users" "$(json status '.status | map(.user) | unique | length')" 2
	is "a user sees one" "$(stranger "$ctl" status --json --segment "$WRITEPACE_SEGMENT" |
		jq '.status | length')" 1
	rm -f "/dev/shm/writepace-54321/segment.$WRITEPACE_SEGMENT"
	rmdir /dev/shm/writepace-54321 2>/dev/null
else
	skip "another user's segment" "the build directory is closed to others"
fi
head -c 4M /dev/urandom >"$LAB_TMP/segment"
"$ctl" status --segment "$LAB_TMP/segment" >/dev/null 2>&1
is "random bytes are no segment" $? 3
for seed in 1 2 3; do
	cp "$(lab_segment)" "$LAB_TMP/segment"
	python3 -c "
import random, sys
random.seed($seed)
size = $(stat -c %s "$LAB_TMP/segment")
with open('$LAB_TMP/segment', 'r+b') as file:
	file.seek(256)
	file.write(random.randbytes(size - 256))"
	for command in status devices tasks top "export --prometheus" "trace -t 100ms"; do
		# shellcheck disable=SC2086 # its words
		timeout 60 "$ctl" ${command%% *} --segment "$LAB_TMP/segment" \
			${command#"${command%% *}"} >/dev/null 2>"$LAB_TMP/out" </dev/null ||
			echo "$command of seed $seed: $? $(head -n 1 "$LAB_TMP/out")"
	done
done >"$LAB_TMP/damaged"
is "a damaged segment: neither a crash nor a hang" "$(cat "$LAB_TMP/damaged")" ""

# --- drain -------------------------------------------------------------------------------

# drain_lines FILE: runs it, each line with the time it came
drain_lines()
{
	"$ctl" drain "$LAB_MNT" | while read -r line; do
		echo "$(now_us) $line"
	done >"$1"
	now_us >"$1.end"
}

lab_run sync -f "$LAB_MNT"
dd if=/dev/zero of="$LAB_MNT/plain" bs=1M count=80 status=none
timeout -s INT --preserve-status 1.5 "$ctl" drain "$LAB_DEV" >"$LAB_TMP/out"
is "interrupted: status" $? 130
left=$(sed -n 's/.*: \([0-9.]*\)M not on the device yet.*/\1/p' "$LAB_TMP/out")
compare "interrupted: bytes left that it says, off the kernel's count by" \
	"$(distance "$(awk -v left="$left" 'BEGIN { printf "%d", left * 1048576 }')" \
		"$(kernel_bytes)")" le 3145728
drain_lines "$LAB_TMP/drain"
compare "drained: outstanding on the device" "$(kernel_bytes)" le 65536
is "it says so" "$(grep -c 'everything is on the device; safe to remove' "$LAB_TMP/drain")" 1
compare "progress: lines" "$(grep -c 'to go' "$LAB_TMP/drain")" ge 2
is "progress never falls" "$(sed -n 's/.* \([0-9]*\)%, .*/\1/p' "$LAB_TMP/drain" |
	sort -nc 2>&1)" ""
# What it foretold against what it took; the last second is not judged.
missed()
{
	awk '
	FNR == NR { end = $1; next }
	/to go/ {
		sub(/s$/, "", $(NF - 2))
		took = (end - $1) / 1e6
		off = $(NF - 2) - took
		if (took > 1 && (off < 0 ? -off : off) > took / 10 + 0.2)
			print $(NF - 2), "for", took
	}' "$LAB_TMP/drain.end" "$LAB_TMP/drain"
}

# Why again: the disk below is shared, and may become slower on the way.
for _ in 1 2; do
	[ -n "$(missed)" ] || break
	dd if=/dev/zero of="$LAB_MNT/plain" bs=1M count=50 status=none
	drain_lines "$LAB_TMP/drain"
done
is "foretold times off by more than a tenth and 0.2 s" "$(missed)" ""

dd if=/dev/zero of="$LAB_MNT/plain" bs=1M count=15 status=none
script -qec "stty cols 80; $ctl drain $LAB_MNT" /dev/null </dev/null >"$LAB_TMP/screen"
tr '\r' '\n' <"$LAB_TMP/screen" | sed -n 's/.*\[\(#*\)\.*\] *\([0-9]*\)%.*/\2/p' >"$LAB_TMP/percents"
compare "on a terminal: bars" "$(wc -l <"$LAB_TMP/percents")" ge 3
is "the bar never falls" "$(sort -nc "$LAB_TMP/percents" 2>&1)" ""
is "its line fits 80 columns" "$(tr '\r' '\n' <"$LAB_TMP/screen" | grep '\[[#.]' |
	sed 's/\x1b\[K//' | awk 'length > 79' | wc -l)" 0

"$LAB_WRITEPACE" --wait sh -c "dd if=/dev/zero of=$LAB_MNT/wait bs=1M count=12 status=none
	exit 3" 2>"$LAB_TMP/out"
is "--wait: the command's status, and the data is there" \
	"$?:$(grep -c 'safe to remove' "$LAB_TMP/out")" 3:1
compare "--wait: outstanding on the device" "$(kernel_bytes)" le 65536
# --- what the library says ------------------------------------------------------------------

"$LAB_WRITEPACE" -v dd if=/dev/zero of="$LAB_MNT/said" bs=1M count=2 status=none 2>"$LAB_TMP/out"
is "-v: one line of the program's" "$(grep -cE \
	"^writepace: dd\[[0-9]+\] device=$LAB_ID limit=[0-9]+ source=cachestat\$" "$LAB_TMP/out")" 1
"$LAB_WRITEPACE" dd if=/dev/zero of="$LAB_MNT/said" bs=1M count=2 status=none 2>"$LAB_TMP/out"
is "without it: nothing" "$(cat "$LAB_TMP/out")" ""
"$LAB_WRITEPACE" -v sh -c "exec 2>$LAB_MNT/file; exec dd if=/dev/zero of=$LAB_MNT/said bs=1M count=2" 2>/dev/null
is "-v: it goes to the standard error there was at the start" "$(grep -c writepace: "$LAB_MNT/file")" 1
cat >"$LAB_TMP/data.py" <<'END'
import os, sys
os.close(2)
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.write(fd, b'x' * (1 << 21))
os.write(fd, b'x' * (1 << 20))
sys.exit(fd != 2)
END
"$LAB_WRITEPACE" -v python3 "$LAB_TMP/data.py" "$LAB_MNT/data" 2>/dev/null
is "-v: never into a file that has its number" "$?:$(tr -d x <"$LAB_MNT/data" | wc -c)" 0:0

"$ctl" drain /nowhere 2>/dev/null
is "no such path: status" $? 1

done_testing
