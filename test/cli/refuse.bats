# shellcheck shell=bats disable=SC2016,SC2154
# (the $ are for the command; common.bash sets the lower-case names)
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: what cannot be done or paced ends with 125 (126 not executable, 127 not
# found), one line that says why, and without the command having run: it would have made
# the file `ran`.

bats_require_minimum_version 1.5.0
load common

setup()
{
	find_build
}

# A program that touches ./ran, made with these options of the compiler.
make_program()
{
	local name=$1
	shift
	printf '%s\n' '#include <fcntl.h>' '#include <unistd.h>' \
		'int main(void) { return close(creat("ran", 0600)); }' >"$name.c"
	"${CC:-gcc}" "$@" "$name.c" -o "$name" || skip "cannot compile with $*"
}

# Turn an ELF file into one for another machine (AArch64, or x86-64 there).
other_machine()
{
	if [ "$(uname -m)" = aarch64 ]; then
		put_byte "$1" 18 076
	else
		put_byte "$1" 18 267
	fi
}

# Turn an ELF file into one of the other width.
other_width()
{
	if [ "$(getconf LONG_BIT)" = 64 ]; then
		put_byte "$1" 4 001
	else
		put_byte "$1" 4 002
	fi
}

# ------------------------------------------------------------- settings ----

@test "a bad value names option, value and what is allowed" {
	touch a
	refused 125 "--drain-target: WRITEPACE_DRAIN=0x: not a time; allowed: a number" \
		--drain-target 0x cp a b
	[ ! -e b ]
	refused 125 "-r: WRITEPACE_RATE=fast: not a rate; allowed: none or a number" \
		-r fast touch ran
	refused 125 "--limit: WRITEPACE_LIMIT=1K: out of range" --limit=1K touch ran
	refused 125 "WRITEPACE_SEGMENT=a/b: not a name" --segment a/b touch ran
}

@test "a bad setting of a device names its part and what is allowed" {
	refused 125 "-D: WRITEPACE_DEVICE=/:max_bytes=1: max_bytes=1: out of range or \
not a number; allowed: from 640K to 1T" -D /:max_bytes=1 touch ran
	refused 125 "WRITEPACE_DEVICE=/:frob=1: /:frob=1: not of the form WHAT:NAME=VALUE" \
		--device=/:frob=1 touch ran
	refused 125 "usr: neither an absolute path nor MAJOR:MINOR" \
		-D usr:max_bytes=2M touch ran
	refused 125 "-b: WRITEPACE_BURST=much: not a size; allowed: a number of bytes" \
		-b much touch ran
}

@test "a device that is not there is refused, and ignored by the bare library" {
	refused 125 "--device: WRITEPACE_DEVICE=/no/such: No such file or directory" \
		--device '/:max_bytes=2M;/no/such:max_bytes=2M' touch ran
	export WRITEPACE_DEVICE=/no/such:max_bytes=2M
	refused 125 "WRITEPACE_DEVICE=/no/such: No such file or directory" touch ran
	LD_PRELOAD=$library run --separate-stderr touch ran
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ -e ran ]
}

@test "a device may be a path, a path with colons, a node or two numbers" {
	mkdir a:b
	for what in "$PWD/a:b" /dev/null 8:0; do
		run "$writepace" -D "$what:max_bytes=2M,bandwidth=10M/s" touch ran
		[ "$status" -eq 0 ] || complain "$what"
	done
}

@test "a bad value in the environment is refused" {
	export WRITEPACE_LATENCY=50
	refused 125 "WRITEPACE_LATENCY=50: not a time" touch ran
}

@test "every key refuses a bad value, wherever it comes from" {
	mkdir -p config
	while IFS='"' read -r _ variable _ _ _ option _; do
		printf '%s=a/b\n' "$variable" >config/writepace.conf
		refused 125 "config/writepace.conf:1: $variable=a/b: " touch ran
		[[ ${stderr_lines[0]} == *allowed* ]] || complain "nothing allowed"
		rm config/writepace.conf
		export "$variable=a/b"
		refused 125 "$variable=a/b: " touch ran
		unset "$variable"
		[ "$option" ] || continue
		refused 125 "--$option: $variable=a/b: " "--$option=a/b" touch ran
	done < <(grep '^KEY(' "$BATS_TEST_DIRNAME/../../src/conf/keys.def")
}

@test "an unknown variable is refused" {
	export WRITEPACE_DRIAN=1s
	refused 125 "WRITEPACE_DRIAN=1s: no such setting; allowed: " touch ran
}

@test "a bad line of a file is named with file and number" {
	mkdir -p config
	printf '# comment\n\nWRITEPACE_DRAIN\n' >config/writepace.conf
	refused 125 "config/writepace.conf:3: WRITEPACE_DRAIN: not of the form" touch ran
	printf 'drain=1s\n' >config/writepace.conf
	refused 125 "config/writepace.conf:1: drain: no such setting" touch ran
	printf '\nWRITEPACE_DRAIN=1\n' >config/writepace.conf
	refused 125 "config/writepace.conf:2: WRITEPACE_DRAIN=1: not a time" touch ran
	printf 'x y; touch ran\n' >config/writepace.conf
	refused 125 "config/writepace.conf:1: " touch ran
}

