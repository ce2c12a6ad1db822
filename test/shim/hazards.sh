#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Manners inside other people's programs: the 51 hazards of a preload library, a line each. A line
# is what was tried here, or what another test found (its log where that is newer than the
# library, else it is run now), or a limit that doc/LIMITS.md owns up to. The oracle is the same
# program plain, the kernel's own word, or the summary line. WRITEPACE_LONG=1 takes more rounds.
#
# shellcheck disable=SC2016 # shells within shells

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"
. "$here/../lab/lab.sh"
. "$here/../lab/paths.sh"
. "$here/../lab/arms.sh"

# What the runner of the tests has open is no program's: some of these have four to go.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-

root=$(cd "$here/../.." && pwd)
build=$(cd "${WRITEPACE_BUILD:-$root/build}" && pwd)
library=$build/.libs/libwritepace.so
tasks=$build/test/shim/tasks
manners=$build/test/shim/manners
wrapper=$LAB_WRITEPACE
long=${WRITEPACE_LONG:-0}
unset WRITEPACE_LONG         # other tests that are asked take their usual time
limit_s=$((long ? 600 : 60)) # what takes longer hangs

# ------------------------------------------------------------- an item's line ----

# item H7 TITLE: what follows belongs to it, up to the next one.
item_wrong='' item_left='' item_tried=0 item_name=''
item()
{
	end_item
	item_name="$1 $2" item_wrong='' item_left='' item_tried=0 item_start=$SECONDS
}

end_item()
{
	[ "$item_name" ] || return 0
	find "$LAB_MNT" -mindepth 1 -not -name lost+found -delete
	echo "#   ${item_name%% *} took $((SECONDS - item_start)) s"
	if [ "$item_wrong" ]; then
		not_ok "$item_name" "${item_wrong//$'\n'/; }"
	elif [ "$item_tried" = 0 ]; then
		skip "$item_name" "${item_left:-nothing was tried}"
	else
		ok "$item_name${item_left:+ (not tried: $item_left)}"
	fi
}

wrong()
{
	item_wrong+=${item_wrong:+$'\n'}$1
}

# left REASON: a part that this machine can not do.
left()
{
	item_left+=${item_left:+, }$1
}

# want WHAT GOT WANTED
want()
{
	item_tried=$((item_tried + 1))
	[ "$2" = "$3" ] || wrong "$1: got '$2', wanted '$3'"
}

# bound WHAT GOT le|ge BOUND
bound()
{
	local said

	item_tried=$((item_tried + 1))
	said=$(compare "$1" "$2" "$3" "$4")
	[[ $said == ok* ]] || wrong "$1: got '$2', wanted $3 $4"
	echo "#   ${item_name%% *} $1: $2"
}

has()
{
	command -v "$1" >/dev/null || {
		left "no $1"
		return 1
	}
}

# found TEST PATTERN: the lines of that test (a path below the sources) that match; all must be
# good, one at least not skipped.
found()
{
	local log=$build/${1%.*}.log lines

	if [ ! "$log" -nt "$library" ] || [ ! "$log" -nt "$root/$1" ]; then
		log=$LAB_TMP/$(basename "$1").log
		[ -e "$log" ] || run_test "$1" >"$log" 2>&1
	fi
	lines=$(grep -E "^(not )?ok [0-9]+ -? ?.*($2)" "$log")
	if [ -z "$lines" ] && grep -q '^1\.\.0 # SKIP' "$log"; then
		left "$1 was skipped"
	elif [ -z "$lines" ]; then
		wrong "$1 has no case '$2'"
	elif grep -q '^not' <<<"$lines"; then
		wrong "$1: $(grep -m 1 '^not' <<<"$lines")"
	elif [ "$(grep -vc '# SKIP' <<<"$lines")" = 0 ]; then
		left "$1 was skipped"
	else
		item_tried=$((item_tried + 1))
		echo "#   ${item_name%% *} in $1: $(grep -vc '# SKIP' <<<"$lines") of '$2'"
	fi
}

