# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the second front end costs beside the first, and beside the smallest filters and the
# emptiest supervisor there are.

bench_case front-ends case_front_ends 1000 200 "a write of 1 byte to 1 MiB, plain, preloaded, under --any; a dd at 200 MB/s"

# front_ends_write HOW COUNT BYTES FILE METRIC: the program is the same, but --any gets it without a
# loader. Of several rounds the least: what else the machine does only adds.
front_ends_write()
{
	local variant nanoseconds variants="plain filter-all filter notify writepace any"
	local -A least=()

	for ((round = 0; round < rounds; round++)); do
		for variant in $variants; do
			rm -f "$4"
			if [ "$1" = time ]; then
				lab_forget
			else
				arm_touch_memory $(($2 * $3 >> 20)) || fail "$LAB_WHY"
			fi
			# shellcheck disable=SC2086 # words
			nanoseconds=$(${front[$variant]} "$LAB_TMP/copy$(
				[ $variant != any ] || echo .static)" "--$1" "$2" "$4" "$3") ||
				fail "copy failed"
			least[$variant]=$(printf '%s\n' "$nanoseconds" \
				"${least[$variant]-$nanoseconds}" | sort -g | head -n 1)
		done
	done
	rm -f "$4"
	for variant in $variants; do
		row "$variant" "$run" "$5" "${least[$variant]}"
	done
}

# Where the speed is known so much at a time is not paced.
front_ends_know()
{
	lab_forget
	${front[writepace]} "$LAB_TMP/copy" --extend 1500 "$LAB_TMP/file" 1048576 >/dev/null ||
		fail "copy failed"
	rm -f "$LAB_TMP/file"
}

# The part of a core that a supervisor takes for 10,000 calls a second.
front_ends_share()
{
	local supervisor before_ns after_ns

	lab_forget
	${front[any]} "$LAB_TMP/copy.static" --often 40000 "$LAB_TMP/file" 4096 \
		>"$LAB_TMP/often" &
	sleep 1
	supervisor=$(arm_ours writepace-any)
	read -r before_ns _ <"/proc/$supervisor/schedstat"
	sleep 2
	read -r after_ns _ <"/proc/$supervisor/schedstat"
	wait $! || fail "copy failed"
	row any "$run" calls_10000_core \
		"$(arm_ratio $((after_ns - before_ns)) 2000000000 3)"
	row any "$run" calls_10000_ns "$(<"$LAB_TMP/often")"
}

case_front_ends()
{
	local run round variant rounds=5
	local -A front=([plain]="env" [writepace]="$LAB_WRITEPACE" [any]="$LAB_WRITEPACE --any"
		[filter-all]="$LAB_TMP/bare all" [filter]="$LAB_TMP/bare length"
		[notify]="$LAB_TMP/bare notify")

	[ "$scope" = full ] || rounds=3
	{
		"${CC:-cc}" -O2 -o "$LAB_TMP/copy" "$source_dir/test/any/copy.c" &&
			"${CC:-cc}" -O2 -o "$LAB_TMP/bare" "$source_dir/test/any/bare.c" &&
			"${CC:-cc}" -O2 -static -o "$LAB_TMP/copy.static" "$source_dir/test/any/copy.c"
	} || impossible "no C compiler, or no static libc"
	lab_require "$fs" || impossible "$LAB_WHY"
	for ((run = 1; run <= runs; run++)); do
		front_ends_write time 300000 1 "$LAB_TMP/file" write_1_ns
		front_ends_write time 50000 4096 "$LAB_TMP/file" write_4096_ns
		front_ends_write time 10000 65536 "$LAB_TMP/file" write_65536_ns
		front_ends_write time 1000 1048576 "$LAB_TMP/file" write_1048576_ns
		front_ends_know
		front_ends_write extend 100 1048576 "$LAB_TMP/file" extend_1048576_ns
		front_ends_write durable 200 1048576 "$LAB_TMP/file" durable_1048576_ns
		# Nothing to pace there: the way to the supervisor and back alone.
		front_ends_write time 50000 4096 "/dev/shm/front-ends.$$" passed_4096_ns
		front_ends_write time 1000 1048576 "/dev/shm/front-ends.$$" passed_1048576_ns
		front_ends_share
		for variant in plain writepace any; do
			# shellcheck disable=SC2086 # words
			arm_durable "$fs" 209715200 "$size" ${front[$variant]} || fail "$LAB_WHY"
			row "$variant" "$run" durable_s "${ARM[durable_s]}"
		done
	done
}
