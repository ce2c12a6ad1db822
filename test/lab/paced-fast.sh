#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A paced dd to a fast device. Oracle: the same dd without, in the same minute: it may be
# a few per cent faster, twice the room of what is promised. Of two runs each the better
# one counts: what else goes on in the machine costs up to a fifth, and only ever adds.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=209715200

lab_require ext4 || skip_all "$LAB_WHY"

# better BEST: the smaller one of it and what was just measured.
better()
{
	awk -v a="$1" -v b="${ARM[durable_s]}" 'BEGIN { print a < b ? a : b }'
}

plain=1000
paced=1000
for _ in 1 2; do
	arm_durable ext4 $RATE 1000 || bail_out "$LAB_WHY"
	plain=$(better "$plain")
	arm_durable ext4 $RATE 1000 "$LAB_WRITEPACE" || bail_out "$LAB_WHY"
	paced=$(better "$paced")
done

compare "the cap binds: seconds of the plain dd" "$plain" ge 4.5
compare "throughput, paced over plain" \
	"$(arm_ratio "$plain" "$paced" 3)" ge 0.94

done_testing