run_test()
{
	case $1 in
	*.bats) WRITEPACE_BUILD=$build bats --tap "$root/$1" ;;
	*.sh) env -u WRITEPACE_HELPER -u WRITEPACE_SEGMENT -u WRITEPACE_LIMIT WRITEPACE_BUILD="$build" \
		bash "$root/$1" ;;
	*)
		env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$build" "${1%.c}" >&2 &&
			(cd "$build" && srcdir=$root CMOCKA_MESSAGE_OUTPUT=TAP "./${1%.c}")
		;;
	esac
}

# limit PATTERN: doc/LIMITS.md says so.
limit()
{
	item_tried=$((item_tried + 1))
	grep -qE "$1" "$root/doc/LIMITS.md" || wrong "doc/LIMITS.md has no '$1'"
	echo "#   ${item_name%% *} in doc/LIMITS.md: $1"
}

# ------------------------------------------------------------ plain and paced ----

# paced COMMAND...: output in $LAB_TMP/paced, the summary line in $LAB_TMP/stats.
paced()
{
	timeout $limit_s "$wrapper" --stats "$@" >"$LAB_TMP/paced" 2>"$LAB_TMP/stats"
}

stat_of()
{
	arm_value "$1" "$LAB_TMP/stats"
}

# both CASE-PROGRAM CASE [ARGUMENT...]: ends with status 0 either way.
both()
{
	local program=$1 name=$2 status

	shift 2
	"$program" "$name" "$LAB_MNT" "$@" >"$LAB_TMP/plain" 2>&1
	status=$?
	[ $status != 77 ] || {
		left "$name: not on this kernel"
		return
	}
	want "$name plain" "$status $(head -n 1 "$LAB_TMP/plain")" \
		"0 $(head -n 1 "$LAB_TMP/plain")"
	paced "$program" "$name" "$LAB_MNT" "$@"
	status=$?
	want "$name paced" "$status$(grep -v '^writepace: ' "$LAB_TMP/stats")" 0
	sed "s/^/#   ${item_name%% *} $name: /" "$LAB_TMP/paced" | head -n 1
}

# same WHAT COMMAND...: status and both outputs as plain.
same()
{
	local what=$1 plain

	shift
	plain=$(timeout 60 "$@" 2>&1 </dev/null)
	plain="$? $plain"
	want "$what" "$(
		said=$(timeout 60 "$wrapper" "$@" 2>&1 </dev/null)
		echo "$? $said"
	)" "$plain"
}

# ------------------------------------------------------------------ programs ----

compile()
{
	local out=$1

	shift
	"${CC:-cc}" -std=gnu17 -D_GNU_SOURCE -O1 -w -o "$LAB_TMP/$out" "$@" 2>"$LAB_TMP/cc"
}

