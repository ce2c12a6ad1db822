# shellcheck shell=bash
# shellcheck disable=SC2015,SC2016,SC2034,SC2154 # shared with the laboratory, shells of their own
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Published table 3: what syncs or reads beside a writer.
#
#	readers_arm FS SPAN_S VARIANT		fs_mark and a reader: ARM[files_fps], reader_bps,
#						written_bps
#	readers_start_arm FS RATE MB VARIANT	the cold start of a large program: ARM[start_s]
#
# VARIANT  alone (nothing else writes), plain, writepace (the writer is paced), hold-100ms and
#          hold-0 (fs_mark is paced too, with that WRITEPACE_SYNC_HOLD)

declare -A ARM
READERS_RATE=26214400
READERS_SETTLE_S=5 # until it is known who else is there, and what was outstanding has drained
READERS_COPIES="1 2 3"

# What is cold is read from the device: nothing of it was in memory since the mount.
readers_remount()
{
	sync -f "$LAB_MNT" && umount "$LAB_MNT" && mount "$LAB_DEV" "$LAB_MNT" ||
		lab_fail "cannot mount $LAB_DEV again"
}

# Bytes read from the device since it exists.
readers_read()
{
	local fields

	read -r -a fields <"/sys/block/${LAB_DEV#/dev/}/stat"
	echo $((fields[2] * 512))
}

# readers_writer VARIANT MB: in the background, two seconds ahead. It ends with an fsync: plain,
# nothing of it would be written while we look.
readers_writer()
{
	local run=()

	[ "$1" != alone ] || return 0
	[ "$1" = plain ] || run=("$LAB_WRITEPACE")
	setsid "${run[@]}" dd if=/dev/zero of="$LAB_MNT/big" bs=4k count=$(($2 * 256)) conv=fsync \
		status=none &
	readers_pids+=($!)
	lab_run sleep 2
}

readers_marker()
{
	local run=()

	case $1 in
	hold-*) run=(env WRITEPACE_SYNC_HOLD="${1#hold-}" "$LAB_WRITEPACE") ;;
	esac
	mkdir "$LAB_MNT/marks"
	# Why not its full name: fs_mark takes no long ones.
	setsid env -C "$LAB_MNT" "${run[@]}" fs_mark -d marks -s 8192 -n 100 -L 100000 -t 1 -S 1 -k \
		-l "$LAB_TMP/marks" >/dev/null 2>&1 &
	readers_pids+=($!)
}

readers_end()
{
	local pid

	for pid in "${readers_pids[@]}"; do
		{ kill -KILL -- -"$pid" && wait "$pid"; } 2>/dev/null
	done
}

readers_files()
{
	find "$LAB_MNT/marks" -type f | wc -l
}

readers_arm()
{
	local fs=$1 span=$2 mb=$((READERS_RATE * ($2 + READERS_SETTLE_S + 3) / 1048576))
	local readers_pids=() files read written start took

	ARM=()
	lab_make "$fs" "$(arm_device_mb $((mb * 2)))" $READERS_RATE || return
	lab_forget
	lab_cap 0
	dd if=/dev/zero of="$LAB_MNT/read" bs=1M count="$mb" status=none || lab_fail "no room" ||
		return
	readers_remount || return
	lab_cap $READERS_RATE && lab_cap_reads $READERS_RATE || return
	readers_writer "$3" "$mb"
	setsid dd if="$LAB_MNT/read" of=/dev/null bs=1M status=none &
	readers_pids+=($!)
	readers_marker "$3"
	lab_run sleep $READERS_SETTLE_S
	[ "$(readers_files)" -gt 0 ] || [ "$3" != alone ] || lab_fail "fs_mark makes no file" ||
		return
	files=$(readers_files) read=$(readers_read) written=$(lab_written)
	start=${EPOCHREALTIME/./}
	lab_run sleep "$span"
	took=$((${EPOCHREALTIME/./} - start))
	ARM[written_bps]=$((($(lab_written) - written) * 1000000 / took))
	ARM[reader_bps]=$((($(readers_read) - read) * 1000000 / took))
	ARM[files_fps]=$(arm_ratio $((($(readers_files) - files) * 1000000)) $took 1)
	lab_cap 0 && lab_cap_reads 0
	readers_end
	rm -f "$LAB_MNT/big"
	lab_remove
}

# --- the start of a large program ---------------------------------------------------------

readers_python=/usr/bin/python3
readers_imports="import asyncio, concurrent.futures, ctypes, decimal, difflib, email.mime.multipart,
http.server, json, logging.config, multiprocessing.pool, pydoc, sqlite3, ssl, tarfile, unittest.mock,
urllib.request, xml.dom.minidom, xml.etree.ElementTree, xmlrpc.server, zipfile"

# Each copy is started once: a second start would be warm.
readers_copies()
{
	local library to

	library=$($readers_python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))') ||
		lab_fail "no $readers_python" || return
	for to in $READERS_COPIES; do
		to=$LAB_MNT/copy.$to/lib/${library##*/}
		mkdir -p "$to"
		tar -C "$library" --exclude=test --exclude=dist-packages --exclude='config-*' -c . |
			tar -C "$to" -x || lab_fail "no copy of $library" || return
	done
}

readers_start()
{
	env PYTHONHOME="$LAB_MNT/copy.$1" PYTHONDONTWRITEBYTECODE=1 $readers_python -S -c \
		"${readers_imports//$'\n'/ }"
}

readers_start_arm()
{
	local fs=$1 rate=$2 mb=$3
	local readers_pids=() copy start

	ARM=()
	lab_make "$fs" "$(arm_device_mb $((mb + 150)))" "$rate" || return
	lab_forget
	lab_cap 0
	readers_copies && readers_remount && lab_cap "$rate" || return
	readers_writer "$4" "$mb"
	for copy in $READERS_COPIES; do
		start=${EPOCHREALTIME/./}
		readers_start "$copy" || lab_fail "the program does not start" || return
		echo $((${EPOCHREALTIME/./} - start))
	done | sort -n >"$LAB_TMP/starts"
	ARM[start_s]=$(awk '{ v[NR] = $1 } END { printf "%.3f", v[int((NR + 1) / 2)] / 1e6 }' \
		"$LAB_TMP/starts")
	lab_cap 0
	readers_end
	rm -f "$LAB_MNT/big"
	lab_remove
}
