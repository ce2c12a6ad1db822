# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs that write, most of them many files, one after the other or several at a time, until
# durable.
#
#	many_prepare cp			what it reads, in the page cache
#	many_arm cp ext4 RATE [WRAPPER...]	ARM[durable_s], sync_s (its last part), peak_outstanding;
#						of the ones that dd large files also extents,
#						mean_extent_bytes; fsyncs_s where the program says it

declare -A ARM
MANY_RUN=
# shellcheck disable=SC2034 # of many_arm
MANY_METRICS="durable_s sync_s peak_outstanding extents mean_extent_bytes fsyncs_s"

# many_names SET full|quick
many_names()
{
	case $1:$2 in
	many-files:quick) echo cp ten ;;
	many-files:full) echo cp untar clone one ten ;;
	programs:quick) echo rsync dpkg pieces checkpoint ;;
	programs:full) echo rsync dpkg qemu build pieces checkpoint bursts kernel ;;
	esac
}

# many_tar FILE NUMBER LEAST SPREAD: files of LEAST to LEAST + SPREAD bytes, 200 in a directory.
many_tar()
{
	python3 - "$@" <<-'END'
	import io, os, sys, tarfile
	nr, least, spread = map(int, sys.argv[2:])
	with tarfile.open(sys.argv[1], "w") as tar:
	    for i in range(nr):
	        data = os.urandom(least + i * 37 % spread)
	        entry = tarfile.TarInfo("d%d/f%d" % (i // 200, i))
	        entry.size = len(data)
	        tar.addfile(entry, io.BytesIO(data))
	END
}

# many_small DIRECTORY: 2000 files of 20 kB.
many_small()
{
	local i

	mkdir "$1" || return
	for i in {1..2000}; do
		head -c 20000 /dev/urandom >"$1/f$i"
	done
}

# A package of 20 MB in 100 files. dpkg syncs what it unpacks by itself.
many_package()
{
	local tree=$LAB_TMP/many.package i

	mkdir -p "$tree/DEBIAN" "$tree/opt/many" || return
	printf '%s\n' "Package: many" "Version: 1" "Architecture: all" \
		"Maintainer: lab <lab@localhost>" "Description: files" >"$tree/DEBIAN/control"
	for i in {1..100}; do
		head -c 200000 /dev/urandom >"$tree/opt/many/f$i"
	done
	dpkg-deb -b -Znone "$tree" "$1" >/dev/null
}

# Forty objects of half a megabyte, and a program of them.
# shellcheck disable=SC2016 # for make
many_sources()
{
	local i

	mkdir "$1" || return
	for i in {1..40}; do
		echo "char blob${i}[500000] = {$i}; int f$i(int x) { return x + $i; }" >"$1/f$i.c"
	done
	echo 'int main(void) { return 0; }' >"$1/main.c"
	printf 'objects = $(patsubst $(FROM)/%%.c,%%.o,$(wildcard $(FROM)/*.c))\n%s\n%s\n' \
		'program: $(objects)' '	$(CC) -o $@ $^' >"$1/Makefile"
	printf '%s\n' '%.o: $(FROM)/%.c' '	$(CC) -c -o $@ $<' >>"$1/Makefile"
}

# A game's download: a file reserved, then pieces of 1 MB in any order. 60 MB.
many_pieces()
{
	cat <<-'END'
	import os, random, sys
	fd = os.open(sys.argv[1] + "/game", os.O_RDWR | os.O_CREAT)
	os.posix_fallocate(fd, 0, 60 << 20)
	pieces = list(range(60))
	random.Random(1).shuffle(pieces)
	data = os.urandom(1 << 20)
	for i in pieces:
	    os.pwrite(fd, data, i << 20)
	END
}

# A checkpoint: 900 files of 60 KB are written, then each is synced; says how long that took.
many_checkpoint()
{
	cat <<-'END'
	import os, sys, time
	fds = []
	data = os.urandom(60000)
	for i in range(900):
	    fds.append(os.open("%s/file%d" % (sys.argv[1], i), os.O_WRONLY | os.O_CREAT))
	    os.write(fds[-1], data)
	start = time.monotonic()
	for fd in fds:
	    os.fsync(fd)
	open(sys.argv[2], "w").write("%.3f" % (time.monotonic() - start))
	END
}

# A simulation: five bursts of 40 MB, 6 s of computing after each.
many_bursts()
{
	cat <<-'END'
	import os, sys, time
	data = os.urandom(1 << 20)
	for i in range(5):
	    with open("%s/burst%d" % (sys.argv[1], i), "wb", buffering=0) as f:
	        for _ in range(40):
	            f.write(data)
	    time.sleep(6)
	END
}

# many_need PACKAGE PROGRAM
many_need()
{
	install_program "$1" "$2" || lab_fail "$1 is not installed"
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
	local from=$LAB_TMP/many.$1

	unset WRITEPACE_BURST
	# shellcheck disable=SC2016
	case $1 in
	cp)
		many_small "$from"
		MANY_RUN='cp -r "$FROM" "$LAB_MNT/copy"'
		;;
	untar)
		many_tar "$from" 20000 1000 2000 || lab_fail "no tar file" || return
		MANY_RUN='tar -xf "$FROM" -C "$LAB_MNT"'
		;;
	kernel)
		many_tar "$from" 60000 1000 31000 || lab_fail "no tar file" || return
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
	rsync)
		many_need rsync rsync && many_small "$from" || return
		head -c 20M /dev/urandom >"$from/large"
		MANY_RUN='rsync -a "$FROM/" "$LAB_MNT/copy/"'
		;;
	dpkg)
		many_need dpkg dpkg-deb && many_package "$from" || return
		MANY_RUN='mkdir -p "$LAB_MNT/var/lib/dpkg/info" "$LAB_MNT/var/lib/dpkg/updates" &&
			: >"$LAB_MNT/var/lib/dpkg/status" &&
			dpkg --root="$LAB_MNT" --log=/dev/null -i "$FROM" >/dev/null'
		;;
	qemu)
		many_need qemu-utils qemu-img || return
		head -c 60M /dev/urandom >"$from"
		MANY_RUN='qemu-img convert -f raw -O qcow2 "$FROM" "$LAB_MNT/disk"'
		;;
	build)
		many_need make make && many_need gcc cc && many_sources "$from" || return
		MANY_RUN='make -s -j2 -C "$LAB_MNT" -f "$FROM/Makefile" FROM="$FROM" CC=cc'
		;;
	pieces | checkpoint | bursts)
		"many_$1" >"$from"
		[ "$1" != bursts ] || export WRITEPACE_BURST=50M
		MANY_RUN='python3 "$FROM" "$LAB_MNT" "$SAID"'
		;;
	*) lab_fail "no program '$1'" || return ;;
	esac
	export FROM=$from SAID=$LAB_TMP/many.said LAB_MNT
	sync -f "$LAB_TMP"
}

