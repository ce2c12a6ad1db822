# shellcheck shell=bats disable=SC2016,SC2154
# (the $ are for the command; common.bash sets the lower-case names)
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: with --stats the command, its signals and its end are what they are without,
# and one line more is on stderr.

bats_require_minimum_version 1.5.0
load common

setup()
{
	find_build
	form='^writepace: [^ ]+\[[0-9]+\] charged=[0-9]+ dirtied=[0-9]+ uncovered=[0-9]+'
	form+=' sleeps=[0-9]+ slept=[0-9]+\.[0-9]{3}s'
	form+=' devices=(-|[0-9]+:[0-9]+(,[0-9]+:[0-9]+)*)$'
}

# Wait at most 10 s until a command is true.
eventually()
{
	for _ in $(seq 200); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

@test "one line of totals, on stderr, after everything of the command" {
	run --separate-stderr "$writepace" --stats sh -c 'echo out; echo err >&2'
	[ "$status" -eq 0 ]
	[ "$output" = out ]
	[ "${#stderr_lines[@]}" -eq 2 ]
	[ "${stderr_lines[0]}" = err ]
	[[ ${stderr_lines[1]} =~ $form ]] || complain "another form"
	[[ ${stderr_lines[1]} == "writepace: sh["* ]]
}

@test "the line names the command's process" {
	run --separate-stderr "$writepace" -s sh -c 'echo $$'
	[[ $stderr == *"writepace: sh[$output] "* ]]
}

@test "what the processes of the command add is in the line" {
	# Little-endian words of struct totals: charged, sleeps, slept, a device.
	cat >add <<-'END'
		word()
		{
			printf "$2" |
				dd of="$WRITEPACE_TOTALS" bs=8 seek="$1" conv=notrunc
		}
		exec 2>/dev/null
		word 2 '\003\002\001\000\000\000\000\000'
		word 5 '\004\000\000\000\000\000\000\000'
		word 6 '\000\312\232\073\000\000\000\000'
		word 8 '\020\010\000\000\000\000\000\000'
	END
	WRITEPACE_DISABLE=1 run --separate-stderr "$writepace" -s sh ./add
	[ "$status" -eq 0 ]
	[[ $stderr == *" charged=66051 dirtied=0 uncovered=0 sleeps=4 slept=1.000s "* ]]
	[[ $stderr == *" devices=8:16" ]]
}

@test "the totals' file is private and gone afterwards" {
	run --separate-stderr "$writepace" -s sh -c 'stat -c "%a %n" "$WRITEPACE_TOTALS"'
	[ "${output%% *}" = 600 ]
	[ ! -e "${output#* }" ]
}

@test "the library is loaded into the command alone" {
	run --separate-stderr "$writepace" -s sh -c 'echo "$LD_PRELOAD"
		tr "\0" "\n" </proc/$PPID/environ | grep -c ^LD_PRELOAD='
	[ "${lines[0]}" = "$library" ]
	[ "${lines[1]}" = 0 ]
}

@test "the exit status is the command's" {
	for wanted in 0 1 42 125 127 255; do
		run "-$wanted" "$writepace" -s sh -c "exit $wanted"
	done
}

@test "death by a signal is the same death" {
	command -v python3 >/dev/null || skip "no python3"
	for signal in TERM INT KILL SEGV PIPE; do
		run --separate-stderr python3 -c 'import subprocess, sys, signal
print(subprocess.run(sys.argv[2:]).returncode + getattr(signal, "SIG" + sys.argv[1]))' \
			"$signal" env --default-signal "$writepace" -s sh -c "kill -$signal \$\$"
		[ "$output" = 0 ] || complain "$signal"
	done
	run ! compgen -G 'core*'
}

@test "signals are passed on" {
	for signal in HUP INT QUIT TERM USR1 USR2 WINCH; do
		rm -f ready got
		# A shell without job control starts background jobs with INT ignored.
		env --default-signal "$writepace" -s bash -c "
			trap 'touch got; exit 7' $signal
			touch ready; for i in {1..500}; do sleep 0.02; done" 2>error &
		pid=$!
		eventually test -e ready
		kill -s "$signal" "$pid"
		wait "$pid" && return 1
		[ $? -eq 7 ]
		[ -e got ]
	done
}

@test "a signal that was ignored stays ignored" {
	run --separate-stderr bash -c 'trap "" TERM; exec "$@"' - \
		"$writepace" -s sh -c 'kill -TERM $$; echo on'
	[ "$status" -eq 0 ]
	[ "$output" = on ]
}

state_of()
{
	sed 's/.*) //; s/ .*//' "/proc/$1/stat"
}

is_stopped()
{
	[ "$(state_of "$1")" = T ]
}

@test "the parent stops and goes on with the command" {
	"$writepace" -s sh -c 'kill -STOP $$; touch on' 2>error &
	pid=$!
	eventually is_stopped "$pid"
	[ ! -e on ]
	kill -CONT "$pid"
	wait "$pid"
	[ -e on ]
}

# A process group without a parent in its session is never stopped by a terminal's signal.
stops_here()
{
	local victim stopped=1

	sleep 20 &
	victim=$!
	kill -TSTP "$victim"
	sleep 0.2
	! is_stopped "$victim" || stopped=0
	kill -KILL "$victim"
	return $stopped
}

@test "a stop asked of the parent stops the command too" {
	stops_here || skip "orphaned process group: SIGTSTP stops nobody here"
	"$writepace" -s sh -c 'echo $$ >child
		for i in $(seq 500); do [ -e end ] || sleep 0.02; done' 2>error &
	pid=$!
	eventually test -s child
	kill -TSTP "$pid"
	eventually is_stopped "$pid"
	is_stopped "$(cat child)"
	touch end
	kill -CONT "$pid"
	wait "$pid"
}

is_gone()
{
	[ ! -e "/proc/$1" ] || [ "$(state_of "$1")" = Z ]
}

@test "killing the parent kills the command" {
	"$writepace" -s sh -c 'echo "$WRITEPACE_TOTALS" >totals; echo $$ >child
		exec sleep 60' 2>error &
	pid=$!
	eventually test -s child
	kill -KILL "$pid"
	wait "$pid" || true
	eventually is_gone "$(cat child)"
	rm "$(cat totals)"
}

@test "a text without #! is run by the shell, as without" {
	echo 'touch ran; exit 5' >text
	chmod +x text
	run "$writepace" -s ./text
	[ "$status" -eq 5 ]
	[ -e ran ]
}
