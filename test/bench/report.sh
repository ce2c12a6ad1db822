# shellcheck shell=bash
# shellcheck disable=SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# All cases one after the other, each a bench of its own, and a page of them: DIR/BENCHMARKS.md,
# with all values and plots in DIR/bench. What a case could not do is a line of it.

report_child=

# Seconds of CPU that the machine used since it was started, and that our children did.
report_cpu_s()
{
	awk -v hz="$(getconf CLK_TCK)" '/^cpu / {
		printf "%.1f\n", ($2 + $3 + $4 + $7 + $8 + $9) / hz }' /proc/stat
}

report_own_cpu_s()
{
	times >"$report_tmp"
	awk 'NR == 2 {
		for (i = 1; i <= 2; i++) {
			split($i, part, "[ms]")
			sum += part[1] * 60 + part[2]
		}
		print sum
	}' "$report_tmp"
}

# report_run CASE: its rows, what it said, and in CASE.how the exit status and what else ran.
report_run()
{
	local start=$SECONDS load cpu own status took

	read -r load _ </proc/loadavg
	cpu=$(report_cpu_s)
	report_own_cpu_s >/dev/null
	own=$(report_own_cpu_s)
	rm -f "$report_values/$1".*
	BENCH_VALUES=$report_values timeout -k 60 "$report_longest_s" "$0" "$1" --tsv "--$scope" \
		"${passed_on[@]}" >/dev/null 2>"$report_values/$1.log" </dev/null &
	report_child=$!
	wait $report_child
	status=$?
	report_child=
	: >>"$report_values/$1.rows"
	print_rows tsv "$report_values/$1.rows" >"$report_values/$1.tsv"
	rm "$report_values/$1.rows"
	report_own_cpu_s >/dev/null
	took="took $((SECONDS - start)) s, load average $load at its start"
	took+=", $(awk -v all="$(report_cpu_s)" -v before="$cpu" -v own="$own" \
		-v now="$(report_own_cpu_s)" -v s=$((SECONDS - start)) 'BEGIN {
		printf "%.1f CPUs used by others and the kernel", \
		       ((all - before) - (now - own)) / (s ? s : 1)
		}')"
	echo "$status $took" >"$report_values/$1.how"
}

report_machine()
{
	local store

	store=$(df --output=source,fstype "${TMPDIR:-/var/tmp}" | tail -n 1 | tr -s " ")
	cat <<-END
	- $(date -u +%Y-%m-%d), $(uname -sr), $(uname -m)
	- $(nproc) CPUs: $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
	- memory: $(awk '/^MemTotal/ { printf "%.1f", $2 / 1e6 }' /proc/meminfo) GB;
	  vm.dirty_ratio $(cat /proc/sys/vm/dirty_ratio), background $(cat /proc/sys/vm/dirty_background_ratio)
	- devices: loop, capped by the block cgroup, their files on $store
	- writepace $("$build_dir/writepace" --version | head -n 1 | sed 's/^writepace //'), commit $(git -C "$source_dir" describe --always --dirty 2>/dev/null || echo unknown)
	END
}

