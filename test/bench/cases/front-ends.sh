# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the second front end costs beside the first.

bench_case front-ends case_front_ends 1000 200 "a write of 1 byte to 1 MiB, plain, preloaded, under --any; a dd at 200 MB/s"

# The program is the same, but --any gets it without a loader.
case_front_ends()
{
	local variants="plain writepace any"
	local run variant bytes nanoseconds
	local -A front=([plain]="env" [writepace]="$LAB_WRITEPACE" [any]="$LAB_WRITEPACE --any")
	local -A counts=([1]=300000 [4096]=50000 [65536]=20000 [1048576]=1000)

	{
		"${CC:-cc}" -O2 -o "$LAB_TMP/copy" "$source_dir/test/any/copy.c" &&
			"${CC:-cc}" -O2 -static -o "$LAB_TMP/copy.static" "$source_dir/test/any/copy.c"
	} || impossible "no C compiler, or no static libc"
	lab_require "$fs" || impossible "$LAB_WHY"
	for ((run = 1; run <= runs; run++)); do
		for bytes in 1 4096 65536 1048576; do
			for variant in $variants; do
				lab_forget
				# shellcheck disable=SC2086 # words
				nanoseconds=$(${front[$variant]} "$LAB_TMP/copy$(
					[ $variant != any ] || echo .static)" --time \
					"${counts[$bytes]}" "$LAB_TMP/file" $bytes) ||
					fail "copy failed"
				row "$variant" "$run" "write_${bytes}_ns" "$nanoseconds"
			done
		done
		for variant in $variants; do
			# shellcheck disable=SC2086 # words
			arm_durable "$fs" 209715200 "$size" ${front[$variant]} || fail "$LAB_WHY"
			row "$variant" "$run" durable_s "${ARM[durable_s]}"
		done
	done
}