make_programs()
{
	compile plug.so -shared -fPIC -x c - <<-'END' &&
	#include <unistd.h>
	ssize_t write_out(int fd, const void *data, size_t n) { return write(fd, data, n); }
	END
	compile early.so -shared -fPIC -x c - <<-'END' &&
	#include <fcntl.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <unistd.h>
	static char block[200000];
	int early;
	__attribute__((constructor)) static void begin(void)
	{
		int fd = open(getenv("EARLY_FILE"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
		FILE *file;
		write(fd, block, sizeof(block));
		pwrite(fd, block, 100000, 200000);
		dup2(fd, 90);
		close(fd);
		file = fdopen(90, "w");
		for (int i = 0; i < 1000; i++)
			fprintf(file, "%d\n", i);
		fclose(file);
	}
	END
	compile early -x c - -x none "$LAB_TMP/early.so" <<-'END' &&
	extern int early;
	int main(void) { return early; }
	END
	compile second.so -shared -fPIC -x c - <<-'END' &&
	#include <dlfcn.h>
	#include <stdio.h>
	#include <unistd.h>
	static long calls;
	ssize_t write(int fd, const void *data, size_t n)
	{
		static ssize_t (*next)(int, const void *, size_t);
		if (!next)
			*(void **)&next = dlsym(RTLD_NEXT, "write");
		__atomic_add_fetch(&calls, 1, 5);
		return next(fd, data, n);
	}
	__attribute__((destructor)) static void end(void) { dprintf(1, "%ld calls\n", calls); }
	END
	compile own -rdynamic -x c - <<-'END'
	#include <fcntl.h>
	#include <stdio.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static char block[1 << 20];
	static long calls;
	ssize_t write(int fd, const void *data, size_t n)
	{
		calls++;
		return syscall(SYS_write, fd, data, n);
	}
	int main(int argc, char **argv)
	{
		int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
		for (int i = 0; i < 16; i++)
			write(fd, block, 65536), pwrite(fd, block, sizeof(block), i << 20);
		fsync(fd);
		close(fd);
		printf("%ld calls\n", calls);
		return 0;
	}
	END
}

lab_require ext4 || skip_all "$LAB_WHY"
make_programs || skip_all "no C compiler: $(head -n 1 "$LAB_TMP/cc")"
lab_make ext4 400 52428800 || bail_out "$LAB_WHY"
lab_forget
# A small limit, so that there are pauses from the first megabytes on.
export WRITEPACE_HELPER=off WRITEPACE_LIMIT=2M
mkdir "$LAB_TMP/other"

# ----------------------------------------------------- interposition, coverage ----

item H1 "stdio bypass"
paced "$manners" streams "$LAB_MNT"
want "exit status" $? 0
want "bytes there" "$(cat "$LAB_MNT"/{fwrite,putc,fprintf,left} | wc -c)" 16776912
bound "charged of 1000 dirtied" $(($(stat_of charged) * 1000 / $(stat_of dirtied))) ge 980
bound "charged of 1000 dirtied" $(($(stat_of charged) * 1000 / $(stat_of dirtied))) le 1020
found test/shim/dirt.sh "ext4, buffered"

item H2 "huge single call"
found test/shim/results.sh "records that are mixed|ENOSPC in the middle|the same paced"
found test/lab/coverage.sh "cp.*: charged of what was dirtied"

item H3 "raw system calls, Go, static programs"
found test/cli/refuse.bats "a static program is refused|a Go program is refused"
found test/cli/refuse.bats "best effort runs a static program"
limit "static programs, Go programs"

item H4 "syscall()"
both "$tasks" numbers
found test/shim/results.sh "every call's result"

item H5 "io_uring, asynchronous writes, mapped stores"
found test/shim/dirt.sh "ext4, mapped: bytes uncovered"
found test/lab/coverage.sh "uncovered"
limit "raw system calls, io_uring, mapped stores"

item H6 "LFS64, versioned and fortified names"
found test/lint/libc.sh "every call of these families is known"
found test/lint/exports.sh "every call of calls.def is exported"
both "$manners" beyond
both "$manners" own-offsets
want "own offsets, plain and paced" "$(cat "$LAB_TMP/paced")" "$(cat "$LAB_TMP/plain")"

item H7 "musl"
found test/build/other-libc.sh "musl"

item H8 "RTLD_DEEPBIND, dlmopen"
for way in deepbind namespaces; do
	both "$manners" $way "$LAB_TMP/plug.so"
	bound "$way: bytes uncovered" "$(stat_of uncovered)" ge 8000000
done
limit "RTLD_DEEPBIND or dlmopen"

# ext4 with the maps of ext2 can not reserve blocks: libc writes into each.
item H9 "posix_fallocate emulated by libc"
image=$LAB_TMP/no-extents
if dd if=/dev/zero of="$image" bs=1M count=40 status=none &&
	mkfs.ext4 -q -F -O ^extent,^64bit "$image" 2>"$LAB_TMP/err" && mkdir "$image.mount" &&
	mount -o loop "$image" "$image.mount" 2>"$LAB_TMP/err"; then
	want "the kernel reserves none there" "$(fallocate -l 1M "$image.mount/none" 2>&1 |
		grep -c 'not supported')" 1
	paced python3 -c "import os
os.posix_fallocate(os.open('$image.mount/file', os.O_RDWR | os.O_CREAT), 0, 8 << 20)"
	want "exit status" $? 0
	want "size" "$(stat -c %s "$image.mount/file")" 8388608
	bound "blocks of 512 bytes" "$(stat -c %b "$image.mount/file")" ge 16384
	bound "bytes dirtied" "$(stat_of dirtied)" ge 8388608
	bound "bytes uncovered of $(stat_of dirtied) dirtied" "$(stat_of uncovered)" le 65536
	umount "$image.mount"
else
	left "no such file system: $(cat "$LAB_TMP/err" 2>/dev/null)"
fi

item H10 "other preloaded libraries, a program's own write()"
count=$LAB_TMP/second.so
for order in "$count" "$library:$count" "$count:$library"; do
	want "calls counted with ${order//$LAB_TMP\//}" \
		"$(LD_PRELOAD=$order "$tasks" threads "$LAB_MNT" 100)" "100 calls"
done
same "a program's own write()" "$LAB_TMP/own" "$LAB_MNT/own"
# What the constructor looks up by itself, held against dlsym().
compile next.so -shared -fPIC "$here/next.c"
for order in "" ":$count"; do
	for program in "/bin/true" "/usr/bin/python3 -c pass" "gdb --version" "git --version"; do
		has "${program%% *}" || continue
		# shellcheck disable=SC2086 # its words
		LD_PRELOAD=$LAB_TMP/next.so$order $program 2>"$LAB_TMP/next" >/dev/null
		want "next definitions, ${program%% *}${order:+, another in between}" \
			"$(grep 'is another' "$LAB_TMP/next")" ""
		bound "found, ${program%% *}" \
			"$(sed -n '1s/next: found //p' "$LAB_TMP/next")" ge 80
	done
done

# ----------------------------------------------------------- beginning and end ----

item H11 "constructors that write before ours"
for order in "$LAB_TMP/plain.early" "$LAB_TMP/paced.early"; do
	EARLY_FILE=$order LD_PRELOAD=${order/*paced*/$library} "$LAB_TMP/early" 2>/dev/null
	want "exit status" $? 0
done
want "what they wrote" "$(cmp "$LAB_TMP/plain.early" "$LAB_TMP/paced.early" 2>&1)" ""
want "size" "$(stat -c %s "$LAB_TMP/paced.early")" 300000

# What the library may call of others, all of it: no heap, no lock, no stream, no environment.
item H12 "no heap, lock, stdio, getenv or dlsym on an interposed path"
allowed='_ITM_.*|__cxa_finalize|__gmon_start__|__errno_location|__stack_chk_fail|__sysconf'
allowed+='|_?_?environ|__progname|program_invocation_short_name|stderr|stdout'
allowed+='|mem(chr|cmp|cpy|move|set)|str(chr|cmp|n?len|ncmp|cspn|spn|str)|wmemset'
allowed+='|pthread_testcancel|clock_gettime|getauxval|geteuid|getpagesize|getpid|syscall'
# In the constructor only, save for a dlsym() of a call made before it.
allowed+='|_r_debug|dlsym|fchmod|f?stat|fstatat|lstat|link|mkdir|madvise|mmap|munmap|open|read'
want "functions of others that it calls" "$(nm -D --undefined-only "$library" |
	awk '{ sub(/@.*/, "", $NF); print $NF }' | grep -vxE "$allowed")" ""
