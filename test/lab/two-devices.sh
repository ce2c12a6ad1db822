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
. "$here/moves.sh"

# moves PERIOD HALF_S MOST_S
moves()
{
	moves_arm "$1" || bail_out "$LAB_WHY"
	compare "period $1: seconds until the slow device has half" "${ARM[half_s]}" le "$2"
	compare "period $1: seconds until it has nine tenths" "${ARM[nine_tenths_s]}" le "$3"
}

lab_require ext4 || skip_all "$LAB_WHY"
[ -x "$lab_build/test/helper/peek" ] || skip_all "test/helper/peek is not built"

# a sixth of a period each for the first unit and for the sampling
moves 3s 18 31
moves auto 9 15
done_testing
