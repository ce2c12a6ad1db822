#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# writepace --any on slow devices. Oracle: umount, which fails where somebody holds a file; and for a
# static program that copies beside an fsync loop the probe and what reaches the device, twice
# the room of what is promised.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

MB=60
RATE=10485760
any=("$LAB_WRITEPACE" --any)
copy=$LAB_TMP/copy

lab_require ext4 xfs btrfs || skip_all "$LAB_WHY"
[ -x "$lab_build/writepace-any" ] || skip_all "not built for this machine"
said=$("${any[@]}" -q true 2>&1) || skip_all "$said"
"${CC:-cc}" -O1 -static -o "$copy" "$here/../any/copy.c" || skip_all "no static libc"
arm_source $MB || bail_out "$LAB_WHY"
head -c 12M "$ARM_SOURCE" >"$LAB_TMP/small"

# --- who unmounts ------------------------------------------------------------------------

lab_make ext4 100 $RATE || bail_out "$LAB_WHY"
lab_forget
"${any[@]}" "$copy" "$LAB_TMP/small" "$LAB_MNT/a" 65536 && umount "$LAB_MNT"
is "an unmount right after it" $? 0
mount "$LAB_DEV" "$LAB_MNT" || bail_out "cannot mount $LAB_DEV again"
is "the copy" "$(cmp "$LAB_TMP/small" "$LAB_MNT/a" 2>&1)" ""

# It closes its file and becomes who unmounts: nothing has told the supervisor.
# shellcheck disable=SC2016 # perl's
"${any[@]}" sh -c '"$0" "$1" "$2/b" 65536 && exec perl -e "$3" "$2"' \
	"$copy" "$LAB_TMP/small" "$LAB_MNT" '
	open(my $c, ">", "$ARGV[0]/c") or die;
	syswrite($c, "c" x 300000) for 1 .. 4;
	close($c);
	exec("umount", $ARGV[0])'
is "an unmount inside it" $? 0
mount "$LAB_DEV" "$LAB_MNT" || bail_out "cannot mount $LAB_DEV again"
is "the copy inside" "$(cmp "$LAB_TMP/small" "$LAB_MNT/b" 2>&1)" ""

# A program that closed its file and goes on: nobody holds it after a while.
# shellcheck disable=SC2016 # the inner shell's
"${any[@]}" bash -c '"$0" "$1" "$2/d" 65536
	for ((i = 0; i < 2000; i++)); do printf "%1000d\n" $i; done >"$2/e"
	head -c 20000 "$1" >"$2/f"; echo ready; exec sleep 20' \
	"$copy" "$LAB_TMP/small" "$LAB_MNT" >"$LAB_TMP/ready" &
sleeper=$!
lab_retry grep -q ready "$LAB_TMP/ready"
lab_retry umount "$LAB_MNT"
is "an unmount while it goes on" $? 0
kill $sleeper
wait $sleeper 2>/dev/null

# --- what was never written ----------------------------------------------------------------

# A program that truncates what it wrote is not a quick device, which the next one might fill.
mount "$LAB_DEV" "$LAB_MNT" || bail_out "cannot mount $LAB_DEV again"
lab_forget
# shellcheck disable=SC2016 # perl's
"${any[@]}" perl -e '
	open(my $t, ">", "$ARGV[0]/t") or die;
	for (my $end = time + 3; time < $end; truncate($t, 0)) {
		sysseek($t, 0, 0);
		syswrite($t, "t" x 65536) for 1 .. 64;
	}' "$LAB_MNT"
limit_bytes=$("$lab_build/writepacectl" devices --json --segment="$WRITEPACE_SEGMENT" |
	awk -v id="\"$LAB_ID\"," '$1 == "\"device\":" { mine = $2 == id }
		mine && $1 == "\"limit_bytes\":" { print int($2) }')
compare "limit of a device that was truncated on, in MiB" $((${limit_bytes:-999999999} >> 20)) le 20
lab_remove "$LAB_DEV"

# --- one supervisor, two devices -----------------------------------------------------------

# Seconds of a copy to the second device while another waits for the first.
beside_slow()
{
	local slow_dev slow_mnt

	lab_make ext4 100 1048576 || bail_out "$LAB_WHY"
	slow_dev=$LAB_DEV slow_mnt=$LAB_MNT
	lab_make ext4 100 52428800 || bail_out "$LAB_WHY"
	lab_forget
	# shellcheck disable=SC2016 # the inner shell's
	"${any[@]}" bash -c '"$0" "$1" "$2/a" 65536 & sleep 2
		start=${EPOCHREALTIME/./}
		"$0" "$1" "$3/a" 65536
		echo $(((${EPOCHREALTIME/./} - start) / 1000000))
		jobs -r | wc -l
		kill %1' "$copy" "$LAB_TMP/small" "$slow_mnt" "$LAB_MNT" >"$LAB_TMP/beside"
	lab_remove "$LAB_DEV"
	lab_remove "$slow_dev"
}

beside_slow
compare "a copy of 12 MB to 50 MB/s beside one to 1 MB/s, whole seconds" \
	"$(head -n 1 "$LAB_TMP/beside")" le 2
is "the other still waits" "$(tail -n 1 "$LAB_TMP/beside")" 1

# --- beside an fsync loop -----------------------------------------------------------------

ARM_KNOWN=1
BESIDE_MB=150

# A static program: Go's, whose copies are large; without a compiler for it C's.
beside_program()
{
	# shellcheck disable=SC2016 # the inner shell's
	ARM_COPY=(sh -c 'exec "$0" "$1" "$2" 65536' "$copy")
	GOCACHE=$LAB_TMP/cache CGO_ENABLED=0 GO111MODULE=off go build -o "$LAB_TMP/gocopy" \
		"$here/../any/copy.go" 2>/dev/null && ARM_COPY=("$LAB_TMP/gocopy")
	arm_source $BESIDE_MB || bail_out "$LAB_WHY"
}

# beside FS P50_MS P99_MS SHARE
beside()
{
	arm_beside fsync "$1" $RATE $BESIDE_MB "${any[@]}" || bail_out "$LAB_WHY"
	compare "$1: $BESIDE_MB MB by ${ARM_COPY[0]##*/}: fsync beside it, p50 in ms" \
		"${ARM[fsync_p50_ms]}" le "$2"
	compare "$1: p99 in ms" "${ARM[fsync_p99_ms]}" le "$3"
	compare "$1: the copy's rate by the device's" \
		"$(arm_ratio "${ARM[rate_bps]}" $RATE 3)" ge "$4"
}

if [ -n "${WRITEPACE_LONG-}" ]; then
	beside_program
	beside ext4 8 20 0.86
	beside xfs 8 20 0.86
	beside btrfs 8 120 0.72
else
	skip "beside an fsync loop" "takes three minutes"
fi

done_testing