if [ "$(uname -m)" = x86_64 ] && compile strict.so -shared -fPIC "$here/strict.c"; then
	strict()
	{
		STRICT_LIBRARY=$1 LD_PRELOAD=$LAB_TMP/strict.so:$library "$manners" "$2" \
			"$LAB_MNT" 2>&1
		echo "status $?"
	}
	for way in work streams daemons locks; do
		want "$way, watched" "$(strict libwritepace "$way" | tail -n 1)" "status 0"
	done
	want "the watch can bite" "$(ulimit -c 0; strict libc.so streams 2>&1 | tail -n 1)" \
		"status 134"
fi
found test/lint/exports.sh "thread-local storage is initial-exec"
found test/lint/style.sh "no heap|no stdio"

item H13 "the end: threads that write, quick_exit, abort"
both "$tasks" leave

item H14 "AT_SECURE"
found test/cli/refuse.bats "a set-uid program of another user is refused"
if compile secure "$here/manners.c" -pthread "$library" -Wl,-rpath,"${library%/*}" \
	-Wl,--no-as-needed && chmod 4755 "$LAB_TMP/secure" && has setpriv; then
	want "linked, not set-uid" "$("$LAB_TMP/secure" maps / | sort -u)" \
		$'library\nsegment'
	want "linked, set-uid" "$(setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$LAB_TMP/secure" maps / 2>&1 | sort -u)" library
