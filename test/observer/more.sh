#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The observer on other file systems, and beside paced programs: it is killed, and limits are held
# where files can not be asked. Takes two minutes: part of check-long.

# shellcheck disable=SC1091,SC2034,SC2154 source-path=SCRIPTDIR
. "$(dirname "$0")/cases.sh"

begin --syncs
for fs in xfs btrfs; do
	seen_syncs=$fs
	if lab_require $fs; then
		counts $fs
	else
		skip "$fs" "$LAB_WHY"
	fi
done
in_flight
ends
paced
held
done_testing
