#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: the names in preload/calls.def against what the built library exports, both ways, and
# its relocations: thread-local storage that needs no call, no lock and no memory.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

library=${1:-$build_dir/.libs/libwritepace.so}
[ -e "$library" ] || skip_all "no preload library in this build"
for tool in nm readelf; do
	command -v $tool >/dev/null || skip_all "no $tool"
done

sed -nE 's/^(WRITE|OFFLOAD|PUT|FORMAT|OTHER|RAW)\(([^,]+),.*/\2/p' preload/calls.def | sort -u \
	>"$work/wanted"
nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u \
	>"$work/exported"
[ -s "$work/wanted" ] || bail_out "no calls in preload/calls.def"

comm -23 "$work/wanted" "$work/exported" | none "every call of calls.def is exported"
comm -13 "$work/wanted" "$work/exported" | none "nothing else is exported"

{
	readelf -rW "$library" | grep -E 'DTPMOD|DTPOFF|TLSDESC|TLS_DTP|TLSGD'
	nm -D --undefined-only "$library" | grep -E '__tls_get_addr|__emutls'
} | none "thread-local storage is initial-exec"

readelf -dW "$library" | grep -E 'TEXTREL|RPATH|RUNPATH' |
	none "no text relocations, no search path"

done_testing
