# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Published table 3: programs that sync and that read, beside a writer.

bench_case table3 case_readers - - "published table 3: fs_mark and a reader beside a writer, sync_hold"
bench_case table3-start case_readers_start 300 100 "published table 3: cold start of a large program beside a dd"

case_readers()
{
	local run variant span=20

	lab_require "$fs" || impossible "$LAB_WHY"
	install_program fsmark fs_mark || impossible "fs_mark is not installed (Debian: fsmark)"
	[ "$scope" = full ] || span=10
	for ((run = 1; run <= runs; run++)); do
		for variant in alone plain writepace hold-100ms hold-0; do
			say "run $run of $runs, $variant"
			readers_arm "$fs" $span $variant || fail "$LAB_WHY"
			row $variant "$run" files_fps "${ARM[files_fps]}"
			row $variant "$run" reader_bps "${ARM[reader_bps]}"
			row $variant "$run" written_bps "${ARM[written_bps]}"
		done
	done
}

case_readers_start()
{
	local run variant

	lab_require "$fs" || impossible "$LAB_WHY"
	for ((run = 1; run <= runs; run++)); do
		for variant in alone plain writepace; do
			say "run $run of $runs, $variant"
			readers_start_arm "$fs" "$rate" "$size" $variant || fail "$LAB_WHY"
			row $variant "$run" start_s "${ARM[start_s]}"
		done
	done
}
