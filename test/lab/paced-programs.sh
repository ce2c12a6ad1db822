#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs that write through different calls, run by an ordinary user, each to a device
# never seen before. Oracle: the kernel's own count of outstanding bytes stays below
# 16 MiB of the 60 that are written, and the program does what it does without us: exit
# status 0, nothing on stderr, the right file.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

MB=60
RATE=10485760
LIMIT=16777216

as_user()
{
	lab_run setpriv --reuid nobody --regid nogroup --clear-groups \
		env -i PATH=/usr/bin:/bin HOME="$home" \
		WRITEPACE_SEGMENT="$WRITEPACE_SEGMENT" \
		SRC="$ARM_SOURCE" TAR="$tar" DIR="$LAB_MNT" DST="$target" "$@"
}

# try WHAT COMMAND: the command is run by a shell that becomes the wrapper, with SRC and
# TAR to read, DIR on the device, and DST, a file in it or the device itself.
try()
{
	local what=$1 command=$2
	local fs=ext4
	local watch_pid status

	[ "$what" != "block device" ] || fs=none
	lab_make $fs $((MB * 2)) $RATE || bail_out "$LAB_WHY"
	lab_forget
	target=$LAB_MNT/$(basename "$ARM_SOURCE")
	if [ $fs = none ]; then
		target=$LAB_DEV
		chown nobody "$LAB_DEV"
	fi

	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	as_user sh -c "exec $LAB_WRITEPACE $command" 2>"$LAB_TMP/stderr"
	status=$?
	arm_stop $watch_pid || bail_out "watching the device failed"
	lab_cap 0 || bail_out "$LAB_WHY"

	compare "$what: most bytes outstanding" \
		"$(arm_value peak_outstanding "$LAB_TMP/watch")" le $LIMIT
	is "$what: exit status" $status 0
	is "$what: stderr" "$(cat "$LAB_TMP/stderr")" ""
	is "$what: the file" "$(cmp -n $((MB * 1048576)) "$ARM_SOURCE" "$target" 2>&1)" ""
	lab_remove "$LAB_DEV" || bail_out "$LAB_WHY"
}

lab_require ext4 || skip_all "$LAB_WHY"
arm_source $MB || bail_out "$LAB_WHY"
lab_forget
target=
tar=$LAB_TMP/source.tar
home=$LAB_TMP/home
tar -c -f "$tar" -C "$LAB_TMP" source && mkdir "$home" && chown nobody "$home"
as_user test -x "$LAB_WRITEPACE" -a -r "$ARM_SOURCE" ||
	skip_all "user nobody cannot reach $LAB_WRITEPACE"

# What | program it takes | command
while IFS='|' read -r what program command; do
	if as_user sh -c "command -v $program" >/dev/null; then
		try "$what" "$command"
	else
		skip "$what" "$program is not installed"
	fi
done <<'EOF'
cp|cp|cp "$SRC" "$DST"
redirected cat|cat|cat "$SRC" >"$DST"
shutil.copyfile|python3|python3 -c "import shutil; shutil.copyfile('$SRC', '$DST')"
dd bs=100M|dd|dd if="$SRC" of="$DST" bs=100M status=none
rsync|rsync|rsync "$SRC" "$DST"
tar x|tar|tar -x -f "$TAR" -C "$DIR"
curl|curl|curl -sS "file://$SRC" -o "$DST"
block device|dd|dd if="$SRC" of="$DST" bs=1M status=none
EOF

done_testing