fi

item H15 "sanitizers"
for sanitizer in address undefined thread; do
	if compile work.$sanitizer -g -fsanitize=$sanitizer -pthread "$here/manners.c"; then
		same "$sanitizer" "$LAB_TMP/work.$sanitizer" work "$LAB_MNT"
	else
		left "no -fsanitize=$sanitizer"
	fi
done
found test/cli/options.bats "a program with a dynamic ASan runtime keeps it in front"

item H16 "valgrind, gdb, strace"
has valgrind && {
	# It names the calls it does not know, and answers ENOSYS.
	for how in "$wrapper valgrind -q" "valgrind -q --trace-children=yes $wrapper"; do
		want "$how" "$($how "$manners" work "$LAB_MNT" 2>&1 | grep -v '^--')" worked
	done
}
# A name of each run's own: processes have numbers.
has gdb && for how in "$wrapper gdb" "gdb"; do
	preload=()
	[ "$how" != gdb ] || preload=(-ex "set environment LD_PRELOAD $library")
	# shellcheck disable=SC2086
	want "$how" "$($how -nx -q -batch "${preload[@]}" -ex run --args "$manners" work \
		"$LAB_MNT" 2>/dev/null </dev/null | grep -cE '^worked|exited normally')" 2
done
has strace && {
	same "strace under us" strace -f -o "$LAB_TMP/trace" "$manners" work "$LAB_MNT"
	want "strace around us" "$(strace -f -o "$LAB_TMP/trace" "$wrapper" "$manners" work \
		"$LAB_MNT" 2>&1)" worked
}

item H17 "allocators"
for name in jemalloc mimalloc; do
	allocator=$(ldconfig -p | awk -v name="lib$name.so" 'index($1, name) { print $NF; exit }')
	[ "$allocator" ] || {
		left "no $name"
		continue
	}
	for order in "$allocator:$library" "$library:$allocator"; do
		want "preloaded ${order//\/*\//}" "$(LD_PRELOAD=$order "$manners" work \
			"$LAB_MNT" 2>&1)" worked
	done
	compile work.$name -pthread "$here/manners.c" "$allocator" &&
		same "$name linked" "$LAB_TMP/work.$name" work "$LAB_MNT"
done
# In the program itself, for all libraries: its own begins to work before our constructor.
if compile work.static -rdynamic -pthread "$here/manners.c" -Wl,-Bstatic -ljemalloc \
	-Wl,-Bdynamic -ldl -lm -lstdc++; then
	same "jemalloc linked statically" "$LAB_TMP/work.static" work "$LAB_MNT"
else
	left "no static jemalloc"
fi

# ------------------------------------------------------ processes and threads ----

item H18 "fork in a program with threads"
both "$tasks" forks $((long ? 10000 : 500))

item H19 "vfork, posix_spawn, clone"
for way in vforks spawns clones; do
	both "$tasks" $way
done

item H20 "fork, vfork and clone are not wrapped"
want "exported" "$(nm -D --defined-only "$library" | grep -E ' (v?fork|clone3?|posix_spawnp?)$')" ""

