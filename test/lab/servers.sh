# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Arms of a comparison with a database beside the writer: its clients' latencies from their
# scheduled start, 20 times a second, from one second before the writer to three after its sync.

declare -A ARM

# Milliseconds, one a line, into ARM[NAME_p50_ms], p99 and max.
servers_percentiles()
{
	local key value

	while read -r key value; do
		ARM[$1_${key}_ms]=$value
	done < <(sort -n | awk '{ v[NR] = $1 } END {
		printf "p50 %.3f\np99 %.3f\nmax %.3f\n", v[int((NR + 1) / 2)],
		       v[int(NR * 0.99 + 0.99)], v[NR]
	}')
}

# servers_writer COMMAND...: it and a sync, on the clock.
servers_writer()
{
	local start wrote

	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	local watch_pid=$!
	lab_run sleep 1
	start=${EPOCHREALTIME/./}
	lab_run "$@" || lab_fail "the writer failed with status $?" || return
	wrote=${EPOCHREALTIME/./}
	lab_run sync -f "$LAB_MNT" || lab_fail "sync failed" || return
	ARM[writer_s]=$(arm_ratio $((wrote - start)) 1000000 2)
	ARM[sync_s]=$(arm_ratio $((${EPOCHREALTIME/./} - wrote)) 1000000 2)
	lab_run sleep 3
	arm_stop $watch_pid || lab_fail "watching the device failed" || return
	ARM[peak_outstanding]=$(arm_value peak_outstanding "$LAB_TMP/watch")
}

# servers_probe CLIENT...: a client that answers each line of its input by one of output. One a
# twentieth of a second until SIGTERM; prints the milliseconds from when each was due.
servers_probe()
{
	exec python3 -c '
import signal, subprocess, sys, time

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
client = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
due = time.monotonic()
while True:
    due += 0.05
    time.sleep(max(0, due - time.monotonic()))
    client.stdin.write(sys.argv[1].encode() + b"\n")
    client.stdin.flush()
    if not client.stdout.readline():
        sys.exit(1)
    print("%.3f" % ((time.monotonic() - due) * 1000), flush=True)
' "$@"
}

# --- Postgres: single row commits beside a dump -------------------------------------------

# Why no function: in the background it would stand between us and the server.
servers_as_postgres=(setpriv --reuid postgres --regid postgres --init-groups)

servers_sql()
{
	psql -q -X -v ON_ERROR_STOP=1 -U postgres -h "$LAB_TMP/pg" "$@" >"$LAB_TMP/sql" 2>&1 ||
		lab_fail "psql: $(tail -n 1 "$LAB_TMP/sql")"
}

# A table whose dump has SIZE_MB, frozen and on the device: reading it dirties nothing.
servers_postgres_start()
{
	local size_mb=$1
	local data=$LAB_MNT/pg

	rm -rf "$LAB_TMP/pg"
	mkdir "$LAB_TMP/pg" "$data" && chown postgres "$LAB_TMP/pg" "$data" || return
	"${servers_as_postgres[@]}" "$servers_pg/initdb" -A trust -D "$data" >"$LAB_TMP/initdb" 2>&1 ||
		lab_fail "initdb: $(tail -n 1 "$LAB_TMP/initdb")" || return
	"${servers_as_postgres[@]}" "$servers_pg/postgres" -D "$data" -k "$LAB_TMP/pg" -h "" \
		-c autovacuum=off -c max_wal_size=4GB >"$LAB_TMP/pg.log" 2>&1 &
	servers_pid=$!
	lab_retry psql -q -X -U postgres -h "$LAB_TMP/pg" -c "" || lab_fail "no Postgres" || return
	servers_sql -c "create table big as select g, md5(g::text) || md5(random()::text) x
			from generate_series(1, $((size_mb * 1048576 / 73))) g" \
		-c "create table small(at timestamptz)" -c "vacuum freeze" -c checkpoint
}

# What saves the database, onto its own device. The copies are of files that change: tar and
# rsync say so and are not asked.
servers_backup_pg_dump()
{
	"$@" pg_dump -U postgres -h "$LAB_TMP/pg" -f "$LAB_MNT/backup" postgres
}

servers_backup_tar()
{
	"$@" tar -c -f "$LAB_MNT/backup" -C "$LAB_MNT" --warning=no-file-changed pg || [ $? = 1 ]
}

servers_backup_rsync()
{
	"$@" rsync -a "$LAB_MNT/pg/" "$LAB_MNT/backup/" || [ $? = 24 ]
}

