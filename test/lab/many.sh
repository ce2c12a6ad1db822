# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs that write many files, one after the other or several at a time, until durable.
#
#	many_prepare cp			what it reads, in the page cache
#	many_arm cp ext4 RATE [WRAPPER...]	ARM[durable_s], peak_outstanding; of the ones
#						that dd large files also extents, mean_extent_bytes

declare -A ARM
MANY_RUN=

many_names()
{
	echo cp untar clone one ten
}

# 20,000 files of 1 to 3 KB in a hundred directories.
many_tar()
{
	python3 - "$1" <<-'END'
	import io, os, sys, tarfile
	with tarfile.open(sys.argv[1], "w") as tar:
	    for i in range(20000):
	        data = os.urandom(1000 + i * 37 % 2000)
	        entry = tarfile.TarInfo("d%d/f%d" % (i // 200, i))
	        entry.size = len(data)
	        tar.addfile(entry, io.BytesIO(data))
	END
}

many_repository()
{
	local i

	git init -q "$1" || return
	for i in {1..2000}; do
		head -c 20000 /dev/urandom >"$1/f$i"
	done
	git -C "$1" add . &&
		git -C "$1" -c user.name=lab -c user.email=lab commit -q -m files
}

# many_prepare NAME: the command of it in MANY_RUN, with $LAB_MNT in it.
many_prepare()
{
	local from=$LAB_TMP/many.$1 i

	# shellcheck disable=SC2016
	case $1 in
	cp)
		mkdir "$from"
		for i in {1..2000}; do
			head -c 20000 /dev/urandom >"$from/f$i"
		done
		MANY_RUN='cp -r "$FROM" "$LAB_MNT/copy"'
		;;
	untar)
		many_tar "$from" || lab_fail "no tar file" || return
		MANY_RUN='tar -xf "$FROM" -C "$LAB_MNT"'
		;;
	clone)
		many_repository "$from" || lab_fail "no git repository" || return
		MANY_RUN='git clone -q --no-local "$FROM" "$LAB_MNT/clone"'
		;;
	one) MANY_RUN='dd if=/dev/zero of="$LAB_MNT/w.1" bs=64k count=1280 status=none' ;;
	ten)
		MANY_RUN='for i in 1 2 3 4 5 6 7 8 9 10; do
			dd if=/dev/zero of="$LAB_MNT/w.$i" bs=64k count=128 status=none &
		done; wait'
		;;
	esac
	export FROM=$from LAB_MNT
	sync
}

many_extents()
{
	filefrag "$LAB_MNT"/w.* | sed -n 's/.*: \([0-9]*\) extents\? found/\1/p' |
		awk '{ sum += $1 } END { print sum }'
}

many_arm()
{
	local fs=$2 rate=$3
	local watch_pid start

	ARM=()
	lab_make "$fs" 600 "$rate" || return
	lab_forget
	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	start=${EPOCHREALTIME/./}
	lab_run "${@:4}" sh -c "$MANY_RUN" || lab_fail "$1 failed with status $?" || return
	lab_run sync -f "$LAB_MNT" || lab_fail "sync failed" || return
	ARM[durable_s]=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 3)
	arm_stop $watch_pid || lab_fail "watching the device failed" || return
	ARM[peak_outstanding]=$(arm_value peak_outstanding "$LAB_TMP/watch")
	case $1 in
	one | ten)
		ARM[extents]=$(many_extents)
		# shellcheck disable=SC2034
		ARM[mean_extent_bytes]=$((80 * 1048576 / ARM[extents]))
		;;
	esac
	lab_remove
}
