#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Records what test/unit/test_observer replays: record.sh >test/data/observer/dd.events
#
# Two dd of 1 MiB each in writes of 4 KiB (so every folio is a page) on a device of the
# laboratory that the kernel throttles at 256 KiB. A line: CPU PID EVENT DEVICE AMOUNT.
# As in the observer, completions are of writes only, and pauses are in ticks of 4 ms.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/lab.sh"
trace=/sys/kernel/debug/tracing/instances/writepace-record

if ! lab_require ext4 || ! lab_make ext4 64 1048576; then
	echo "$LAB_WHY" >&2
	exit 77
fi
sync -f "$LAB_MNT"
sleep 0.3
echo 262144 >"/sys/class/bdi/$LAB_ID/max_bytes"
echo 1 >"/sys/class/bdi/$LAB_ID/strict_limit"
mkdir "$trace" || exit
for event in writeback/writeback_dirty_folio writeback/balance_dirty_pages block/block_rq_complete; do
	echo 1 >"$trace/events/$event/enable"
done
for file in one other; do
	lab_run dd if=/dev/zero of="$LAB_MNT/$file" bs=4k count=256 conv=fsync status=none &
done
wait
echo 0 >"$trace/tracing_on"
echo 0 >"/sys/class/bdi/$LAB_ID/strict_limit"
awk -v bdi="$LAB_ID" '
	{
		match($0, /-[0-9]+ +\[[0-9]+\]/)
		split(substr($0, RSTART + 1, RLENGTH - 2), who, / +\[/)
		who[2] += 0
	}
	/ writeback_dirty_folio: / && index($0, "bdi " bdi ":") { print who[2], who[1], "dirtied", bdi, 4096 }
	/ balance_dirty_pages: / && index($0, "bdi " bdi ":") {
		match($0, / pause=-?[0-9]+/)
		print who[2], who[1], "paused", bdi, substr($0, RSTART + 7, RLENGTH - 7) / 4
	}
	/ block_rq_complete: / {
		sub(/.*block_rq_complete: /, "")
		sub(/,/, ":", $1)
		if ($1 == bdi && $2 ~ /^F?W/)
			print who[2], who[1], "completed", bdi, $(NF - 2) * 512
	}' "$trace/trace" >"$LAB_TMP/events"
rmdir "$trace"
cat "$LAB_TMP/events"
