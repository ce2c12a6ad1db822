# shellcheck shell=bash
# shellcheck disable=SC2015,SC2016,SC2034,SC2154 # shared with the laboratory, shells of their own
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A group with little memory. cgroup v1: there the block throttle of the root group still holds
# for what is written from within.
#
#	memory_group 384	in MB
#	memory_run COMMAND...	in it
#	memory_remove

MEMORY_GROUP=
LAB_AT_END+=(memory_remove)

memory_group()
{
	local root

	root=$(findmnt -n -o TARGET -t cgroup -O memory | head -n 1)
	[ -n "$root" ] || lab_fail "no memory groups of cgroup v1" || return
	MEMORY_GROUP=$root/writepace-lab.$$
	mkdir "$MEMORY_GROUP" && echo "$1M" >"$MEMORY_GROUP/memory.limit_in_bytes" ||
		lab_fail "no memory group can be made"
}

memory_run()
{
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$MEMORY_GROUP" "$@"
}

# The helper that a paced program started stays behind in it, and what is charged to it goes
# first: else the group can not be removed.
memory_remove()
{
	local pid

	[ -n "$MEMORY_GROUP" ] || return 0
	while read -r pid; do
		echo "$pid" >"${MEMORY_GROUP%/*}/cgroup.procs" 2>/dev/null
	done <"$MEMORY_GROUP/cgroup.procs"
	echo 0 >"$MEMORY_GROUP/memory.force_empty" 2>/dev/null
	lab_retry rmdir "$MEMORY_GROUP"
	MEMORY_GROUP=
}
