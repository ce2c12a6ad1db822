# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Where the built programs are. WRITEPACE_BUILD names the build directory; without it,
# build/ in the source tree.

lab_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
lab_build=${WRITEPACE_BUILD:-$lab_source/build}

export LAB_DIRTIED=$lab_build/test/lab/dirtied
export LAB_PROBE=$lab_build/test/lab/probe
export LAB_WATCH=$lab_build/test/lab/watch
export LAB_WRITEPACE=$lab_build/writepace
