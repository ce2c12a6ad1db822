# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# TAP for tests in bash. The plan comes last, so a test that dies on the way has none and
# counts as broken.

tap_nr=0
tap_failed=0

ok()
{
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr - $1"
}

# not_ok DESCRIPTION REASON
not_ok()
{
	tap_nr=$((tap_nr + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_nr - $1"
	echo "# $2"
}

# skip DESCRIPTION REASON
skip()
{
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr - $1 # SKIP $2"
}

# is DESCRIPTION GOT WANTED
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got '$2', wanted '$3'"
	fi
}

# compare DESCRIPTION GOT le|ge BOUND: numbers, with or without a fraction. The value
# is part of the line, also when it is good; what is not a number is not good.
compare()
{
	local sign='<='

	[ "$3" = le ] || sign='>='
	if awk -v got="$2" -v op="$3" -v bound="$4" 'BEGIN {
		if (got !~ /^[0-9]+([.][0-9]+)?$/)
			exit 1
		exit !(op == "le" ? got + 0 <= bound + 0 : got + 0 >= bound + 0)
	}'; then
		ok "$1: $2 $sign $4"
	else
		not_ok "$1: '$2', wanted $sign $4" "not so"
	fi
}

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 77
}

bail_out()
{
	echo "Bail out! $1"
	exit 99
}

done_testing()
{
	echo "1..$tap_nr"
	[ $tap_failed = 0 ]
	exit
}