item H21 "checks for a single thread: unshare, bubblewrap"
same "unshare" unshare -U true
has bwrap && same "bwrap" bwrap --ro-bind / / --unshare-user true
found test/shim/trace.sh "no descriptor and no thread of ours"

item H22 "short threads"
both "$tasks" threads
bound "charged of 40960000" "$(stat_of charged)" ge 40140000

item H23 "exec, chains of it"
paced sh -c 'for i in 1 2 3 4 5 6 7 8; do for j in 1 2 3 4; do
	head -c 1M /dev/zero >"$1/one.$i.$j"; done; done' - "$LAB_MNT"
bound "32 programs of 1 MiB, sleeps" "$(stat_of sleeps)" ge 1
cat >"$LAB_TMP/chain" <<-'END'
	#!/bin/sh
	head -c 100000 /dev/zero >>"$1"
	[ "$2" -le 1 ] || exec "$0" "$1" $(($2 - 1))
END
chmod +x "$LAB_TMP/chain"
paced "$LAB_TMP/chain" "$LAB_MNT/chain" 20
want "bytes of twenty links" "$? $(stat -c %s "$LAB_MNT/chain")" "0 2000000"
limit "a program that replaces itself"

item H24 "many tasks"
found test/sim/scenarios.sh "many-slow: (outstanding|throughput)"
found test/lab/shares.sh "Jain's index"
lab_cap 5242880
setsid "$wrapper" sh -c 'i=0
	while [ $((i += 1)) -le 64 ]; do dd if=/dev/zero of="$1/many.$i" bs=64k status=none & done
	wait' - "$LAB_MNT" &
writers=$!
most=0
for _ in {1..25}; do
	lab_run sleep 0.2
	now=$(arm_outstanding)
	[ "$now" -le "$most" ] || most=$now
done
bound "64 dd at 5 MB/s: most outstanding" "$most" le 16777216
bound "and at the end" "$now" le 8388608
bound "of 64 that wrote 64 KiB" "$(find "$LAB_MNT" -name 'many.*' -size +63k | wc -l)" ge 60
start=${EPOCHREALTIME/./}
kill -TERM -- -$writers
# Dead is enough: who collects them is the machine's affair.
lab_retry eval "! ps -o stat= -g $writers | grep -qv Z"
bound "ended by a signal, ms" $(((${EPOCHREALTIME/./} - start) / 1000)) le 1500
wait $writers
lab_cap 52428800

item H25 "sudo, ssh"
found test/cli/refuse.bats "sudo is refused with the command|ssh gets a note"
limit "set-uid programs, sudo"

# ------------------------------------------------------------ signals and time ----

item H26 "signals during a pause"
both "$tasks" timer
both "$tasks" handler
for block in 64k 16M; do
	waits=()
	for round in 1 2 3; do
		env --default-signal=INT "$wrapper" dd if=/dev/zero of="$LAB_MNT/int" \
			bs=$block status=none &
		writer=$!
		sleep 0.5
		start=${EPOCHREALTIME/./}
		kill -INT $writer
		wait $writer
		status=$?
		waits+=($(((${EPOCHREALTIME/./} - start) / 1000)))
		want "status, round $round" $status 130
	done
	bound "Ctrl-C, blocks of $block: ms, the middle of ${waits[*]}" \
		"$(printf '%s\n' "${waits[@]}" | sort -n | sed -n 2p)" le 250
	bound "the longest of them" "$(printf '%s\n' "${waits[@]}" | sort -n | tail -n 1)" le 3000
	rm -f "$LAB_MNT/int"
done

item H27 "long jump out of a pause"
both "$tasks" jump

item H28 "a handler that writes"
both "$tasks" handler $((long ? 4000 : 200))

item H29 "cancellation"
both "$tasks" cancel
bound "cancelled asleep of 12" "$(sed -n 's/ of .*//p' "$LAB_TMP/paced")" ge 1

item H30 "errno"
found test/shim/results.sh "every call's result|exit status"

