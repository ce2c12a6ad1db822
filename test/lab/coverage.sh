#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs that write by every way there is: what is charged is what they dirtied. Oracle: the
# kernel's count (ru_oublock) of the whole command, asked by its parent. `bench coverage` does the
# same on a slow device and shows the numbers.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"
. "$here/programs.sh"

MB=${WRITEPACE_COVERAGE_MB:-24}
export PROGRAMS_RATE=209715200

lab_require ext4 || skip_all "$LAB_WHY"
programs_prepare "$MB" || bail_out "$LAB_WHY"
lab_make ext4 $((MB * 4 + 64)) $PROGRAMS_RATE || bail_out "$LAB_WHY"
lab_forget

while IFS='|' read -r kind name _ program command; do
	command -v "$program" >/dev/null || {
		skip "$name" "$program is not installed"
		continue
	}
	if [ "$kind" = refused ]; then
		eval "\"\$LAB_WRITEPACE\" $command" >"$LAB_TMP/out" 2>"$LAB_TMP/refused"
		is "$name: refused" $? 125
		is "$name: named" "$(grep -c "^writepace: .*${command%% *}\|$CODE" "$LAB_TMP/refused")" 1
		continue
	fi
	programs_run "$command" || bail_out "$LAB_WHY"
	echo "# $name: charged ${PROGRAM[charged]} dirtied ${PROGRAM[dirtied]}" \
		"uncovered ${PROGRAM[uncovered]} peak ${PROGRAM[peak]}"
	is "$name: exit status, stderr" "${PROGRAM[status]} ${PROGRAM[said]}" "0 "
	compare "$name: bytes dirtied" "${PROGRAM[dirtied]}" ge $((MB << 19))
	if [ "$kind" = libc ]; then
		compare "$name: charged of what was dirtied" "${PROGRAM[ratio]}" ge 0.98
		compare "$name: charged of what was dirtied" "${PROGRAM[ratio]}" le 1.02
	else
		compare "$name: bytes uncovered" "${PROGRAM[uncovered]}" ge $((MB * 1000000))
		compare "$name: charged and uncovered, of what was dirtied" "$(arm_ratio \
			$((PROGRAM[charged] + PROGRAM[uncovered])) \
			"${PROGRAM[dirtied]}" 3)" ge 0.98
	fi
done < <(programs_list)

done_testing