report_head()
{
	cat <<-END
	# Benchmarks

	Made by \`bench --$scope${passed_on[*]:+ ${passed_on[*]}} --report DIR\`; do not edit. All values of
	all runs stand in bench/. In each table the first column is what the
	others are compared with (x 0.9: nine tenths of it). Rates and MB are powers of ten.

	$(cat "$report_values/machine.md")

	Under each title stands what else used the machine: read the figures with that in mind.

	END
}

# A bar for each row that both have: writepace over what it is compared with.
report_plot_ratios()
{
	local svg=$report_values/$1.svg

	awk -F '\t' '$2 == "ratio" && $4 ~ /_bps$/ {
		sub(/_bps$/, "", $4)
		print $4 "\t" $5
	}' "$report_values/$1.tsv" >"$report_tmp"
	[ "$(wc -l <"$report_tmp")" -ge 3 ] || return
	gnuplot 2>>"$report_values/$1.log" <<-END || return
	set terminal svg size 900,420 noenhanced
	set output "$svg"
	set datafile separator "\t"
	set style fill solid 0.6
	set boxwidth 0.7
	set yrange [0:*]
	set ylabel "rate, writepace over plain"
	set xtics rotate by -40 nomirror
	set grid y
	unset key
	plot "$report_tmp" using 2:xtic(1) with boxes, 1 with lines dashtype 2
	END
	printf '\n![%s](bench/%s.svg)\n' "$1" "$1"
}

# Shares of a device over time, and the truth.
report_plot_series()
{
	local series=$1 title

	title=$(basename "$series" .series)
	gnuplot 2>>"$report_values/plots.log" <<-END || return
	set terminal svg size 900,320 noenhanced
	set output "${series%.series}.svg"
	set datafile separator "\t"
	set yrange [0:1]
	set xlabel "seconds"
	set ylabel "share of the device"
	set grid
	plot "$series" using 1:2 with lines title "$title", \
		"$series" using 1:3 with steps dashtype 2 title "its share of the load"
	END
	printf '\n![%s](bench/%s.svg)\n' "$title" "$title"
}

report_plots()
{
	local series

	command -v gnuplot >/dev/null || return 0
	report_plot_ratios "$1"
	for series in "$report_values/${1#table1-}"-*.series; do
		[ ! -e "$series" ] || report_plot_series "$series"
	done
}

report_case()
{
	local tsv=$report_values/$1.tsv log=$report_values/$1.log status took

	read -r status took <"$report_values/$1.how" || return 0
	echo "## $1"
	echo
	echo "${case_text[$1]}. \`bench $1 --$scope\` $took."
	echo
	case $status in
	0) ;;
	77) echo "Not run here: $(tail -n 1 "$log" | sed 's/^bench: //')." ;;
	124) echo "Stopped after $report_longest_s s: $(tail -n 1 "$log" | sed 's/^bench: //')." ;;
	*) echo "Failed (status $status): $(tail -n 1 "$log" | sed 's/^bench: //')." ;;
	esac
	[ "$status" = 0 ] || echo
	[ ! -s "$tsv" ] || print_rows markdown "$tsv"
	report_plots "$1"
	echo
}

# What is claimed, from the rows: CLAIM|CASE|VARIANT|METRIC|OVER|le or ge|BOUND. OVER is the
# variant whose value of it the bound is a part of, or - for the value itself.
report_claims()
{
	cat <<-'END'
	rates of table 1, TOTAL|table1|writepace|TOTAL_bps|plain|ge|1.00
	rates of table 2, TOTAL|table2|writepace|TOTAL_bps|plain|ge|1.00
	fs_mark beside a paced writer|table3|writepace|files_fps|alone|ge|0.9
	a reader beside a paced writer|table3|writepace|reader_bps|alone|ge|0.95
	cold start of a program beside one|table3-start|writepace|start_s|alone|le|1.5
	write, task_limit sqrt|table4|sqrt|write_bps|plain|ge|0.97
	rewrite, task_limit sqrt|table4|sqrt|rewrite_bps|plain|ge|0.97
	random write, task_limit sqrt|table4|sqrt|random-write_bps|plain|ge|0.97
	huge pages beside a paced writer, first try|table5|writepace|first_percent|rest|ge|1.00
	the longest wait for one|table5|writepace|first_max_ms|rest|le|1.00
	fsync beside a paced dd, p99 in ms|fsync-beside-dd|writepace|fsync_p99_ms|-|le|60
	most outstanding of it, bytes|fsync-beside-dd|writepace|peak_outstanding|-|le|16777216
	fsync once the speed is known, p99 in ms|known-beside-dd|writepace|fsync_p99_ms|-|le|10
	2 GB at 200 MB/s until durable|throughput-200|writepace|durable_s|plain|le|1.03
	Jain's index of ten equal dd|fairness|writepace|jain_10|-|ge|0.99
	instructions added to a 4 KiB write|fastpath|writepace|instructions_added|-|le|60
	Postgres commits beside pg_dump, worst, ms|postgres|writepace|pg_dump_commit_max_ms|-|le|1000
	Redis SET, worst, ms|redis|writepace|set_max_ms|-|le|200
	END
}

# report_median CASE VARIANT METRIC
report_median()
{
	awk -F '\t' -v variant="$2" -v metric="$3" \
		'$2 == variant && $4 == metric { print $5 }' "$report_values/$1.tsv" 2>/dev/null |
		sort -g | awk '{ v[NR] = $1 }
			END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

report_claims_table()
{
	local claim case variant metric over way bound value first

	echo "## What is claimed"
	echo
	echo "| claim | case | measured | to reach | reached |"
	echo "| --- | --- | --- | --- | --- |"
	while IFS='|' read -r claim case variant metric over way bound; do
		value=$(report_median "$case" "$variant" "$metric")
		[ -n "$value" ] || continue
		first=1
		[ "$over" = - ] || first=$(report_median "$case" "$over" "$metric")
		awk -v claim="$claim" -v case_="$case" -v value="$value" -v first="$first" \
			-v over="$over" -v way="$way" -v bound="$bound" 'BEGIN {
			got = first ? value / first : 0
			digits = got < 100 ? 3 : 0
			got = sprintf("%." digits "f", got)
			good = way == "le" ? got + 0 <= bound + 0 : got + 0 >= bound + 0
			printf "| %s | %s | %s%s | %s %s | %s |\n", claim, case_, got,
			       over == "-" ? "" : " of " over, way == "le" ? "at most" : "at least",
			       bound, good ? "yes" : "**no**"
		}'
	done < <(report_claims)
	echo
}

# What people report, and the case that shows it.
report_reports()
{
	cat <<-'END'
	## What people report

	| report | case |
	| --- | --- |
	| a copy to a stick ends in seconds, the unmount takes minutes; image writers end in a long sync | `fsync-beside-dd` (sync_s), `fs-matrix` (block), `table2` (STICK-DISK) |
	| one `dd` makes a database, etcd or a chat program wait for seconds in fsync | `fsync-beside-dd`, `known-beside-dd`, `overwrite-beside-dd`, `sqlite` |
	| log lines, small files and mapped stores stall (a JVM's pauses) | `light-beside-dd` |
	| commits beside a backup or dump; Redis beside a `dd` | `postgres`, `redis` |
	| a hand-made `--bwlimit`, `ionice`, `pv -L`, cgroup limits that do nothing for buffered writes | `peers-beside-dd` |
	| root lowers vm.dirty_bytes for everybody, per-device limits | `peers-beside-dd` (vm-dirty-bytes, strict-limit) |
	| fdatasync at each close makes small files slow | `many-files`, `programs` (rsync) |
	| a program that syncs itself pays twice (dpkg); a checkpoint's burst of fsyncs | `programs` (dpkg, checkpoint) |
	| downloads written in pieces at random; simulations that want the burst in memory | `programs` (pieces, bursts) |
	| writers in memory groups, huge pages behind dirty ones | `table5` |
	| limits that cost throughput | `table1`, `table2`, `throughput-200` |
	| hundreds of GB from one slow disk to another: the whole session stands still | `reports` (copy) |
	| a camera or recorder loses frames when the card pauses, or to a sync after each write | `reports` (camera, recorder) |
	| a container's start or stop waits for all that others wrote | `reports` (unmount) |
	| a writer in a small memory group is killed, or waits | `reports` (memory) |
	| overlayfs, FUSE, stacked devices, block devices, full and failing ones | `fs-matrix` |
	| preload tools that silently see nothing; that cost more than they give | `coverage`; `peers`, `start`, `fastpath` |

	END
}

# Whatever took longer or ran slower by more than 3 %.
report_slower()
{
	cat <<-END
	## Where writepace is slower

	Every rate, and every time until durable, that was more than 3 % worse than plain here; those of
	\`table4\` stand above:

	| case | what | writepace over plain |
	| --- | --- | --- |
	END
	awk -F '\t' '$2 == "ratio" && $4 !~ /^(written|reader)_bps$/ &&
		($4 ~ /_bps$/ && $5 < 0.97 || $4 ~ /durable_s$/ && $5 > 1.03) {
			print "| " $1 " | " $4 " | " $5 " |"
		}' "$report_values"/*.tsv
	cat <<-'END'

	Why, as far as it is known:

	- Plain, a dd beside others writes its whole file into the disk's queue before they get a turn.
	  Paced, they do get one, and what they write is missing in the dd's rate (`*-beside-dd`:
	  `device_share` counts both).
	- Where others sync, paced programs stay a little below the device's speed (headroom); on btrfs,
	  whose fsync writes most, that costs most.
	- The first 4 MiB to a device never seen before are written in small units, until its speed is
	  known. Where nobody else writes they land as early as plain's; beside others that is not sure.
	- Tables 1 and 2: plain keeps the device full from the first byte to the last, so there is nothing
	  to win. A paced row loses some 10 ms at its begin and end, 0.2 % of the 6 s of a quick one; the
	  cap gives a device its share in pieces of a tenth of a second, 1.6 % of it, either way.
	- Under a limit of a few milliseconds of the device's speed (`thresh=1M`) there is less outstanding
	  than it takes to keep the device busy between two looks at it.
	- `table3`: fs_mark alone writes all that the device can (written), so what a writer beside it is
	  given is missing there, a sixteenth of the device at least. It is counted from 5 s on: before
	  that it has less, for it is not known who is there (full size, from 1 s on: 0.91).
	- A device that stands still for most of a second now and then (`reports`, camera): a producer
	  that plain never waits does when that is more than what is left of its limit, 4 MiB until the
	  device's speed is known; and where the journal is full meanwhile, it waits in starting writeback,
	  where plain the kernel's flusher does.
	- `table5` in a larger group (`bench table5`, 512 MB): the longest of 230 waits for a huge page was
	  39 to 52 ms beside a paced writer, 1 to 12 ms at rest, 800 to 1600 ms plain (three pairs). The
	  program does not sleep in it: reclaim or the machine's host is at work.
	- Where other programs want all CPUs (see the line under the title), a paced program does not come
	  back in time to start the next unit; plain, the kernel's flusher does.
	- What plain writes into memory and rewrites there before the kernel's 30 s are over reaches the
	  device once. Paced it may reach it every time (`table4`).
	END
	echo
}

report_page()
{
	local case

	report_head
	report_claims_table
	report_slower
	report_reports
	for case in "${case_names[@]}"; do
		report_case "$case"
	done
}

report_stop()
{
	[ -z "$report_child" ] || kill "$report_child" 2>/dev/null
	wait
	rm -f "$report_tmp"
}

report_all()
{
	local case machine

	report_tmp=$(mktemp) || fail "no temporary file"
	trap report_stop EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	report_dir=${report_dir:-bench-report}
	report_values=$report_dir/bench
	mkdir -p "$report_values" || fail "cannot write to $report_dir"
	report_values=$(cd "$report_values" && pwd)
	report_longest_s=100000
	[ "$scope" = full ] || report_longest_s=240
	. "$source_dir/test/bench/results.sh"
	if [ -z "$page_only" ]; then
		# Why not at once: a page of before is a part of what is committed.
		machine=$(report_machine)
		echo "$machine" >"$report_values/machine.md"
		for case in "${case_names[@]}"; do
			echo "bench: $case, $SECONDS s so far" >&2
			report_run "$case"
		done
	fi
	report_page >"$report_dir/BENCHMARKS.md" 2>/dev/null
	echo "bench: $report_dir/BENCHMARKS.md, $SECONDS s" >&2
}
