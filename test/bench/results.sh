# shellcheck shell=bash
# shellcheck disable=SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Rows of results: case, variant, run, metric, value, unit. All that is printed is made of them
# by report.awk.

# row VARIANT RUN METRIC VALUE: the unit is in the metric's name.
row()
{
	local unit

	case $3 in
	*_ms) unit=ms ;;
	*_us) unit=us ;;
	*_ns) unit=ns ;;
	*_s) unit=s ;;
	*_bps) unit=B/s ;;
	*_fps) unit=files/s ;;
	*_percent) unit=percent ;;
	*_bytes | *peak_outstanding) unit=B ;;
	*oom_kills) unit=programs ;;
	*limit_hits) unit=hits ;;
	slow_fsyncs) unit=warnings ;;
	needs_root) unit=yes=1 ;;
	instructions_*) unit=instructions ;;
	*_extents) unit=extents ;;
	*) unit=ratio ;;
	esac
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$1" "$2" "$3" "$4" "$unit" >>"$rows"
}

# skipped WHAT REASON: a line of the table that this machine can not fill.
skipped()
{
	echo "bench: $1 skipped: $2" >&2
	printf '%s\tskipped\t0\t%s\t-\t%s\n' "$name" "$1" "${2//$'\t'/ }" >>"$rows"
}

# total VARIANT RUN: the sum of all rates of the run, where no row of it is missing.
total()
{
	row "$1" "$2" TOTAL_bps "$(awk -F '\t' -v variant="$1" -v run="$2" '
		$2 == variant && $3 == run && $4 ~ /_bps$/ { sum += $5 }
		END { printf "%.0f", sum }' "$rows")"
}

# print_rows FORM: text, tsv or markdown.
print_rows()
{
	awk -F '\t' -v form="$1" -f "$source_dir/test/bench/report.awk" "${2:-$rows}"
}

# record VARIANT RUN: what the arm left in ARM.
record()
{
	local metric

	for metric in "${metrics[@]}"; do
		row "$1" "$2" "$metric" "${ARM[$metric]}"
	done
}

# pairs ARM_FUNCTION ARGUMENT...: every arm on a device of its own.
pairs()
{
	local run variant wrapper

	for ((run = 1; run <= runs; run++)); do
		for variant in plain writepace; do
			under $variant
			say "run $run of $runs, $variant"
			"$@" "${wrapper[@]}" || fail "$LAB_WHY"
			record $variant "$run"
		done
	done
}
