# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the .bats files share. WRITEPACE_BUILD is the build folder; the tests need of it
# the wrapper and its helpers, and of the library only that it is a library for this
# machine.

# Take the build folder out of the environment: writepace refuses variables it does not
# know.
find_build()
{
	build=${WRITEPACE_BUILD:-$BATS_TEST_DIRNAME/../../build}
	build=$(cd "$build" && pwd)
	unset "${!WRITEPACE_@}" LD_PRELOAD
	writepace=$build/writepace
	library=$build/.libs/libwritepace.so
	helpers=$build
	# No file of this machine may decide a test.
	export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
	export HOME=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_TMPDIR" || return
}

# The wrapper with other paths, as $1; $2 is a sed script.
make_wrapper()
{
	sed "$2" "$build/writepace" >"$1"
	chmod +x "$1"
}

# Bytes of a file: put_byte FILE OFFSET OCTAL
put_byte()
{
	# shellcheck disable=SC2059 # the octal is the format
	printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Refused: this status, one line on stderr with this in it, and the command did not run.
# Use: refused STATUS TEXT WRAPPER-ARGUMENTS... where the command would touch ./ran
refused()
{
	local wanted=$1 text=$2
	shift 2
	rm -f ran
	run "-$wanted" --separate-stderr "$writepace" "$@"
	[ -z "$output" ] || complain "something on stdout"
	[ "${#stderr_lines[@]}" -eq 1 ] || complain "not one line"
	[[ ${stderr_lines[0]} == "writepace: "*"$text"* ]] || complain "no '$text'"
	[ ! -e ran ] || complain "the command ran"
}

complain()
{
	printf '%s\nstdout: %s\nstderr: %s\n' "$1" "$output" "$stderr"
	return 1
}
