# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One arm of a comparison, for the tests and the bench: a program writes to a fresh
# device, a sync follows. Both are on the clock. Which program it runs under (nothing, or
# the wrapper) is the rest of the arguments, so both arms are the same code.

# Value of KEY in a file of key=value words.
arm_value()
{
	tr ' ' '\n' <"$2" | sed -n "s/^$1=//p"
}

arm_ratio()
{
	awk -v a="$1" -v b="$2" -v digits="$3" 'BEGIN { printf "%.*f", digits, a / b }'
}

# Room for what is written, the journal and btrfs's second copy of its metadata; xfs
# takes no device below 300 MB.
arm_device_mb()
{
	echo $(($1 * 5 / 4 + 400))
}

# Ends a background program and takes its exit status.
arm_stop()
{
	kill -TERM "$1" && wait "$1"
}

# A file to be copied, in the page cache and with nothing left to write: ARM_SOURCE.
arm_source()
{
	ARM_SOURCE=$LAB_TMP/source
	{
		head -c "$1M" /dev/urandom >"$ARM_SOURCE" &&
			chmod 644 "$ARM_SOURCE" &&
			sync "$ARM_SOURCE"
	} || lab_fail "no room for a file of $1 MB"
}

declare -A ARM

# The program that copies; without one, dd. It is given two names.
ARM_COPY=()
arm_copy()
{
	local to=$1

	shift
	if [ ${#ARM_COPY[@]} -gt 0 ]; then
		lab_run "$@" "${ARM_COPY[@]}" "$ARM_SOURCE" "$to"
	else
		lab_run "$@" dd if="$ARM_SOURCE" of="$to" bs=1M status=none
	fi || lab_fail "the copy failed with status $?"
}

# arm_beside "PROBE..." FS RATE SIZE_MB [WRAPPER...]: dd of ARM_SOURCE. Beside it run the
# probes and the kernel's own count, from one second before the dd to three seconds after
# the sync. Results in ARM[metric]. ARM_WRITER is the function that copies ARM_SOURCE to
# $LAB_MNT/big under what it is given. With ARM_KNOWN=1 the same was copied there once before,
# with nobody beside it: the device's speed is known. ARM_PROBE_UNDER is what the probes run
# under: nothing, or the wrapper.
ARM_KNOWN=0
ARM_PROBE_UNDER=()
ARM_WRITER=arm_copy_big

arm_copy_big()
{
	arm_copy "$LAB_MNT/big" "$@"
}

# The writer in a shell of its own, which says how much CPU it took.
arm_write()
{
	"$ARM_WRITER" "$@" || return
	times >"$LAB_TMP/times"
	awk 'NR == 2 {
		for (i = 1; i <= 2; i++) {
			split($i, part, "[ms]")
			sum += part[1] * 60 + part[2]
		}
		printf "%.0f\n", sum * 1000
	}' "$LAB_TMP/times" >"$LAB_TMP/cpu_ms"
}

arm_beside()
{
	local probes=$1 fs=$2 rate=$3 size_mb=$4
	local probe watch_pid start wrote synced device_bytes key
	local -A probe_pids

	shift 4
	ARM=()
	lab_make "$fs" "$(arm_device_mb $((ARM_KNOWN ? 2 * size_mb : size_mb)))" "$rate" ||
		return
	lab_forget
	if [ $ARM_KNOWN = 1 ]; then
		arm_copy "$LAB_MNT/first" "$@" || return
		lab_run sync -f "$LAB_MNT" || lab_fail "sync failed" || return
	fi
	mkdir "$LAB_MNT/create"		# the only probe whose path is a directory

	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	for probe in $probes; do
		"${ARM_PROBE_UNDER[@]}" "$LAB_PROBE" "$probe" "$LAB_MNT/$probe" \
			>"$LAB_TMP/probe.$probe" &
		probe_pids[$probe]=$!
	done
	lab_run sleep 1

	device_bytes=$(lab_written)
	start=${EPOCHREALTIME/./}
	lab_run arm_write "$@" || lab_fail "the writer failed with status $?" || return
	wrote=${EPOCHREALTIME/./}
	lab_run sync -f "$LAB_MNT" || lab_fail "sync failed" || return
	synced=${EPOCHREALTIME/./}
	device_bytes=$(($(lab_written) - device_bytes))
	lab_run sleep 3

	for probe in $probes; do
		arm_stop "${probe_pids[$probe]}" ||
			lab_fail "the $probe probe failed" || return
		for key in p50 p99 max; do
			ARM[${probe}_${key}_ms]=$(arm_ratio \
				"$(arm_value ${key}_us "$LAB_TMP/probe.$probe")" 1000 3)
		done
	done
	arm_stop $watch_pid || lab_fail "watching the device failed" || return
	cmp -s "$ARM_SOURCE" "$LAB_MNT/big" || lab_fail "the copy differs" || return

	ARM[dd_s]=$(arm_ratio $((wrote - start)) 1000000 2)
	ARM[cpu_ms]=$(cat "$LAB_TMP/cpu_ms")
	ARM[sync_s]=$(arm_ratio $((synced - wrote)) 1000000 2)
	ARM[rate_bps]=$((size_mb * 1048576 * 1000000 / (synced - start)))
	ARM[device_share]=$(arm_ratio $((device_bytes * 1000)) \
		$((rate * (synced - start) / 1000)) 3)
	ARM[peak_outstanding]=$(arm_value peak_outstanding "$LAB_TMP/watch")
	lab_remove
}

# A virtual machine gets its memory from the host at the first touch, at a fifth of the
# speed, and gives it back when it is free. Both arms start with as much at hand.
arm_touch_memory()
{
	lab_run head -c "$1M" /dev/zero >"$LAB_TMP/touch"
	rm "$LAB_TMP/touch"
}

# arm_ours NAME: processes by name that use this segment (a supervisor has its command's environment).
arm_ours()
{
	local pid

	for pid in $(pgrep -x "$1"); do
		! grep -qzxF "WRITEPACE_SEGMENT=$WRITEPACE_SEGMENT" "/proc/$pid/environ" \
			2>/dev/null || echo "$pid"
	done
}

# arm_durable FS RATE SIZE_MB [WRAPPER...]: dd of zeros until durable, ARM[durable_s].
arm_durable()
{
	local fs=$1 rate=$2 size_mb=$3
	local start

	shift 3
	ARM=()
	lab_make "$fs" "$(arm_device_mb "$size_mb")" "$rate" || return
	lab_forget
	arm_touch_memory "$size_mb"
	start=${EPOCHREALTIME/./}
	lab_run "$@" dd if=/dev/zero of="$LAB_MNT/big" bs=1M count="$size_mb" \
		status=none || lab_fail "dd failed with status $?" || return
	lab_run sync -f "$LAB_MNT" || lab_fail "sync failed" || return
	# shellcheck disable=SC2034
	ARM[durable_s]=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 3)
	lab_remove
}