@test "a value that an option replaces is not looked at" {
	mkdir -p config
	printf 'WRITEPACE_DRAIN=1\n' >config/writepace.conf
	run "$writepace" -d 1s true
	[ "$status" -eq 0 ]
}

@test "unknown options are refused" {
	refused 125 "unknown option --frobnicate" --frobnicate touch ran
	refused 125 "unknown option --frobnicate" --frobnicate=3 touch ran
	refused 125 "unknown option -z" -z touch ran
	refused 125 "unknown option -z" -qz touch ran
	refused 125 "unknown option --drain" --drain 1s touch ran
}

@test "a missing value or command is refused" {
	refused 125 "no command given"
	refused 125 "no command given" -d 1s
	refused 125 "no command given" --
	refused 125 "option -d needs a value" -d
	refused 125 "option --rate needs a value" -d 1s --rate
	refused 125 "option --stats takes no value" --stats=1 touch ran
}

# -------------------------------------------------------------- programs ----

@test "a command that is not there: 127" {
	refused 127 "no-such-command: No such file or directory" no-such-command
	refused 127 "./no-such-file: No such file or directory" ./no-such-file
	refused 127 ": No such file or directory" ''
	refused 127 "no-such-command: No such file" --best-effort no-such-command
	refused 127 "no-such-command: No such file or directory" --stats no-such-command
}

@test "a command that must not be executed: 126" {
	echo 'touch ran' >plain
	refused 126 "./plain: Permission denied" ./plain
	mkdir folder
	refused 126 "./folder: Permission denied" ./folder
	PATH=$PWD:$PATH refused 126 "/plain: Permission denied" plain
}

@test "PATH is searched in order, past files that cannot be executed" {
	mkdir one two
	echo 'echo one' >one/tool
	printf '#!/bin/sh\necho two\n' >two/tool
	chmod +x two/tool
	PATH=$PWD/one:$PWD/two:$PATH run "$writepace" tool
	[ "$output" = two ]
	cd two
	PATH=:$PATH run "$writepace" tool
	[ "$output" = two ]
}

@test "a static program is refused" {
	make_program static -static
	refused 125 "./static: a static program" ./static
	refused 125 "(--any paces it, --best-effort runs it unpaced)" ./static
	make_program pie -static-pie
	refused 125 "./pie: a static program" ./pie
}

@test "a Go program is refused, also one with a loader" {
	make_program dynamic
	objcopy --add-section .go.buildinfo=/dev/null dynamic marked || skip "no objcopy"
	refused 125 "./marked: a Go program" ./marked
	command -v go >/dev/null || return 0
	echo 'package main
	import "C"
	func main() {}' >main.go
	GOCACHE=$PWD/cache go build -o real main.go || skip "go cannot build with cgo"
	readelf -l real | grep -q INTERP
	refused 125 "./real: a Go program" ./real
}

@test "a dynamic program, also one that is no PIE, runs" {
	make_program dynamic -pie -fPIE
	run "$writepace" ./dynamic
	[ -e ran ]
	rm ran
	make_program fixed -no-pie
	run "$writepace" ./fixed
	[ -e ran ]
}

@test "best effort runs a static program with a warning, quiet without" {
	make_program static -static
	run --separate-stderr "$writepace" --best-effort ./static
	[ "$status" -eq 0 ]
	[ -e ran ]
	[[ $stderr == "writepace: warning: ./static: a static "*"it runs unpaced" ]]
	run --separate-stderr "$writepace" --best-effort -q ./static
	[ -z "$stderr" ]
}

@test "a set-uid program of another user is refused" {
	[ "$(id -u)" -eq 0 ] || skip "takes root to make one"
	[[ $(findmnt -no OPTIONS -T .) != *nosuid* ]] || skip "nosuid here"
	make_program setuid
	chown 65534 setuid
	chmod 4755 setuid
	refused 125 "./setuid: a set-uid program" ./setuid
	chown 0:65534 setuid
	chmod 2755 setuid
	refused 125 "./setuid: a set-gid program" ./setuid
}

@test "a set-uid program of the user's own runs" {
	make_program mine
	chmod 4755 mine
	run "$writepace" ./mine
	[ "$status" -eq 0 ]
	[ -e ran ]
}

@test "a program with file capabilities is refused to users" {
	[ "$(id -u)" -eq 0 ] || skip "takes root to make one"
	command -v setcap >/dev/null || skip "no setcap"
	place=$(mktemp -d)
	chmod 755 "$place"
	cp /bin/true "$place/prog"
	setcap cap_net_raw+ep "$place/prog" || skip "no file capabilities here"
	user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	"${user[@]}" test -x "$helpers/writepace-check" || skip "build folder is private"
	run --separate-stderr "${user[@]}" "$helpers/writepace-check" "$library" -- \
		"$place/prog"
	rm -r "$place"
	[ "$status" -eq 125 ]
	[[ $stderr == *"a program with capabilities"* ]]
}

