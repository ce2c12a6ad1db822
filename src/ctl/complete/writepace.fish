# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Completion of writepace and writepacectl in fish. Options and commands are read from their own
# --help, so they are those of the programs that are there.

# --name<TAB>help of each long option in the help of these words
function __writepace_options
    $argv --help 2>/dev/null | string replace -rf '^ +(?:-[a-zA-Z], )?(--[a-z-]+=?)\S* +(.*)' '$1\t$2'
end

function __writepacectl_commands
    writepacectl --help 2>/dev/null | sed -n '/^Commands:/,/^$/p' |
        string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
end

function __writepacectl_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end

complete -c writepacectl -n 'test -z (__writepacectl_command)' -f -a '(__writepacectl_commands)'
complete -c writepacectl -n 'test -n (__writepacectl_command)' \
    -a '(string match -q -- "-*" (commandline -ct); and __writepace_options writepacectl (__writepacectl_command))'
complete -c writepace -a '(string match -q -- "-*" (commandline -ct); and __writepace_options writepace; or __fish_complete_subcommand)'
