#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs that no library reaches, under writepace --any. Oracle: the same without it: files, output,
# exit status; what they dirtied by the kernel's count is what was charged; nobody is left
# behind.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"
. "$here/../lab/arms.sh"

build=${WRITEPACE_BUILD:-$here/../../build}
writepace=$build/writepace
export LC_ALL=C WRITEPACE_SEGMENT=any-$$

[ -x "$build/writepace-any" ] || skip_all "not built for this machine"
tmp=$(mktemp -d /var/tmp/writepace-any.XXXXXX) || exit 1
trap 'rm -rf "$tmp" /dev/shm/writepace-*/segment*.any-$$ /run/user/*/segment*.any-$$' EXIT
cd "$tmp" || exit 1

said=$("$writepace" --any -q true 2>&1) || skip_all "$said"
cc=${CC:-cc}
"$cc" -O1 -static -o copy "$here/copy.c" 2>/dev/null || skip_all "no static libc"
head -c 8M /dev/urandom >source

# Within three seconds.
until_true()
{
	local left=60

	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return
		sleep 0.05
	done
}

# shellcheck disable=SC2317 # until_true
is_gone()
{
	[ -z "$(arm_ours "$1")" ]
}

# copies NAME COMMAND...: makes `target` like `source`. Not all dirt is charged: the kernel counts
# what new names cost a file system with it.
copies()
{
	local name=$1

	shift
	rm -f target
	timeout 60 "$writepace" --any --stats "$@" >out 2>stats
	is "$name: exit status" $? 0
	is "$name: the copy" "$(cmp source target 2>&1)" ""
	compare "$name: charged of 1000 dirtied" "$(awk -v a="$(arm_value charged stats)" \
		-v b="$(arm_value dirtied stats)" 'BEGIN { print int(a * 1000 / (b ? b : 1)) }')" ge 800
	compare "$name: charged bytes" "$(arm_value charged stats)" ge $((${MB:-8} << 20))
}

# --- programs -----------------------------------------------------------------------------

copies "static C" ./copy source target 65536
copies "static C, 1 MiB" ./copy source target 1048576
copies "dynamic" cp source target
if "$cc" -m32 -static -o copy32 "$here/copy.c" 2>/dev/null && ./copy32 source target 65536; then
	copies "32-bit ABI" ./copy32 source target 65536
else
	skip "32-bit ABI" "no static libc for it"
fi
# A kernel may have that entry for nobody.
if "$cc" -O1 -static -no-pie -o int80 "$here/int80.c" 2>/dev/null && ./int80 source target; then
	copies "32-bit entry, 64-bit program" ./int80 source target
else
	skip "32-bit entry, 64-bit program" "this machine has none"
fi
if musl-gcc -o copymusl "$here/copy.c" 2>/dev/null; then
	copies musl ./copymusl source target 65536
else
	skip musl "no musl-gcc"
fi
if ! command -v busybox >/dev/null || readelf -l "$(command -v busybox)" | grep -q INTERP; then
	skip busybox "no static one"
else
	copies busybox busybox cp source target
fi
if command -v node >/dev/null; then
	copies node node -e 'require("fs").copyFileSync("source", "target")'
else
	skip node "not here"
fi
if [ -z "${WRITEPACE_LONG-}" ]; then
	skip Go "its library takes too long to build"
elif GOCACHE=$tmp/cache CGO_ENABLED=0 GO111MODULE=off go build -o gocopy "$here/copy.go" 2>/dev/null; then
	copies Go ./gocopy source target
else
	skip Go "no Go compiler"
fi
MB=24 copies "a shell that starts them" sh -c './copy source a 65536; cp a b; ./copy b target 4096'
MB=16 copies "many small files" sh -c 'split -b 20k source part. && cat part.* >target'

# Its own threads write, and no argument of its calls says where.
if command -v fio >/dev/null && [ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null)" = 0 ]; then
	"$writepace" --any --stats fio --name=uring --filename=uring --size=8M --bs=64k \
		--ioengine=io_uring --rw=write --fallocate=none --thread >out 2>stats
	is "io_uring: exit status" $? 0
	compare "io_uring: charged" "$(arm_value charged stats)" ge 8200000
else
	skip io_uring "no fio, or no io_uring"
fi

# What writes below 4 KiB is not seen, and said.
"$writepace" --any --stats ./copy source target 4000 2>stats
is "short writes: the copy" "$(cmp source target 2>&1)" ""
compare "short writes: charged" "$(arm_value charged stats)" le 65536
compare "short writes: uncovered" "$(arm_value uncovered stats)" ge 8000000

# --- results, manners -----------------------------------------------------------------------

# both NAME COMMAND...: the same plain and under it.
both()
{
	local name=$1 plain paced

	shift
	plain=$("$@" 2>&1; echo "status $?")
	paced=$(timeout 60 "$writepace" --any -q "$@" 2>&1; echo "status $?")
	is "$name" "$paced" "$plain"
}