item H31 "never slept for: pipes, sockets, memory, direct and synchronous writes"
both "$manners" classes /dev/shm
want "sleeps" "$(stat_of sleeps)" 0
want "bytes charged" "$(stat_of charged)" 0

item H32 "suspend, clock steps, huge debt"
found test/unit/test_damage.c "ahead"
found test/unit/test_pause.c "credit_over_a_second|longest_pause"

item H33 "watchdogs: no pause is longer than 200 ms"
found test/unit/test_pause.c "at_the_wall_it_is_the_longest_pause"
same "timeout" timeout 20 "$tasks" threads "$LAB_MNT" 500

# --------------------------------------------------------- descriptors, locks ----

item H34 "POSIX locks"
both "$manners" locks
has sqlite3 && same "sqlite" sqlite3 "$LAB_MNT/base" "DROP TABLE IF EXISTS t;
	CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
	WHERE i < 20000) INSERT INTO t SELECT hex(randomblob(100)) FROM n;
	PRAGMA integrity_check; SELECT count(*) FROM t;"

item H35 "flock, ETXTBSY, unmount right after close"
both "$manners" build /bin/true
paced sh -c 'cp "$1" "$2/last" && umount "$2"' - "$tasks" "$LAB_MNT"
want "unmount" "$?$(findmnt -n -o TARGET "$LAB_MNT")" 0
mount "$LAB_DEV" "$LAB_MNT"
want "the copy" "$(cmp "$tasks" "$LAB_MNT/last" 2>&1)" ""

item H36 "a descriptor replaced behind our back"
both "$manners" replaced "$LAB_TMP/other"
limit "descriptors closed inside libc and used again"
case $(stat -f -c %T "$LAB_TMP") in
tmpfs | overlayfs) left "one device only" ;;
*) want "devices" "$(stat_of devices | tr ',' '\n' | wc -l)" 2 ;;
esac

item H37 "close-all daemons, few descriptors, numbers as without"
both "$manners" daemons
both "$manners" few
both "$manners" numbers
want "descriptors" "$(diff "$LAB_TMP/plain" "$LAB_TMP/paced")" ""
same "ls" ls /proc/self/fd
head -c 3M /dev/urandom >"$LAB_TMP/three"
want "cat with four" "$(LD_PRELOAD=$library prlimit --nofile=4 cat <"$LAB_TMP/three" 2>&1 \
	>"$LAB_MNT/three"; cmp "$LAB_TMP/three" "$LAB_MNT/three" 2>&1)" ""
found test/cli/options.bats "no descriptor is added"

item H38 "descriptors that come from elsewhere"
both "$manners" passed
want "passed by SCM_RIGHTS: device" "$(stat_of devices)" "$LAB_ID"
paced head -c 8M /dev/zero
paced sh -c 'exec head -c 8M /dev/zero >"$1"' - "$LAB_MNT/redirected"
want "redirected: device" "$(stat_of devices)" "$LAB_ID"

item H39 "the device behind a number"
found test/helper/helper.sh "two subvolumes, one device"
found test/unit/test_helper_devices.c "."
limit "overlayfs"

# ----------------------------------------------------------------- environment ----

# A folder with nothing but the system's programs, the library and a place to write.
item H40 "no /proc, no /dev/shm, read-only root"
jail=$LAB_TMP/jail
mkdir -p "$jail"/{usr,out,library}
for link in bin lib lib32 lib64; do
	[ ! -L "/$link" ] || cp -a "/$link" "$jail"
done
want "chroot" "$(unshare -m sh -c 'mount --bind /usr "$1/usr" &&
	mount --bind "$2" "$1/out" && mount --bind "$3" "$1/library" &&
	LC_ALL=C WRITEPACE_STATS=1 chroot "$1" /usr/bin/env \
		LD_PRELOAD=/library/libwritepace.so \
		dd of=/out/jailed bs=64k count=480 iflag=fullblock status=none' \
	- "$jail" "$LAB_MNT" "${library%/*}" 2>&1 </dev/zero |
	sed 's/.*charged=\([0-9]*\) .*sleeps=\([0-9]*\).*/\1 \2/;
		s/ [1-9][0-9]*$/ slept/')" "31457280 slept"
