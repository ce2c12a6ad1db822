#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The observer on ext4: what it counts and shows, who may see it, how it begins and ends. What takes
# longer is in more.sh.

# shellcheck disable=SC1091,SC2119,SC2154 source-path=SCRIPTDIR
. "$(dirname "$0")/cases.sh"

begin
is "a kernel like this one: nothing is missing" "$(cat "$said")" ""
counts ext4
block_device
flushed
places
blames
restart
ends
lines
notify
unit
done_testing
