# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Completion of writepace and writepacectl in bash. Options and commands are read from their own
# --help, so they are those of the programs that are there.

# Long options in the help of these words.
_writepace_options()
{
	"$@" --help 2>/dev/null | grep -oE -- '^ +(-[a-zA-Z], )?--[a-z-]+=?' | grep -oE -- '--[a-z-]+=?'
}

_writepace_commands()
{
	"$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# _writepace_reply FLAGS WORDS WORD
_writepace_reply()
{
	mapfile -t COMPREPLY < <(compgen "$1" "$2" -- "$3")
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}

_writepace()
{
	local word=${COMP_WORDS[COMP_CWORD]} i

	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || break
	done
	if [ $i -lt "$COMP_CWORD" ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	elif [[ $word == -* ]]; then
		_writepace_reply -W "$(_writepace_options "${COMP_WORDS[0]}")" "$word"
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	fi
}

_writepacectl()
{
	local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]-}

	if [ "$COMP_CWORD" -eq 1 ]; then
		_writepace_reply -W "$(_writepace_commands "$program") --help --version" "$word"
	elif [[ $word == -* ]]; then
		_writepace_reply -W "$(_writepace_options "$program" "$command")" "$word"
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -F _writepace writepace
complete -F _writepacectl writepacectl