mkdir files
# Why without the storm: a call that was not handed over yet when a signal comes is interrupted.
without_storm()
{
	"$@" | grep -vE '(in a storm|signals were handled)'
}
is "every call's result" "$(without_storm "$writepace" --any "$build/test/shim/calls" files 2>&1)" \
	"$(without_storm "$build/test/shim/calls" files 2>&1)"
for way in daemons numbers locks work streams filter-prctl filter-numbered landlock; do
	both "$way" "$build/test/shim/manners" $way files
done
both "exit status" sh -c 'exit 7'
# shellcheck disable=SC2016 # the inner shell's
both "a signal" sh -c 'kill -SEGV $$'
"$writepace" --any ./no-such-command 2>/dev/null
is "a command that is not there" $? 127
both "a stopped job goes on" bash -c '
	./copy source target 4096 & sleep 0.01
	{ kill -STOP $!; sleep 0.1; kill -CONT $!; } 2>/dev/null; wait $!
	cmp source target; echo $?'
# shellcheck disable=SC2016 # the inner shell's
both "no child that the command does not know" sh -c '
	wait; read -r children </proc/$$/task/$$/children; echo "[$children]"'
both "nothing open that the command does not know" sh -c 'ls /proc/self/fd'
("$writepace" --any ./copy source target 65536 <&- >&- 2>&-)
is "without standard input, output and error" "$? $(cmp source target 2>&1)" "0 "
both "a pipe ends with the command" sh -c '(sleep 0.2; echo late) & echo early'

# One inside another is one, and a library inside it does nothing.
WRITEPACE_STATS=1 timeout 60 "$writepace" --any "$writepace" --any "$writepace" \
	cp source target 2>stats
is "inside one another: paced once" "$(grep -c '^writepace: cp' stats)" 1
is "inside one another: the copy" "$(cmp source target 2>&1)" ""
is "auto takes what is needed" "$(WRITEPACE_FRONT=auto "$writepace" -n ./copy a b 1 |
	grep -c writepace-any)" 1
is "auto takes the library where that does" "$(WRITEPACE_FRONT=auto "$writepace" -n cp a b |
	grep -c writepace-any)" 0

# --- ends -----------------------------------------------------------------------------------

until_true is_gone writepace-any
is "no supervisor is left" "$(arm_ours writepace-any; arm_ours writepace-guard)" ""

"$writepace" --any sh -c '(sleep 0.5; ./copy source late 65536) >/dev/null 2>&1 &'
is "who outlives the command has a supervisor" "$(arm_ours writepace-any | wc -l)" 1
until_true is_gone writepace-any
is "and is served to the end" "$(cmp source late 2>&1)$(arm_ours writepace-any)" ""

# A paced copy takes a second at least; its supervisor is killed in the middle.
rm -f target
timeout 60 "$writepace" --any --rate 4M ./copy source target 65536 &
copy=$!
sleep 0.4
is "a supervisor at work" "$(arm_ours writepace-any | wc -l)" 1
# shellcheck disable=SC2046
kill -KILL $(arm_ours writepace-any)
wait $copy
is "its supervisor is killed: exit status" $? 0
is "the copy" "$(cmp source target 2>&1)" ""
until_true is_gone writepace-guard
is "the guard ends with the command" "$(arm_ours writepace-guard)" ""

# Killed in the middle of a pause.
"$writepace" --any --rate 1M ./copy source target 65536 &
copy=$!
sleep 0.5
kill -TERM $copy
wait $copy 2>/dev/null
is "a signal ends a paused program" $? 143
until_true is_gone writepace-any
is "and its supervisor" "$(arm_ours writepace-any; arm_ours writepace-guard)" ""

# A file system that is served from inside.
mkdir below above
if [ "$(id -u)" = 0 ] && bindfs below above 2>/dev/null && umount above; then
	timeout 20 "$writepace" --any sh -c 'bindfs below above && ./copy source above/a 65536 &&
		umount above'
	is "a file system that is served from inside: exit status" $? 0
	is "the copy there" "$(cmp source below/a 2>&1)" ""
else
	skip "a file system that is served from inside" "no bindfs here"
fi

if [ "$(id -u)" = 0 ]; then
	is "root keeps set-uid programs working" "$("$writepace" --any \
		grep NoNewPrivs /proc/self/status | tr -d '\t')" NoNewPrivs:0
	chmod 755 "$tmp"
	user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	if "${user[@]}" test -x "$build/writepace-any"; then
		mkdir -m 777 theirs
		"${user[@]}" "$writepace" --any --stats ./copy source theirs/target 65536 2>stats
		is "a user's: the copy" "$(cmp source theirs/target 2>&1)" ""
		compare "a user's: charged" "$(arm_value charged stats)" ge 8388608
	else
		skip "a user's" "the build folder is private"
	fi
	rm -f /dev/shm/writepace-65534/segment*any-$$
fi

done_testing
