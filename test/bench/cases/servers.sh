# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with bench
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Databases beside a writer: what their clients notice.

bench_case postgres case_postgres 150 40 "commits of single rows, 20 a second, beside pg_dump, tar, rsync"
bench_case redis case_redis 150 60 "SET, 20 a second, AOF everysec, on btrfs beside a dd"
bench_case sqlite case_sqlite 150 60 "commits, 20 a second, beside an unpacking tar"

# servers PACKAGE PROGRAM: the database and the client, or it is not possible.
servers()
{
	lab_require "$fs" || impossible "$LAB_WHY"
	install_program "$1" "$2" || impossible "$1 is not installed"
	command -v python3 >/dev/null || impossible "python3 is not installed"
	arm_source "$size" || fail "$LAB_WHY"
	metrics+=(writer_s sync_s peak_outstanding)
}

# A backup by each is a variant of its own, plain and paced.
case_postgres()
{
	local run variant metric wrapper backups="pg_dump tar rsync"

	metrics=(commit_p50_ms commit_p99_ms commit_max_ms)
	servers postgresql pg_dump
	[ "$scope" = full ] || backups=pg_dump
	for ((run = 1; run <= runs; run++)); do
		for SERVERS_BACKUP in $backups; do
			wanted "$SERVERS_BACKUP" || continue
			for variant in plain writepace; do
				under $variant
				say "$SERVERS_BACKUP, run $run of $runs, $variant"
				arm_postgres "$fs" "$rate" "$size" "${wrapper[@]}" || fail "$LAB_WHY"
				for metric in "${metrics[@]}"; do
					row $variant "$run" "${SERVERS_BACKUP}_$metric" "${ARM[$metric]}"
				done
			done
		done
	done
}

case_redis()
{
	fs=${fs_given:-btrfs}
	metrics=(set_p50_ms set_p99_ms set_max_ms slow_fsyncs)
	servers redis-server redis-server
	pairs arm_redis "$fs" "$rate" "$size"
}

case_sqlite()
{
	metrics=(commit_p50_ms commit_p99_ms commit_max_ms)
	servers sqlite3 sqlite3
	pairs arm_sqlite "$fs" "$rate" "$size"
}