# arm_postgres FS RATE SIZE_MB [WRAPPER...], beside SERVERS_BACKUP: pg_dump, tar or rsync.
SERVERS_BACKUP=pg_dump
arm_postgres()
{
	local fs=$1 rate=$2 size_mb=$3
	local probe_pid

	shift 3
	ARM=()
	servers_pg=$(find /usr/lib/postgresql/*/bin -maxdepth 0 | tail -n 1)
	lab_make "$fs" $((size_mb * 4 + 600)) "$rate" || return
	lab_forget
	lab_cap 0
	servers_postgres_start "$size_mb" || return
	sync -f "$LAB_MNT"
	lab_cap "$rate"
	servers_probe "insert into small values (now()) returning 1;" \
		psql -q -X -A -t -U postgres -h "$LAB_TMP/pg" >"$LAB_TMP/latencies" &
	probe_pid=$!
	servers_writer servers_backup_$SERVERS_BACKUP "$@" || return
	arm_stop $probe_pid || lab_fail "the probe failed" || return
	[ "$(wc -l <"$LAB_TMP/latencies")" -ge 20 ] || lab_fail "hardly a commit" || return
	servers_percentiles commit <"$LAB_TMP/latencies"
	[ -s "$LAB_MNT/backup" ] || lab_fail "no backup" || return
	lab_cap 0
	kill -INT "$servers_pid"
	wait "$servers_pid"
	lab_remove
}

# --- Redis: SET beside a dd ---------------------------------------------------------------

# arm_redis FS RATE SIZE_MB [WRAPPER...]
arm_redis()
{
	local fs=$1 rate=$2 size_mb=$3
	local probe_pid

	shift 3
	ARM=()
	lab_make "$fs" "$(arm_device_mb "$size_mb")" "$rate" || return
	lab_forget
	mkdir "$LAB_MNT/redis"
	redis-server --port 0 --unixsocket "$LAB_TMP/redis.sock" --dir "$LAB_MNT/redis" \
		--appendonly yes --appendfsync everysec --save "" >"$LAB_TMP/redis.log" &
	servers_pid=$!
	lab_retry redis-cli -s "$LAB_TMP/redis.sock" ping >/dev/null || lab_fail "no Redis" || return
	servers_probe "set key $(printf %0100d 0)" \
		redis-cli -s "$LAB_TMP/redis.sock" >"$LAB_TMP/latencies" &
	probe_pid=$!
	servers_writer "$@" dd if="$ARM_SOURCE" of="$LAB_MNT/big" bs=1M status=none || return
	arm_stop $probe_pid || lab_fail "the probe failed" || return
	[ "$(wc -l <"$LAB_TMP/latencies")" -ge 20 ] || lab_fail "hardly a SET" || return
	servers_percentiles set <"$LAB_TMP/latencies"
	# shellcheck disable=SC2034 # read by who called
	ARM[slow_fsyncs]=$(grep -c 'fsync is taking too long' "$LAB_TMP/redis.log")
	lab_cap 0
	arm_stop "$servers_pid"
	lab_remove
}

# --- SQLite: commits beside an unpacking tar ----------------------------------------------

# arm_sqlite FS RATE SIZE_MB [WRAPPER...]
arm_sqlite()
{
	local fs=$1 rate=$2 size_mb=$3
	local probe_pid

	shift 3
	# shellcheck disable=SC2034 # read by who called
	ARM=()
	lab_make "$fs" "$(arm_device_mb "$size_mb")" "$rate" || return
	lab_forget
	sqlite3 "$LAB_MNT/db" "pragma journal_mode=wal; create table t(at)" >/dev/null ||
		lab_fail "no SQLite" || return
	tar -c -f "$LAB_TMP/source.tar" -C "$LAB_TMP" source
	servers_probe "insert into t values (1) returning 1;" \
		stdbuf -oL sqlite3 -cmd "pragma synchronous=full" "$LAB_MNT/db" >"$LAB_TMP/latencies" &
	probe_pid=$!
	servers_writer "$@" tar -x -f "$LAB_TMP/source.tar" -C "$LAB_MNT" || return
	arm_stop $probe_pid || lab_fail "the probe failed" || return
	[ "$(wc -l <"$LAB_TMP/latencies")" -ge 20 ] || lab_fail "hardly a commit" || return
	servers_percentiles commit <"$LAB_TMP/latencies"
	lab_cap 0
	lab_remove
}