many_extents()
{
	filefrag "$LAB_MNT"/w.* | sed -n 's/.*: \([0-9]*\) extents\? found/\1/p' |
		awk '{ sum += $1 } END { print sum }'
}

many_device_mb()
{
	case $1 in
	kernel) echo 1800 ;;
	*) echo 600 ;;
	esac
}

many_arm()
{
	local fs=$2 rate=$3
	local watch_pid start ran

	ARM=()
	rm -f "$SAID"
	lab_make "$fs" "$(many_device_mb "$1")" "$rate" || return
	lab_forget
	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	start=${EPOCHREALTIME/./}
	lab_run "${@:4}" sh -c "$MANY_RUN" || lab_fail "$1 failed with status $?" || return
	ran=${EPOCHREALTIME/./}
	lab_run sync -f "$LAB_MNT" || lab_fail "sync failed" || return
	ARM[durable_s]=$(arm_ratio $((${EPOCHREALTIME/./} - start)) 1000000 3)
	ARM[sync_s]=$(arm_ratio $((${EPOCHREALTIME/./} - ran)) 1000000 3)
	arm_stop $watch_pid || lab_fail "watching the device failed" || return
	ARM[peak_outstanding]=$(arm_value peak_outstanding "$LAB_TMP/watch")
	[ ! -e "$SAID" ] || ARM[fsyncs_s]=$(cat "$SAID")
	case $1 in
	one | ten)
		ARM[extents]=$(many_extents)
		# shellcheck disable=SC2034
		ARM[mean_extent_bytes]=$((80 * 1048576 / ARM[extents]))
		;;
	esac
	lab_remove
}
