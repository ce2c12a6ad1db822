#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The load moves from a fast device to one 32 times slower: how soon its share of the
# writeout follows. Oracle: the published trial, 5 periods until it has half, 4 to 5 more
# until it is close to the truth; `auto` takes half of that at 3 s. Two minutes a run, so
# not part of the short tests.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"

FAST=67108864
SLOW=2097152
BEFORE_S=30
AFTER_S=45

# writers DIRECTORY: two dd that never end, WRITERS.
writers()
{
	# shellcheck disable=SC2016
	WRITEPACE_LIMIT=20M WRITEPACE_PERIOD=$period setsid "$LAB_WRITEPACE" sh -c '
		for i in 1 2; do
			while dd if=/dev/zero of="$1/writer.$i" bs=64k count=1600; do
				:
			done &
		done
		wait' sh "$1" 2>"$LAB_TMP/writers" &
	WRITERS=$!
}

end_writers()
{
	{ kill -KILL -- -$WRITERS && wait $WRITERS; } 2>/dev/null
}

# reached SHARE: seconds after which the slow device had it.
reached()
{
	awk -v share="$1" '$2 >= share { print $1; found = 1; exit }
		END { if (!found) print 1000 }' "$LAB_TMP/shares"
}

# moves PERIOD HALF_S MOST_S
moves()
{
	local period=$1 fast_dev fast_mnt slow_dev slow_id start i

	lab_make ext4 700 $FAST || bail_out "$LAB_WHY"
	fast_dev=$LAB_DEV
	fast_mnt=$LAB_MNT
	lab_make ext4 400 $SLOW || bail_out "$LAB_WHY"
	slow_dev=$LAB_DEV
	slow_id=$LAB_ID
	lab_forget
	writers "$fast_mnt"
	lab_run sleep $BEFORE_S
	end_writers
	writers "$LAB_MNT"
	start=${EPOCHREALTIME/./}
	for ((i = 0; i < AFTER_S * 4; i++)); do
		lab_run sleep 0.25
		"$lab_build/test/helper/peek" "$(lab_segment)" |
			awk -v id="$slow_id" -v us=$((${EPOCHREALTIME/./} - start)) '
			$1 == "device=" id { sub(".*share=", ""); sub(" .*", ""); print us / 1e6, $0 }'
	done >"$LAB_TMP/shares"
	end_writers
	compare "period $period: seconds until the slow device has half" \
		"$(reached 0.5)" le "$2"
	compare "period $period: seconds until it has nine tenths" \
		"$(reached 0.9)" le "$3"
	lab_cap 0 "$fast_dev"
	{ lab_remove "$slow_dev" && lab_remove "$fast_dev"; } || bail_out "$LAB_WHY"
}

lab_require ext4 || skip_all "$LAB_WHY"
[ -x "$lab_build/test/helper/peek" ] || skip_all "test/helper/peek is not built"

# a sixth of a period each for the first unit and for the sampling
moves 3s 18 31
moves auto 9 15
done_testing
