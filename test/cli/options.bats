# shellcheck shell=bats disable=SC2016,SC2154
# (the $ are for the command; common.bash sets the lower-case names)
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: what a command sees of its environment, arguments, files and end is what the
# options and the manners of env, nice and timeout promise.

bats_require_minimum_version 1.5.0
load common

setup()
{
	find_build
}

@test "the command sees its options as variables" {
	run "$writepace" -d 2s --latency 20ms -r 1M --limit=64M --only 'cp,d?' \
		--skip=tar --segment night -b 24M --device=/:max_ratio=5 env
	[ "$status" -eq 0 ]
	[[ $output == *"WRITEPACE_DRAIN=2s"* ]]
	[[ $output == *"WRITEPACE_LATENCY=20ms"* ]]
	[[ $output == *"WRITEPACE_RATE=1M"* ]]
	[[ $output == *"WRITEPACE_LIMIT=64M"* ]]
	[[ $output == *"WRITEPACE_ONLY=cp,d?"* ]]
	[[ $output == *"WRITEPACE_SKIP=tar"* ]]
	[[ $output == *"WRITEPACE_SEGMENT=night"* ]]
	[[ $output == *"WRITEPACE_BURST=24M"* ]]
	[[ $output == *"WRITEPACE_DEVICE=/:max_ratio=5"* ]]
}

@test "the period is a time, or auto" {
	for value in auto 500ms; do
		run "$writepace" -p "$value" sh -c 'echo "$WRITEPACE_PERIOD"'
		[ "$status" -eq 0 ]
		[ "$output" = "$value" ] || return 1
	done
	run "$writepace" --period=automatic true
	[ "$status" -eq 125 ]
	[[ $output == *"WRITEPACE_PERIOD=automatic: not a time; allowed: auto or a number"* ]]
}

@test "nothing is set that was not asked for" {
	run "$writepace" sh -c 'env | grep -c ^WRITEPACE_'
	[ "$output" = 0 ]
}

@test "all four forms of an option mean the same" {
	for form in "-d3s" "-d 3s" "--drain-target=3s" "--drain-target 3s"; do
		# shellcheck disable=SC2086 # one or two words
		run "$writepace" $form sh -c 'echo "$WRITEPACE_DRAIN"'
		[ "$output" = 3s ] || return 1
	done
}

@test "letters can be joined" {
	run "$writepace" -nqd3s true
	[ "$status" -eq 0 ]
	[[ $output == *WRITEPACE_DRAIN=3s* ]]
}

@test "the last of two equal options counts" {
	run "$writepace" -d 2s -d 3s sh -c 'echo "$WRITEPACE_DRAIN"'
	[ "$output" = 3s ]
}

@test "options end at the command" {
	run "$writepace" -d 2s echo -d 3s --stats --
	[ "$output" = "-d 3s --stats --" ]
}

@test "two dashes end the options" {
	run "$writepace" -d 2s -- echo -- x
	[ "$output" = "-- x" ]
}

@test "arguments reach the command byte for byte" {
	run "$writepace" printf '[%s]' '' ' a  b ' "it's" '*' '$x' '\n' $'two\nlines' '-n'
	[ "$output" = "[][ a  b ][it's][*][\$x][\\n]["$'two\nlines'"][-n]" ]
}

@test "options go before the environment" {
	WRITEPACE_DRAIN=5s run "$writepace" -d 2s sh -c 'echo "$WRITEPACE_DRAIN"'
	[ "$output" = 2s ]
}

@test "the environment goes before the files, the user's file before the system's" {
	mkdir -p config
	printf '%s\n' '# all of us' '' 'WRITEPACE_DRAIN=2s' 'WRITEPACE_RATE=2M' \
		'WRITEPACE_LIMIT=2M' >system.conf
	printf '\t %s \n' 'WRITEPACE_DRAIN=3s' '# mine' 'WRITEPACE_RATE=3M' \
		>config/writepace.conf
	make_wrapper ./wrapper "s,/etc/writepace.conf,$PWD/system.conf,"
	WRITEPACE_DRAIN=4s run ./wrapper \
		sh -c 'echo "$WRITEPACE_DRAIN $WRITEPACE_RATE $WRITEPACE_LIMIT"'
	[ "$output" = "4s 3M 2M" ]
}

@test "without XDG_CONFIG_HOME the user's file is below the home" {
	mkdir -p .config
	printf 'WRITEPACE_DRAIN=3s' >.config/writepace.conf
	unset XDG_CONFIG_HOME
	run "$writepace" sh -c 'echo "$WRITEPACE_DRAIN"'
	[ "$output" = 3s ]
	unset HOME
	run "$writepace" sh -c 'echo "$WRITEPACE_DRAIN"'
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
}

@test "an empty variable is the default, whatever the file says" {
	mkdir -p config
	echo WRITEPACE_DRAIN=3s >config/writepace.conf
	WRITEPACE_DRAIN='' run "$writepace" sh -c 'echo "[$WRITEPACE_DRAIN]"'
	[ "$status" -eq 0 ]
	[ "$output" = "[]" ]
}

