# shellcheck shell=bats disable=SC2154
# (common.bash sets the lower-case names)
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `writepacectl blame` over what test/observer/board publishes, without an observer or root.

load common

setup()
{
	find_build
	board=$build/test/observer/board
	mkdir published
}

# blame ARGUMENT...: beside a board; its output is in $output
blame()
{
	run "$board" published "$build/writepacectl" blame --folder published "$@"
}

# field NAME OF-COMMAND: of the JSON in $output
field()
{
	jq -c "[.tasks[] | select(.command == \"$2\") | .$1]" <<<"$output"
}

@test "blame: a table, who dirtied most first" {
	blame
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	[[ ${lines[0]} == *COMMAND*DEVICE*DIRTIED*HELD*FSYNC* ]]
	[[ ${lines[1]} == *" 11 "*writer*7:0* ]]
	[[ ${lines[2]} == *" 12 "*'sync?er'*8:16*3*2* ]]
}

@test "blame: JSON in bytes and nanoseconds" {
	command -v jq || skip "no jq"
	blame --json
	[ "$status" -eq 0 ]
	[ "$(field fsync_ns 'sync?er')" = "[3000000000]" ]
	[ "$(field fsyncs 'sync?er')" = "[2]" ]
	[ "$(field kernel_paused_ns held)" = "[1000000000]" ]
	[ "$(field kernel_pauses held)" = "[5]" ]
	[ "$(field device writer)" = '["7:0"]' ]
}

@test "blame: one device alone" {
	command -v jq || skip "no jq"
	blame --json -d 8:16
	[ "$(field pid writer)" = "[]" ]
	[ "$(field pid held)" = "[13]" ]
}

@test "blame: for a time, what happened in it alone" {
	command -v jq || skip "no jq"
	blame --json -t 1s
	[ "$(field fsyncs 'sync?er')" = "[]" ]
	# at least two steps of the board, and fewer than it ever made
	[[ $(field dirtied_bytes writer) =~ ^\[([0-9]+)\]$ ]]
	[ "${BASH_REMATCH[1]}" -ge 2097152 ]
}

@test "blame: nothing asked for happened: an empty list" {
	command -v jq || skip "no jq"
	blame --json -d 9:9
	[ "$status" -eq 0 ]
	[ "$(field pid writer)" = "[]" ]
}

@test "blame: without an observer, and wrong usage" {
	run "$build/writepacectl" blame --folder published
	[ "$status" -eq 1 ]
	[[ $output == *"no writepace-observer runs"* ]]
	blame -t soon
	[ "$status" -eq 1 ]
	blame -d /no/such/path
	[ "$status" -eq 1 ]
	blame something
	[ "$status" -eq 2 ]
}
