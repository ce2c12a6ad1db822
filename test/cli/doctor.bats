# shellcheck shell=bats disable=SC2154
# (common.bash sets the lower-case names)
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: what the wrapper does with the same command, and what the file system is.

bats_require_minimum_version 1.5.0
load common

setup()
{
	find_build
	ctl=$build/writepacectl
}

# verdict CHECK [ARGUMENT...]
verdict()
{
	local check=$1

	shift
	"$ctl" doctor --json "$@" | jq -r ".doctor[] | select(.check == \"$check\") | .verdict"
}

@test "a program that can be paced" {
	run "$ctl" doctor sh
	[ "$status" -eq 0 ]
	[[ $output == *"the library reaches "* ]]
}

@test "a static program is bad, with the wrapper's own reason" {
	printf 'int main(void) { return 0; }\n' >static.c
	cc -static -o static static.c || skip "no static libc"
	run "$writepace" ./static
	[ "$status" -eq 125 ]
	reason=${output#writepace: }
	run "$ctl" doctor ./static
	[ "$status" -eq 1 ]
	[[ $output == *"$reason"* ]]
}

@test "a program that is not there is bad" {
	run "$ctl" doctor ./nowhere
	[ "$status" -eq 1 ]
}

@test "a script: its interpreter is looked at" {
	printf '#!/bin/sh\nexit\n' >script
	chmod +x script
	run "$ctl" doctor ./script
	[ "$status" -eq 0 ]
	[[ $output == *"run by /bin/sh"* ]]
}

@test "a program that maps memory is noted" {
	printf '#include <sys/mman.h>\nint main(void) { return !mmap(0, 1, 1, 2, -1, 0); }\n' >maps.c
	cc -o maps maps.c
	command -v jq || skip "no jq"
	[ "$(verdict "mapped files" ./maps)" = note ]
	[ -z "$(verdict "raw calls" ./maps)" ]
}

@test "a path in memory is not paced" {
	command -v jq || skip "no jq"
	[ "$(stat -f -c %T /dev/shm)" = tmpfs ] || skip "/dev/shm is no tmpfs"
	[ "$(verdict device --path /dev/shm)" = note ]
	[ "$(verdict path --path /nowhere)" = bad ]
}

@test "every line has a mark" {
	run "$ctl" doctor
	for line in "${lines[@]}"; do
		[[ $line =~ ^(ok|note|bad)\ + ]] || complain "no mark: $line"
	done
	[ "${#lines[@]}" -ge 6 ]
}

@test "wrong usage is told, with status 2" {
	run --separate-stderr "$ctl"
	[ "$status" -eq 2 ]
	run --separate-stderr "$ctl" nonsense
	[ "$status" -eq 2 ]
	[[ $stderr == *"no such command: nonsense"* ]]
	for command in status devices tasks top; do
		run --separate-stderr "$ctl" $command too-much
		[ "$status" -eq 2 ]
		run --separate-stderr "$ctl" $command --nonsense
		[ "$status" -eq 2 ]
	done
	run "$ctl" plot file
	[ "$status" -eq 2 ]
}

@test "every command has --help with its options, on stdout" {
	for command in $("$ctl" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		run --separate-stderr "$ctl" "$command" --help
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ ${lines[0]} == "Usage: writepacectl $command "* ]]
		for line in "${lines[@]}"; do
			[ "${#line}" -le 80 ] || complain "too wide: $line"
		done
	done
}

@test "a full disk behind a redirection is told" {
	[ -e /dev/full ] || skip "no /dev/full"
	run --separate-stderr sh -c "$ctl --help >/dev/full"
	[ "$status" -eq 1 ]
}