@test "the library is preloaded, in front of what was there" {
	cp "$library" other.so
	run "$writepace" sh -c 'echo "$LD_PRELOAD"'
	[ "$output" = "$library" ]
	LD_PRELOAD=$PWD/other.so run "$writepace" sh -c 'echo "$LD_PRELOAD"'
	[ "$output" = "$library:$PWD/other.so" ]
}

@test "wrapped twice, the library is there once and the inner options count" {
	run "$writepace" -d 2s -r 1M "$writepace" -d 3s \
		sh -c 'echo "$LD_PRELOAD $WRITEPACE_DRAIN $WRITEPACE_RATE"'
	[ "$output" = "$library 3s 1M" ]
}

@test "another copy of the library gives way" {
	mkdir other
	cp "$library" other/libwritepace.so
	LD_PRELOAD=$PWD/other/libwritepace.so run "$writepace" sh -c 'echo "$LD_PRELOAD"'
	[ "$output" = "$library" ]
}

@test "standard input, output and error are the command's own" {
	head -c 100000 /dev/urandom >bytes
	"$writepace" cat <bytes >copy 2>error
	cmp bytes copy
	[ ! -s error ]
	"$writepace" sh -c 'cat >&2' <bytes 2>copy >out
	cmp bytes copy
	[ ! -s out ]
}

@test "no descriptor is added" {
	find /proc/self/fd -type l -printf '%f\n' >plain
	"$writepace" find /proc/self/fd -type l -printf '%f\n' >wrapped
	cmp plain wrapped
}

@test "the command replaces the wrapper: one process, its own exit status" {
	"$writepace" sh -c 'echo $$ >pid; exit 42' &
	wrapper=$!
	wait "$wrapper" || [ $? -eq 42 ]
	[ "$(cat pid)" = "$wrapper" ]
}

@test "death by a signal is passed unchanged" {
	run "$writepace" sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
}

@test "a dry run prints environment and command and runs nothing" {
	run --separate-stderr "$writepace" -n -d 2s --only 'a b' touch ran "it's"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	[ "${lines[0]}" = "LD_PRELOAD=$library" ]
	[ "${lines[1]}" = "WRITEPACE_DRAIN=2s" ]
	[ "${lines[2]}" = "WRITEPACE_ONLY='a b'" ]
	[ "${lines[3]}" = "touch ran 'it'\\''s'" ]
	[ -z "$stderr" ]
	[ ! -e ran ]
}

@test "what a dry run prints can be run by a shell" {
	"$writepace" -n -d 2s sh -c 'echo "$WRITEPACE_DRAIN$0"' "it's" | tr '\n' ' ' >line
	run sh ./line
	[ "$output" = "2sit's" ]
}

@test "verbose says what is done and does it" {
	run --separate-stderr "$writepace" -v -d 2s echo said
	[ "$output" = said ]
	[[ $stderr == *"WRITEPACE_DRAIN=2s"* ]]
	run --separate-stderr "$writepace" echo said
	[ -z "$stderr" ]
}

@test "help names every option and variable, on stdout" {
	for option in -h --help; do
		run --separate-stderr "$writepace" "$option"
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ $output == Usage:* ]]
		for word in --drain-target=TIME --latency=TIME --rate= --limit= --only= \
			--skip= --segment= --best-effort --stats --dry-run --verbose \
			--quiet --version \
			WRITEPACE_BACKGROUND= WRITEPACE_STATS= WRITEPACE_DISABLE=; do
			[[ $output == *"$word"* ]] || complain "no $word"
		done
		for line in "${lines[@]}"; do
			[ "${#line}" -le 90 ] || complain "too wide: $line"
		done
	done
}

@test "version is one line" {
	for option in -V --version; do
		run "$writepace" "$option"
		[ "$status" -eq 0 ]
		[[ $output =~ ^writepace\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	done
}

@test "a program with a dynamic ASan runtime keeps it in front" {
	echo 'int main(void) { return 0; }' >prog.c
	${CC:-gcc} -fsanitize=address prog.c -o prog || skip "no ASan here"
	readelf -d prog | grep -q 'NEEDED.*asan' || skip "ASan is linked statically here"
	run "$writepace" -n ./prog
	[[ ${lines[0]} == LD_PRELOAD=lib*asan*.so*:$library ]]
	run "$writepace" ./prog
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	printf '#!%s\n' "$PWD/prog" >script
	chmod +x script
	run "$writepace" -n ./script
	[[ ${lines[0]} == LD_PRELOAD=lib*asan*.so*:$library ]]
}

@test "the wrapper runs in every shell of this machine" {
	for shell in dash bash "busybox sh" zsh ksh; do
		command -v "${shell%% *}" >/dev/null || continue
		# shellcheck disable=SC2086 # busybox sh is two words
		run $shell "$writepace" -d 2s sh -c 'echo "$WRITEPACE_DRAIN"; exit 3'
		[ "$status" -eq 3 ] || complain "$shell"
		[ "$output" = 2s ] || complain "$shell"
	done
}
