#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a program pays that writes little or nothing. Oracles: callgrind's counts, the segment's
# own bytes, the kernel's accounts of memory and of voluntary context switches.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"

bench=${LAB_WRITEPACE%/*}/test/bench/bench
idle_s=5 # design 13 says 60
[ -z "${WRITEPACE_LONG-}" ] || idle_s=60
lab_require || skip_all "$LAB_WHY"
lab_forget
export WRITEPACE_HELPER=off # the program alone is looked at

if command -v valgrind >/dev/null; then
	added=$("$bench" fastpath --runs 1 --tsv 2>/dev/null |
		awk '$2 == "writepace" && $4 == "instructions_added" { print $5 }')
	compare "instructions added to a write of 4 KiB" "${added:-none}" le 60
else
	skip "instructions added to a write of 4 KiB" "no valgrind"
fi

# A program that writes nothing leaves the segment as it was made: a header, then zeros.
"$LAB_WRITEPACE" true
segment=$(lab_segment)
compare "the segment is there" "$(stat -c %s "$segment" 2>/dev/null)" ge 100000
is "no slot taken by true" "$(tail -c +129 "$segment" | tr -d '\0' | wc -c)" 0

# dd that has written 8 MB and waits for more on a fifo, plain and paced.
mkfifo "$LAB_TMP/fifo"
waiting_dd()
{
	"$@" dd if="$LAB_TMP/fifo" of="$LAB_TMP/out" bs=64k status=none &
	dd_pid=$!
	exec 8>"$LAB_TMP/fifo"
	head -c 8M /dev/zero >&8
	while [ "$(stat -c %s "$LAB_TMP/out" 2>/dev/null || echo 0)" -lt 8388608 ]; do
		sleep 0.1
	done
	sleep 0.5
}

# Without the segment and without clean pages, which are of files: both are shared, but the kernel
# calls a page private that one process maps.
private_kib()
{
	awk '/^[0-9a-f]+-/ { ours = / .*\/segment/ }
		/^Private_Dirty/ && !ours { sum += $2 }
		END { print sum }' "/proc/$dd_pid/smaps"
}

switches()
{
	awk '/ctxt_switches/ { sum += $2 } END { print sum }' "/proc/$dd_pid/status"
}

end_dd()
{
	exec 8>&-
	wait "$dd_pid"
	rm "$LAB_TMP/out"
}

waiting_dd env
plain_kib=$(private_kib)
end_dd
waiting_dd "$LAB_WRITEPACE"
paced_kib=$(private_kib)
compare "KiB of private memory added (plain $plain_kib)" $((paced_kib - plain_kib)) le 128
before=$(switches)
sleep "$idle_s"
is "times an idle paced process ran in $idle_s s" $(($(switches) - before)) 0
end_dd

done_testing
