#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Oracle: the programs' own --help and keys.def, against the man pages; mandoc's opinion of them;
# and what the completion of bash offers.

. "$(dirname "${BASH_SOURCE[0]}")/lint.sh"

wrapper=$build_dir/writepace
ctl=$build_dir/writepacectl
if [ ! -x "$wrapper" ] || [ ! -x "$ctl" ]; then
	skip_all "no programs in this build"
fi

find doc/man -type f | sort >"$work/pages"
[ -s "$work/pages" ] || bail_out "no man pages"

if command -v mandoc >/dev/null; then
	# What else is installed is no matter of ours.
	xargs mandoc -T lint -W style <"$work/pages" 2>/dev/null |
		grep -v 'referenced manual not found' | none "mandoc has nothing to say"
else
	skip "mandoc has nothing to say" "no mandoc"
fi

# long_options: of a --help on standard input
long_options()
{
	grep -oE -- '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sed 's/^--//' | sort -u
}

# page_options PAGE: the long options that a page explains
page_options()
{
	sed -n 's/^\.It //p' "$1" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl -//' | sort -u
}

"$wrapper" --help | long_options >"$work/options"
page_options doc/man/writepace.1 >"$work/explained"
comm -23 "$work/options" "$work/explained" | none "writepace.1 has every option of --help"
comm -13 "$work/options" "$work/explained" | none "writepace.1 has no other option"
while read -r variable; do
	grep -q "^\.It Ev $variable\$" doc/man/writepace.conf.5 || echo "$variable"
done < <(sed -nE 's/^KEY\([a-z_]+, "([A-Z_]+)".*/\1/p' src/conf/keys.def) |
	none "writepace.conf.5 has every key"
sed -nE 's/^\.It Ev ([A-Z_]+)$/\1/p' doc/man/writepace.conf.5 | while read -r variable; do
	grep -q "\"$variable\"" src/conf/keys.def || echo "$variable"
done | none "writepace.conf.5 has no other key"

"$ctl" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 5 ] || bail_out "no commands in writepacectl --help"
sed -nE 's/^\.It Cm ([a-z]+).*/\1/p' doc/man/writepacectl.1 | sort >"$work/explained"
comm -23 "$work/commands" "$work/explained" | none "writepacectl.1 has every command"
comm -13 "$work/commands" "$work/explained" | none "writepacectl.1 has no other command"
while read -r command; do
	"$ctl" "$command" --help | long_options | grep -vx json
done <"$work/commands" | sort -u >"$work/options"
page_options doc/man/writepacectl.1 >"$work/explained"
comm -23 "$work/options" "$work/explained" | none "writepacectl.1 has every option"
comm -13 "$work/options" "$work/explained" | none "writepacectl.1 has no other option"

observer=$build_dir/writepace-observer
if [ -x "$observer" ]; then
	"$observer" --help | long_options >"$work/options"
	page_options doc/man/writepace-observer.8 >"$work/explained"
	comm -3 "$work/options" "$work/explained" |
		none "writepace-observer.8 has the options of --help"
else
	skip "writepace-observer.8 has the options of --help" "no writepace-observer in this build"
fi

# offers FUNCTION WORD...: what bash would offer for the last word
offers()
{
	bash -c '. src/ctl/complete/writepace.bash
		function=$1
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		"$function" 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"' - "$@" | sort
}

offers _writepacectl "$ctl" "" | grep -v '^--' | comm -3 "$work/commands" - |
	none "bash offers the commands of writepacectl"
while read -r command; do
	offers _writepacectl "$ctl" "$command" -- | sed 's/^--//; s/=$//' |
		comm -3 <("$ctl" "$command" --help | long_options) -
done <"$work/commands" | none "bash offers each command's options"
offers _writepace "$wrapper" -- | sed 's/^--//; s/=$//' |
	comm -3 <("$wrapper" --help | long_options) - | none "bash offers the options of writepace"
is "bash offers programs behind them" "$(offers _writepace "$wrapper" -n tru | sort -u | grep -x true)" true

if command -v fish >/dev/null; then
	PATH=$build_dir:$PATH HOME=$work fish -c "source src/ctl/complete/writepace.fish
		complete -C 'writepacectl '" | cut -f 1 | sort | comm -3 "$work/commands" - |
		none "fish offers the commands of writepacectl"
else
	skip "fish offers the commands of writepacectl" "no fish"
fi
# shellcheck disable=SC2016 # of zsh
# zsh_offers NAME WORD...: what zsh would offer for the last word; its own functions only show it
zsh_offers()
{
	zsh -fc '_describe() { print -rl -- ${(P)argv[-1]} }
		_files() { }
		complete_it() { . src/ctl/complete/_writepace }
		service=$1
		shift
		words=("$@") CURRENT=$#
		complete_it' - "$@" | sed -E 's/=?:.*//; s/^--//' | sort
}

if command -v zsh >/dev/null; then
	zsh_offers writepacectl "$ctl" "" | comm -3 "$work/commands" - |
		none "zsh offers the commands of writepacectl"
	while read -r command; do
		zsh_offers writepacectl "$ctl" "$command" -- |
			comm -3 <("$ctl" "$command" --help | long_options) -
	done <"$work/commands" | none "zsh offers each command's options"
	zsh_offers writepace "$wrapper" -- | comm -3 <("$wrapper" --help | long_options) - |
		none "zsh offers the options of writepace"
else
	skip "zsh offers the commands and options" "no zsh"
fi
for shell in zsh fish; do
	file=src/ctl/complete/_writepace
	[ $shell = zsh ] || file=src/ctl/complete/writepace.fish
	if command -v $shell >/dev/null; then
		$shell -n $file 2>&1 | none "$shell can read its completion"
	else
		skip "$shell can read its completion" "no $shell"
	fi
done
done_testing