# Sizes of what the writers of arm_fair have written so far, one a line.
arm_sizes()
{
	stat -c %s "$LAB_MNT"/writer.*
}

# arm_fair FS RATE WRITERS WARM_UP_S SPAN_S [WRAPPER...]: equal dd, Jain's index of what
# each wrote in the span after the warm-up: ARM[jain]. Plain ones would fill the device
# from the page cache within a second.
arm_fair()
{
	local fs=$1 rate=$2 writers=$3 warm_up=$4 span=$5
	local pid

	shift 5
	ARM=()
	lab_make "$fs" "$(arm_device_mb $((rate * (warm_up + span) / 1048576)))" "$rate" ||
		return
	lab_forget
	# shellcheck disable=SC2016
	setsid "$@" sh -c '
		i=0
		while [ $i -lt "$1" ]; do
			dd if=/dev/zero of="$2/writer.$i" bs=64k status=none &
			i=$((i + 1))
		done
		wait' sh "$writers" "$LAB_MNT" &
	pid=$!
	lab_run sleep "$warm_up"
	arm_sizes >"$LAB_TMP/before"
	lab_run sleep "$span"
	arm_sizes >"$LAB_TMP/after"
	lab_cap 0
	{ kill -KILL -- -$pid && wait $pid; } 2>/dev/null
	ARM[jain]=$(paste "$LAB_TMP/before" "$LAB_TMP/after" | awk -v writers="$writers" '
		{ x = $2 - $1; sum += x; squares += x * x; nr++ }
		END { if (nr == writers && squares) printf "%.4f", sum * sum / (nr * squares) }')
	# shellcheck disable=SC2034
	ARM[writers_share]=$(paste "$LAB_TMP/before" "$LAB_TMP/after" |
		awk -v bytes=$((rate * span)) '
		{ sum += $2 - $1 } END { printf "%.3f", sum / bytes }')
	lab_remove
}

# arm_weights FS RATE WARM_UP_S SPAN_S WEIGHT...: a paced dd of each weight; ARM[off] is the
# largest error of a writer's part of the device, as a part of that, ARM[first] the first one's part.
arm_weights()
{
	local fs=$1 rate=$2 warm_up=$3 span=$4
	local pids=() weight i=0

	shift 4
	ARM=()
	lab_make "$fs" "$(arm_device_mb $((rate * (warm_up + span) / 1048576)))" "$rate" ||
		return
	lab_forget
	for weight; do
		"$LAB_WRITEPACE" -w "$weight" dd if=/dev/zero of="$LAB_MNT/writer.$((i + 100))" \
			bs=64k status=none &
		pids[i++]=$!
	done
	lab_run sleep "$warm_up"
	arm_sizes >"$LAB_TMP/before"
	lab_run sleep "$span"
	arm_sizes >"$LAB_TMP/after"
	lab_cap 0
	{ kill -KILL "${pids[@]}" && wait "${pids[@]}"; } 2>/dev/null
	# shellcheck disable=SC2034
	ARM[first]=$(paste "$LAB_TMP/before" "$LAB_TMP/after" | awk '
		NR == 1 { first = $2 - $1 } { sum += $2 - $1 }
		END { print sum ? first / sum : "nothing" }')
	# shellcheck disable=SC2034
	ARM[off]=$(printf '%s\n' "$@" | paste "$LAB_TMP/before" "$LAB_TMP/after" - | awk '
		{ x[NR] = $2 - $1; weight[NR] = $3; sum += x[NR]; weights += $3 }
		END {
			for (i = 1; i <= NR && sum; i++) {
				off = x[i] / sum * weights / weight[i] - 1
				off = off < 0 ? -off : off
				if (off > most)
					most = off
			}
			printf "%s", sum ? sprintf("%.3f", most) : "nothing was written"
		}')
	lab_remove
}

# What the kernel counts as outstanding on the device, in bytes.
arm_outstanding()
{
	awk '/^Bdi(Writeback|Reclaimable):/ { sum += $2 * 1024 } END { print sum + 0 }' \
		"/sys/kernel/debug/bdi/$LAB_ID/stats"
}

# arm_change FS FROM_BPS TO_BPS [WRAPPER...]: a dd without end, the device's speed changes after
# ARM_CHANGE_S, at least 11, and is looked at for as long. ARM[settled_s] is when no more than 2 s
# of the new speed were outstanding for good, ARM[used_share] what reached the device in the tenth
# second of it.
ARM_CHANGE_S=20

arm_change()
{
	local fs=$1 from=$2 to=$3
	local pid start now i bytes

	shift 3
	ARM=()
	lab_make "$fs" "$(arm_device_mb $(((from + to) * 30 / 1048576)))" "$from" || return
	lab_forget
	setsid "$@" dd if=/dev/zero of="$LAB_MNT/big" bs=64k status=none &
	pid=$!
	lab_run sleep $ARM_CHANGE_S
	lab_cap "$to" || return
	start=${EPOCHREALTIME/./}
	ARM[settled_s]=0
	for ((i = 0; i < 4 * ARM_CHANGE_S; i++)); do
		lab_run sleep 0.25
		now=$((${EPOCHREALTIME/./} - start))
		[ "$(arm_outstanding)" -le $((2 * to)) ] ||
			ARM[settled_s]=$(arm_ratio $now 1000000 1)
		[ $now -lt 9000000 ] || [ "${bytes:-}" ] || bytes=$(lab_written)
		[ $now -lt 10000000 ] || [ "${ARM[used_share]:-}" ] ||
			ARM[used_share]=$(arm_ratio $(($(lab_written) - bytes)) "$to" 3)
	done
	lab_cap 0
	{ kill -KILL -- -$pid && wait $pid; } 2>/dev/null
	lab_remove
}
