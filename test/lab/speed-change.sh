#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A device becomes ten times slower, and faster, while it is written to. Oracle: what is
# outstanding by the kernel's count, and what reaches the device. A minute and a half, so
# not part of the short tests.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

FAST=41943040
SLOW=4194304

lab_require ext4 || skip_all "$LAB_WHY"

arm_change ext4 $FAST $SLOW "$LAB_WRITEPACE" || bail_out "$LAB_WHY"
compare "slower: seconds until 2 s of it are outstanding" "${ARM[settled_s]}" le 10
compare "slower: share used in the tenth second" "${ARM[used_share]}" ge 0.8
arm_change ext4 $SLOW $FAST "$LAB_WRITEPACE" || bail_out "$LAB_WHY"
compare "faster: seconds until 2 s of it are outstanding" "${ARM[settled_s]}" le 10
compare "faster: share used in the tenth second" "${ARM[used_share]}" ge 0.8

done_testing
