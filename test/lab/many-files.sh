#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Many small files, and several large ones at a time. Oracle: what is outstanding by the kernel's
# count and when it is durable, against the same plain; extents of the large ones. Each with
# twice the room of what is promised: 16 MB, a tenth longer, a mean extent of 1 MiB.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"
. "$here/many.sh"

RATE=10485760

lab_require xfs btrfs || skip_all "$LAB_WHY"
command -v filefrag >/dev/null || skip_all "filefrag is not installed"

many_prepare cp || bail_out "$LAB_WHY"
many_arm cp xfs $RATE || bail_out "$LAB_WHY"
plain=${ARM[durable_s]}
many_arm cp xfs $RATE "$LAB_WRITEPACE" || bail_out "$LAB_WHY"
compare "2000 small files: most bytes outstanding" "${ARM[peak_outstanding]}" le 16777216
compare "2000 small files: until durable, over plain" \
	"$(arm_ratio "${ARM[durable_s]}" "$plain" 3)" le 1.2

{ many_prepare ten && many_arm ten btrfs $RATE "$LAB_WRITEPACE"; } || bail_out "$LAB_WHY"
compare "ten writers at a time: mean extent" "${ARM[mean_extent_bytes]}" ge 786432
compare "ten writers at a time: until durable, seconds" "${ARM[durable_s]}" le 9.2
done_testing
