#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The Debian package: it builds, and what it installs paces a copy. Installed is over a /usr that
# nobody else sees. Takes a minute: part of check-long.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"

unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
root=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d /var/tmp/writepace-package.XXXXXX)
trap 'rm -rf "$tmp"' EXIT

for tool in dpkg-buildpackage dh git; do
	command -v $tool >/dev/null || skip_all "no $tool"
done
[ "$(id -u)" = 0 ] || skip_all "installing needs root"

mkdir "$tmp/tree" "$tmp/root"
git -C "$root" archive HEAD | tar -x -C "$tmp/tree" || bail_out "no tree to build from"
(cd "$tmp/tree" && dpkg-buildpackage -b -us -uc >"$tmp/log" 2>&1)
is "the package builds" "$?:$(grep -E '(warning|error):' "$tmp/log" | grep -v 'libtool --finish')" 0:
deb=$(echo "$tmp"/writepace_*.deb)
[ -e "$deb" ] || bail_out "$(tail -n 3 "$tmp/log" | tr '\n' ' ')"
is "the library is where every loader finds it" \
	"$(dpkg-deb -c "$deb" | grep -cE '/usr/lib/[a-z0-9_]+-linux-gnu[a-z0-9]*/libwritepace.so$')" 1
is "the observer is a package of its own: program, unit, page" \
	"$(dpkg-deb -c "$tmp"/writepace-observer_*.deb | grep -cE \
		'/(sbin/writepace-observer|writepace-observer\.service|writepace-observer\.8\.gz)$'):$(dpkg-deb \
		-c "$deb" | grep -c observer)" 3:0
dpkg-deb -x "$deb" "$tmp/root"
unshare -m sh -c "mount -t overlay none -o lowerdir=$tmp/root/usr:/usr /usr && exec $tmp/tree/debian/tests/copy" \
	>"$tmp/log" 2>&1
is "what it installs paces a copy" "$?:$(grep -c '^writepace: cp' "$tmp/log")" 0:1
sed 's/^/# /' "$tmp/log"
done_testing
