# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the library costs a program that is not slept: instructions, starts, an add.

bench_case start case_start - - "time to start /bin/true, 200 rounds in each run"
bench_case fastpath case_fastpath - - "instructions added to a 4 KiB write"
bench_case peers case_peers - - "the same and other calls beside nocache, libeatmydata, trickle"
bench_case fprop case_fprop - - "an add to a proportion domain, beside an atomic add and a mutex"

SPAWN_ROUNDS=200
FPROP_ROUNDS=5000000

case_start()
{
	local empty=$LAB_TMP/empty.so
	local run line word library variant

	echo "extern int nothing;" |
		"${CC:-cc}" -shared -fPIC -x c -o "$empty" - 2>/dev/null ||
		impossible "no C compiler for the empty library"
	for ((run = 1; run <= runs; run++)); do
		lab_forget
		"$build_dir/test/bench/spawn" $SPAWN_ROUNDS "$empty" "$library_path" \
			>"$LAB_TMP/spawn" || fail "spawn failed"
		while read -r library line; do
			case $library in
			plain) variant=plain ;;
			"$empty") variant=empty ;;
			*) variant=writepace ;;
			esac
			for word in $line; do
				[ "$variant ${word%=*}" != "plain added_us" ] || continue
				row $variant "$run" "${word%=*}" "${word#*=}"
			done
		done <"$LAB_TMP/spawn"
	done
}

# instructions LIBRARY COUNT
instructions()
{
	LD_PRELOAD=$1 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		--log-file="$LAB_TMP/callgrind" \
		"$build_dir/test/bench/writes" "$2" "$LAB_TMP/file" &&
		awk '$2 == "Collected" { print $4 }' "$LAB_TMP/callgrind"
}

# per_write LIBRARY: from 10000 writes more or less.
per_write()
{
	local few many

	few=$(instructions "$1" 1000) || fail "callgrind failed"
	many=$(instructions "$1" 11000) || fail "callgrind failed"
	awk -v few="$few" -v many="$many" 'BEGIN { print (many - few) / 10000 }'
}

case_fastpath()
{
	local run plain paced

	command -v valgrind >/dev/null || impossible "valgrind is not installed"
	for ((run = 1; run <= runs; run++)); do
		lab_forget
		plain=$(per_write "") && paced=$(per_write "$library_path") || exit
		row plain "$run" instructions_per_write "$plain"
		row writepace "$run" instructions_per_write "$paced"
		row writepace "$run" instructions_added \
			"$(awk -v a="$paced" -v b="$plain" 'BEGIN { print a - b }')"
	done
}

# peer NAME: what its wrapper adds to the environment, into the array env.
peer()
{
	local wrapper

	case $1 in
	plain) wrapper=(env) ;;
	writepace) wrapper=("$LAB_WRITEPACE") ;;
	nocache | eatmydata) wrapper=("$1") ;;
	trickle) wrapper=(trickle -s -u 1000000 -d 1000000) ;;
	esac
	mapfile -t env < <("${wrapper[@]}" env | grep -vxFf <(env) | grep -v '^_=')
}

# peer_instructions COMMAND...
peer_instructions()
{
	env "${env[@]}" valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		--log-file="$LAB_TMP/callgrind" "$@" >/dev/null &&
		awk '$2 == "Collected" { print $4 }' "$LAB_TMP/callgrind"
}

# peer_row NAME RUN CALL: instructions and nanoseconds of one.
peer_row()
{
	local program=$build_dir/test/bench/peers few many

	rm -f "$LAB_TMP/file"
	few=$(peer_instructions "$program" "$3" 1000 "$LAB_TMP/file") || fail "callgrind failed"
	many=$(peer_instructions "$program" "$3" 11000 "$LAB_TMP/file") ||
		fail "callgrind failed"
	row "$1" "$2" "instructions_$3" \
		"$(awk -v a="$many" -v b="$few" 'BEGIN { print (a - b) / 10000 }')"
	row "$1" "$2" "$3_ns" "$(env "${env[@]}" "$program" "$3" 100000 "$LAB_TMP/file")"
}

# shellcheck disable=SC2016 # a shell of its own
# The least of fifty starts, in us: what nobody disturbed.
peer_start()
{
	row "$1" "$2" instructions_start "$(peer_instructions /bin/true)"
	row "$1" "$2" start_us "$(env "${env[@]}" bash -c 'least=1000000
		for ((i = 0; i < 50; i++)); do
			start=${EPOCHREALTIME/./}
			/bin/true
			us=$((${EPOCHREALTIME/./} - start))
			((us >= least)) || least=$us
		done
		echo $least')"
}

case_peers()
{
	local run peer call env peers=(plain writepace)
	local others="nocache eatmydata trickle" calls="write-1 write-4096 open-close dup-close"

	command -v valgrind >/dev/null || impossible "valgrind is not installed"
	[ "$scope" = full ] || { calls=write-4096 && others=nocache; }
	for peer in $others; do
		if install_program "$peer" "$peer"; then
			peers+=("$peer")
		else
			echo "bench: $peer cannot be installed" >&2
		fi
	done
	export WRITEPACE_HELPER=off
	for ((run = 1; run <= runs; run++)); do
		lab_forget
		for peer in "${peers[@]}"; do
			echo "bench: $name, run $run of $runs, $peer" >&2
			peer "$peer"
			peer_start "$peer" "$run"
			for call in $calls; do
				peer_row "$peer" "$run" "$call"
			done
		done
	done
}

case_fprop()
{
	local run variant metric

	for ((run = 1; run <= runs; run++)); do
		"$build_dir/test/bench/fprop" $FPROP_ROUNDS >"$LAB_TMP/fprop" ||
			fail "fprop failed"
		while read -r variant metric; do
			case $variant in
			atomic) variant=plain ;;
			fprop) variant=writepace ;;
			esac
			row "$variant" "$run" "${metric%=*}" "${metric#*=}"
		done <"$LAB_TMP/fprop"
	done
}