@test "sudo is refused with the command to use instead" {
	mkdir bin
	make_program bin/sudo
	PATH=$PWD/bin:$PATH refused 125 "run: sudo writepace CMD" sudo touch ran
}

@test "ssh gets a note with -v only" {
	mkdir bin
	make_program bin/ssh
	PATH=$PWD/bin:$PATH run --separate-stderr "$writepace" ssh
	[ -z "$stderr" ]
	PATH=$PWD/bin:$PATH run --separate-stderr "$writepace" -v ssh
	[ "$status" -eq 0 ]
	[[ $stderr == *"run: ssh HOST writepace CMD"* ]]
}

@test "a program for another machine is refused" {
	make_program machine
	other_machine machine
	refused 125 "./machine: a program for 64-bit" ./machine
	make_program width
	other_width width
	refused 125 "./width: a program for " ./width
}

@test "a program of another C library is refused" {
	make_program musl -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
	refused 125 "./musl: a program of another C library" ./musl
}

@test "another copy of our loader is no other C library" {
	loader=$(readelf -l "$helpers/writepace-check" |
		sed -n 's/.*interpreter: \(.*\)]/\1/p')
	cp "$loader" .
	make_program copy -Wl,--dynamic-linker="$PWD/${loader##*/}"
	run "$writepace" ./copy
	[ "$status" -eq 0 ]
	[ -e ran ]
}

# --------------------------------------------------------------- scripts ----

make_script()
{
	printf '%s\n' "#!$2" 'touch ran' >"$1"
	chmod +x "$1"
}

@test "a script runs with its interpreter" {
	for line in /bin/sh "  /bin/sh  -e " "/usr/bin/env sh" "/usr/bin/env -S sh -e" \
		"/usr/bin/env -S X=1 sh" "/usr/bin/env -Ssh"; do
		make_script script "$line"
		rm -f ran
		run "$writepace" ./script
		[ "$status" -eq 0 ] || complain "$line"
		[ -e ran ] || complain "$line"
	done
}

@test "a script with an interpreter that cannot be paced is refused" {
	make_program static -static
	make_script script "$PWD/static"
	refused 125 "/static: a static program" ./script
	make_script two "$PWD/script"
	refused 125 "/static: a static program" ./two
	PATH=$PWD:$PATH
	for words in "static" "-S static -x" "-S A=1 -u B static" "-S -i static"; do
		make_script script "/usr/bin/env $words"
		refused 125 "/static: a static program" ./script
	done
}

@test "a script whose interpreter is missing or cannot be executed" {
	make_script script /no/such/shell
	refused 127 "./script: its interpreter /no/such/shell: No such file" ./script
	make_script script "$PWD"
	refused 126 "its interpreter $PWD: Permission denied" ./script
	make_script script "/usr/bin/env no-such-shell"
	refused 127 "no-such-shell: No such file or directory" ./script
}

@test "a script that is its own interpreter ends" {
	make_script script "$PWD/script"
	run ! "$writepace" ./script
	[ ! -e ran ]
}

@test "a text without #! is left to the shell's exec" {
	echo 'touch ran' >text
	chmod +x text
	run "$writepace" ./text
	[ -e ran ]
}

# --------------------------------------------------------------- library ----

# A wrapper with this library.
with_library()
{
	make_wrapper ./wrapper "s|^library=.*|library='$1'|"
	writepace=./wrapper
}

@test "a missing library is refused, also with best effort" {
	with_library /no/such/libwritepace.so
	refused 125 "/no/such/libwritepace.so: No such file" touch ran
	refused 125 "/no/such/libwritepace.so: No such file" --best-effort touch ran
}

@test "a library of another machine is refused" {
	cp "$library" machine.so
	other_machine machine.so
	with_library "$PWD/machine.so"
	refused 125 "/machine.so: the library is built for 64-bit" touch ran
	cp "$library" width.so
	other_width width.so
	with_library "$PWD/width.so"
	refused 125 "/width.so: the library is built for " touch ran
}

@test "what is no library is refused" {
	echo nothing >text.so
	with_library "$PWD/text.so"
	refused 125 "/text.so: not a shared library" touch ran
	make_program fixed -no-pie
	with_library "$PWD/fixed"
	refused 125 "/fixed: not a shared library" touch ran
	: >empty.so
	with_library "$PWD/empty.so"
	refused 125 "/empty.so: not a shared library" touch ran
}

@test "a library whose path LD_PRELOAD cannot carry is refused" {
	for folder in "a b" "a:b"; do
		mkdir "$folder"
		cp "$library" "$folder/libwritepace.so"
		with_library "$PWD/$folder/libwritepace.so"
		refused 125 "':' or a blank cannot be preloaded" touch ran
	done
}

@test "a missing helper is refused" {
	make_wrapper ./wrapper "s|^helpers=.*|helpers='/no/such/folder'|"
	writepace=./wrapper
	refused 125 "/no/such/folder/writepace-check is missing" touch ran
}
