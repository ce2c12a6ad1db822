#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A device that stops writing in the midst of it. Oracle: a caller is held for 5 s, not longer,
# and goes on; processor time by the kernel's count: nobody asks a dead device again and again.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"

lab_require ext4 || skip_all "$LAB_WHY"
command -v python3 >/dev/null || skip_all "python3 is not installed"

lab_make ext4 400 10485760 || bail_out "$LAB_WHY"
lab_forget

# Two seconds at the device's speed, then 12 s with the longest call and the time used.
"$LAB_WRITEPACE" python3 - "$LAB_MNT/file" "$LAB_TMP/go" >"$LAB_TMP/said" <<'END' &
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
piece = bytes(65536)
longest = calls = used = 0
while not os.path.exists(sys.argv[2]):
    os.write(fd, piece)
start = time.monotonic()
used = time.process_time()
while time.monotonic() < start + 12:
    before = time.monotonic()
    os.write(fd, piece)
    longest = max(longest, time.monotonic() - before)
    calls += 1
print("longest_s=%.2f calls=%d used_s=%.3f" % (longest, calls, time.process_time() - used))
sys.stdout.flush()
os._exit(0)
END
pid=$!
lab_run sleep 2
lab_cap 1 || bail_out "$LAB_WHY"
: >"$LAB_TMP/go"
wait $pid
status=$?
lab_cap 0
said=$(cat "$LAB_TMP/said")
is "it ends" $status 0
value()
{
	tr ' ' '\n' <"$LAB_TMP/said" | sed -n "s/^$1=//p"
}
compare "$said: longest call, seconds" "$(value longest_s)" le 6
compare "held, seconds" "$(value longest_s)" ge 4
compare "processor time of 12 s" "$(value used_s)" le 0.12
done_testing