want "its file" "$(stat -c %s "$LAB_MNT/jailed")" 31457280
has bwrap && {
	paced bwrap --ro-bind / / --bind "$LAB_MNT" "$LAB_MNT" \
		dd of="$LAB_MNT/read-only" bs=64k count=320 iflag=fullblock status=none </dev/zero
	want "read-only root" "$? $(stat -c %s "$LAB_MNT/read-only")" "0 20971520"
}

item H41 "a damaged, truncated or foreign segment"
found test/unit/test_damage.c "damaged_segment_neither_crashes_nor_hangs"
found test/unit/test_segment.c "."
limit "cuts off the file of his own segment"

item H42 "sandboxes in mid-run: seccomp, landlock, capset, setuid"
for way in filter-prctl filter-numbered landlock rights; do
	both "$manners" $way
done
both "$manners" filter-before "$manners"
said=$("$manners" filter-end "$LAB_MNT" "$wrapper" 2>&1)
want "a filter that would end it: status" $? 125
want "and the reason" "$(grep -c '^writepace: a filter on system calls' <<<"$said")" 1
limit "seccomp filter"

item H43 "AppArmor, SELinux"
if [ -e /sys/kernel/security/apparmor ] && has aa-exec; then
	same "aa-exec" aa-exec -p unconfined "$tasks" threads "$LAB_MNT" 100
else
	left "this kernel confines nobody"
fi

item H44 "programs of 32 bits"
found test/build/other-libc.sh "32-bit"
limit "programs of 32 bits"

item H45 "a path that LD_PRELOAD cannot carry"
found test/cli/refuse.bats "a library whose path LD_PRELOAD cannot carry"

item H46 "nested use"
found test/cli/options.bats "wrapped twice"

item H47 "no rseq"
want "threads" "$(GLIBC_TUNABLES=glibc.pthread.rseq=0 "$wrapper" "$tasks" threads "$LAB_MNT" \
	200 2>&1; echo $?)" 0

# ----------------------------------------------------------------- the device ----

item H48 "wrong feedback: unknown, stalled, changed"
found test/sim/scenarios.sh "stall: seconds of the longest visit|slower: |faster: "
found test/lab/paced-limits.sh "a device nobody knows"

item H49 "throughput on a fast device"
found test/lab/paced-fast.sh "throughput, paced over plain"

item H50 "rewriting dirty pages is not new dirt"
found test/shim/dirt.sh "ext4, rewrite"

# The counts of each request that a file system in user space gets.
item H51 "side effects of sync_file_range; what FUSE sees"
found test/shim/trace.sh "no WAIT flag|writeback started"
fuse_requests()
{
	local mount=$LAB_TMP/fuse pid

	rm -rf "$LAB_MNT/fuse"
	mkdir -p "$mount" "$LAB_MNT/fuse"
	bindfs -d "$LAB_MNT/fuse" "$mount" >/dev/null 2>"$LAB_TMP/fuse.log" &
	pid=$!
	lab_retry mountpoint -q "$mount" || return
	"$@" "$manners" streams "$mount"
	"$@" sh -c 'cp "$1" "$2/copy" && dd if="$1" of="$2/dd" bs=4k conv=fsync status=none' \
		- "$tasks" "$mount"
	umount "$mount"
	wait $pid
	grep -oE 'opcode: (FLUSH|RELEASE|FSYNC|OPEN|CREATE)' "$LAB_TMP/fuse.log" | sort | uniq -c
}
if [ -e /dev/fuse ] && has bindfs; then
	plain=$(fuse_requests env)
	bound "files closed" "$(awk '/RELEASE/ { print $1 }' <<<"$plain")" ge 6
	want "requests" "$(fuse_requests "$wrapper")" "$plain"
fi

end_item
done_testing
