#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Who holds everything is stopped, programs come by the thousand, or become others. Oracles: the
# rate of those who are left (bytes that reach the device), the time of the last one, slots of
# tasks. WRITEPACE_LONG=1: they are stopped for a minute, and there are 2000 programs, not 300.
#
# shellcheck disable=SC2016 # shells within shells

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"
. "$here/../lab/arms.sh"

peek=$lab_build/test/helper/peek
long=${WRITEPACE_LONG-}
unset WRITEPACE_LONG
stop_s=$((${long:-0} ? 60 : 4))
programs=$((${long:-0} ? 2000 : 300))
RATE=10485760

lab_require ext4 || skip_all "$LAB_WHY"
lab_make ext4 $((400 + (stop_s * 3 + 60) * 10)) $RATE || bail_out "$LAB_WHY"

# The share of the device that was used in the next $1 seconds.
used_share()
{
	local before start bytes

	before=$(lab_written)
	start=${EPOCHREALTIME/./}
	sleep "$1"
	bytes=$(($(lab_written) - before))
	arm_ratio $bytes $((RATE * (${EPOCHREALTIME/./} - start) / 1000000)) 2
}

start_writer()
{
	"$LAB_WRITEPACE" dd if=/dev/zero of="$LAB_MNT/$1" bs=64k status=none &
	writer=$!
}

tasks()
{
	"$peek" "$(lab_segment)" | tr ' ' '\n' | sed -n 's/^tasks=//p'
}

# --- three of four writers, with all they hold ----------------------------------------------

lab_forget
for name in a b c; do
	start_writer $name
	held+=("$writer")
done
start_writer d
left=$writer
sleep 4
kill -STOP "${held[@]}"
sleep 1
before=$(stat -c %s "$LAB_MNT/d")
compare "three of four are stopped: share of the device for $stop_s s" \
	"$(used_share $stop_s)" ge 0.6
compare "the fourth has their room" \
	"$(arm_ratio $(($(stat -c %s "$LAB_MNT/d") - before)) $((RATE * stop_s)) 2)" ge 0.5
kill -CONT "${held[@]}"
sleep 1
compare "they go on: share of the device" "$(used_share 3)" ge 0.6

# --- the helper -----------------------------------------------------------------------------

helper=$("$peek" "$(lab_segment)" | tr ' ' '\n' | sed -n 's/^helper=//p')
kill -STOP "$helper"
compare "the helper is stopped: share of the device for $stop_s s" \
	"$(used_share $stop_s)" ge 0.6
kill -CONT "$helper"
kill -KILL "$helper"
compare "the helper is killed: share of the device" "$(used_share 3)" ge 0.6
kill -KILL "${held[@]}" "$left"
wait "${held[@]}" "$left" 2>/dev/null
rm -f "$LAB_MNT"/?
lab_cap 0
sync -f "$LAB_MNT"

# --- many short programs --------------------------------------------------------------------

lab_forget
lab_cap 52428800
"$LAB_WRITEPACE" --limit 4M sh -c '
	i=0
	while [ $i -lt "$2" ]; do
		head -c 20000 /dev/zero >"$1/short.$i" &
		i=$((i + 1))
	done
	wait' sh "$LAB_MNT" "$programs" &
bomb=$!
most=0
while kill -0 $bomb 2>/dev/null; do
	now=$(tasks)
	[ "${now:-0}" -le "$most" ] || most=$now
	sleep 0.2
done
wait $bomb
is "$programs short programs: status" $? 0
is "all they wrote" "$(cat "$LAB_MNT"/short.* | wc -c)" $((programs * 20000))
echo "# at most $most slots of tasks at a look"
# The period of what they dirtied runs on, so the helper looks every second.
"$LAB_WRITEPACE" sh -c 'head -c 1M /dev/zero >"$1/last"; sleep 3' sh "$LAB_MNT"
compare "slots of tasks 3 s later" "$(tasks)" le 8

# --- one that becomes another in the midst of it --------------------------------------------

cat >"$LAB_TMP/turn" <<-'END'
	#!/bin/bash
	head -c 3000000 "$2" >>"$1"
	[ "$3" -le 1 ] || exec "$0" "$1" "$2" $(($3 - 1))
END
chmod +x "$LAB_TMP/turn"
head -c 3000000 /dev/urandom >"$LAB_TMP/part"
"$LAB_WRITEPACE" --limit 2M "$LAB_TMP/turn" "$LAB_MNT/turned" "$LAB_TMP/part" 10
is "ten programs in turn: status" $? 0
is "what they wrote" "$(for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$LAB_TMP/part"; done |
	cmp - "$LAB_MNT/turned" 2>&1)" ""
done_testing
