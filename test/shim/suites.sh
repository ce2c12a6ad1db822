#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Other people's tests give the same verdicts with the library and without. Oracle: the list of
# verdicts of the same suite plain, compared as text. Paced hard: 1 MiB may be outstanding.
# WRITEPACE_LONG=1 takes all of it, which lasts some minutes; else what fits into a CI.
#
# shellcheck disable=SC2317 # the suites are called by name

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/tap.sh"

build=$(cd "${WRITEPACE_BUILD:-$here/../../build}" && pwd)
python=/usr/bin/python3 # the one that its packaged tests belong to
tmp=$(mktemp -d /var/tmp/writepace-suites.XXXXXX) || exit 1
export LC_ALL=C WRITEPACE_SEGMENT=suites-$$ WRITEPACE_HELPER=off
trap 'rm -rf "$tmp" /dev/shm/writepace-*/segment*.suites-$$ /run/user/*/segment*.suites-$$' EXIT
long=${WRITEPACE_LONG:-0}

# verdicts FUNCTION ARGUMENT...: of both ways, each in an empty folder of the same name.
verdicts()
{
	local way

	for way in plain paced; do
		rm -rf "$tmp/work"
		mkdir "$tmp/work"
		wrap=()
		[ $way = plain ] || wrap=("$build/writepace" --limit 1M --)
		(cd "$tmp/work" && "$@") >"$tmp/$way" 2>"$tmp/$way.err"
	done
}

# same NAME LEAST: the two lists, of LEAST verdicts or more.
same()
{
	local nr

	nr=$(wc -l <"$tmp/plain")
	if [ "$nr" -lt "$2" ]; then
		not_ok "$1: verdicts" "$nr of $2: $(tail -n 1 "$tmp/plain.err")"
	else
		is "$1: $nr verdicts, the same" "$(diff "$tmp/plain" "$tmp/paced" | head -n 20)" ""
	fi
}

# ----------------------------------------------------------------- python ----

# Each test's name and verdict, sorted.
python_suite()
{
	TMPDIR=$PWD timeout 600 "${wrap[@]}" "$python" - "$@" <<-'END' >/dev/null
	import os, sys, unittest
	class Result(unittest.TestResult):
	    def __init__(self, *a, **k):
	        super().__init__(*a, **k)
	        self.verdicts = {}
	    def startTest(self, test):
	        super().startTest(test)
	        self.verdicts[test.id()] = "ok"
	    def bad(self, test, verdict):
	        self.verdicts[test.id()] = verdict
	    def addError(self, test, error):
	        self.bad(test, "error")
	    def addFailure(self, test, error):
	        self.bad(test, "failure")
	    def addSkip(self, test, reason):
	        self.bad(test, "skipped")
	    def addExpectedFailure(self, test, error):
	        self.bad(test, "expected failure")
	    def addUnexpectedSuccess(self, test):
	        self.bad(test, "unexpected success")
	    def addSubTest(self, test, part, error):
	        if error:
	            self.bad(test, "failure of a part")
	names = sys.argv[1:]
	sys.argv[1:] = []
	result = Result()
	unittest.defaultTestLoader.loadTestsFromNames(names).run(result)
	with os.fdopen(os.open("verdicts", os.O_WRONLY | os.O_CREAT), "w") as file:
	    for name in sorted(result.verdicts):
	        print(name, result.verdicts[name], file=file)
	END
	cat verdicts
}

# The numbers are what these suites have at least.
python_tests="test_tempfile:60 test_mmap:20 test_shutil:100 test_os:200"
[ "$long" = 0 ] || python_tests+=" test_io:400 test_subprocess:150 test_threading:100 test_fileio:20
	test_posix:80 test_signal:30 test_fcntl:5 test_file:20 test_tarfile:150 test_zipfile:100
	test_mailbox:200 test_pathlib:200"
if "$python" -c 'import test.test_os' 2>/dev/null; then
	for each in $python_tests; do
		verdicts python_suite "test.${each%:*}"
		same "python's ${each%:*}" "${each#*:}"
	done
else
	skip "python's own tests" "not there (Debian 12: libpython3.11-testsuite)"
fi

# ----------------------------------------------------------------- sqlite ----

# Everything it says of tables that were filled, changed, cut and packed under each journal.
sqlite_suite()
{
	local journal

	for journal in delete truncate persist wal off; do
		timeout 300 "${wrap[@]}" sqlite3 "base.$journal" <<-END
		PRAGMA journal_mode = $journal;
		PRAGMA synchronous = $([ "$journal" = off ] && echo off || echo normal);
		CREATE TABLE t(id INTEGER PRIMARY KEY, text);
		CREATE INDEX by_text ON t(text);
		BEGIN;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO t SELECT i, printf('%064d', i * 7919 % $1) FROM n;
		COMMIT;
		SELECT 'filled', count(*), sum(length(text)) FROM t;
		UPDATE t SET text = text || id WHERE id % 3 = 0;
		SELECT 'changed', total(length(text)) FROM t;
		$([ "$journal" = off ] || echo 'BEGIN; DELETE FROM t WHERE id % 2; ROLLBACK;')
		SELECT 'rolled back', count(*) FROM t;
		DELETE FROM t WHERE id % 5 = 0;
		VACUUM;
		SELECT 'packed', count(*), max(text) FROM t;
		PRAGMA integrity_check;
		END
		echo "status $?"
		timeout 60 "${wrap[@]}" sqlite3 "base.$journal" .dump | cksum
	done
}

if command -v sqlite3 >/dev/null; then
	verdicts sqlite_suite $((long ? 50000 : 20000))
	same sqlite 35
else
	skip sqlite "no sqlite3"
fi

# --------------------------------------------------------------- postgres ----

# A server starts paced, or not; postgres is what it insists on to be.
postgres_start()
{
	"${as_postgres[@]}" "${wrap[@]}" "$pg/postgres" -D "$PWD/data" -k "$PWD" -h '' \
		-c shared_buffers=16MB -c checkpoint_timeout=30s -c max_wal_size=64MB >>log 2>&1 &
	server=$!
	for _ in $(seq 300); do
		sql -c '' 2>/dev/null && return
		sleep 0.1
	done
}

postgres_end()
{
	kill "-$1" "$server"
	wait "$server"
	echo "server ended by $1: $?"
}

sql()
{
	psql -q -X -A -t -U postgres -h "$PWD" "$@"
}

# What every transaction of pgbench keeps; and all of the rows, where they are always the same.
postgres_checks()
{
	sql -d "$1" -c "SELECT 'balances', sum(abalance) = (SELECT sum(tbalance) FROM pgbench_tellers),
			sum(abalance) = (SELECT sum(bbalance) FROM pgbench_branches),
			sum(abalance) = (SELECT sum(delta) FROM pgbench_history),
			count(*) FROM pgbench_accounts" 2>&1
}

postgres_rows()
{
	sql -d "$1" -c "SELECT 'rows', md5(string_agg(t::text, ',' ORDER BY aid)), count(*)
			FROM pgbench_accounts t" \
		-c "SELECT 'history', count(*), sum(delta) FROM pgbench_history" 2>&1
}

# pgbench's transactions, known ones and then in parallel, a server that dies, a dump restored.
postgres_suite()
{
	: >log
	chmod 755 .
	[ ${#as_postgres[@]} = 0 ] || chown postgres . log
	"${as_postgres[@]}" "$pg/initdb" -k -A trust -U postgres -D "$PWD/data" >>log 2>&1
	echo "initdb $?"
	postgres_start
	"$pg/pgbench" -i -q -s 2 --foreign-keys -U postgres -h "$PWD" postgres >>log 2>&1
	echo "tables filled $?"
	for clients in 1 4; do
		"$pg/pgbench" -n -c "$clients" -j 2 -t 500 --random-seed=7 -U postgres -h "$PWD" \
			postgres 2>>log | grep -E '^number of (transactions actually|failed)'
		postgres_checks postgres
		[ "$clients" != 1 ] || postgres_rows postgres
	done
	"$pg/pgbench" -n -c 4 -j 2 -T 60 -U postgres -h "$PWD" postgres >>log 2>&1 &
	sleep 5
	postgres_end QUIT # at once, as a crash
	wait
	postgres_start
	postgres_checks postgres
	sql -c 'CREATE DATABASE copy'
	"${wrap[@]}" pg_dump -U postgres -h "$PWD" -f dump postgres
	echo "dumped $?"
	sql -d copy -f dump >>log 2>&1
	echo "restored $?"
	postgres_checks copy
	[ "$(postgres_rows copy)" != "$(postgres_rows postgres)" ] || echo "the copy is the same"
	"$pg/pg_amcheck" --install-missing -a -U postgres -h "$PWD" 2>&1
	echo "amcheck $?"
	postgres_end INT
	"${as_postgres[@]}" "$pg/pg_checksums" --check -D "$PWD/data" | grep -i 'bad checksums'
}

pg=$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | tail -n 1)
as_postgres=()
[ "$(id -u)" != 0 ] || as_postgres=(setpriv --reuid postgres --regid postgres --init-groups)
if [ "$long" = 0 ]; then
	skip "postgres, pgbench" "takes a minute: make check-long"
elif [ ! -x "$pg/pgbench" ]; then
	skip "postgres, pgbench" "not there (Debian: postgresql)"
elif ! "${as_postgres[@]}" test -x "$build/writepace"; then
	skip "postgres, pgbench" "the build directory is closed to others"
else
	chmod 755 "$tmp"
	verdicts postgres_suite
	same "postgres, pgbench" 19
	rm -f "/dev/shm/writepace-$(id -u postgres)/segment"*."$WRITEPACE_SEGMENT"
	rmdir "/dev/shm/writepace-$(id -u postgres)" 2>/dev/null
fi

# -------------------------------------------------------------------- fio ----

# By every engine: written at random, read again and compared.
fio_suite()
{
	local engine mode

	for engine in $engines; do
		for mode in randwrite write; do
			timeout 300 "${wrap[@]}" fio --name=v --filename=file \
				--ioengine="$engine" --rw="$mode" --bs=4k-256k --size="$1" --verify=crc32c \
				--verify_fatal=1 --fallocate=none --minimal >out 2>&1
			echo "$engine $mode status $?"
			stat -c %s file
			rm -f file
		done
	done
}

engines="psync pvsync2 libaio mmap io_uring"
[ "$long" = 0 ] || engines+=" sync vsync pvsync posixaio"
if command -v fio >/dev/null; then
	verdicts fio_suite $((long ? 16 : 4))m
	same "fio --verify" $(($(wc -w <<<"$engines") * 4))
else
	skip "fio --verify" "no fio"
fi

# -------------------------------------------------------------- stress-ng ----

# stress SECONDS NAME...: one after the other, each checks what it wrote.
stress_suite()
{
	local seconds=$1 name

	shift
	for name; do
		timeout 120 "${wrap[@]}" stress-ng "--$name" 1 --timeout "$seconds" --verify \
			--temp-path . >out 2>&1
		echo "$name status $?"
	done
}

files="hdd copy-file iomix"
[ "$long" = 0 ] || files+=" sync-file fallocate aio chdir chmod dentry dir dirdeep dup fcntl fiemap filename flock
	fpunch fsize fstat getdent io lease link lockf lockofd locka open procfs readahead rename
	sendfile splice seek symlink tee touch utime vm-splice xattr"
if command -v stress-ng >/dev/null; then
	# shellcheck disable=SC2086
	verdicts stress_suite $((long ? 3 : 1)) $files
	same "stress-ng --verify" "$(wc -w <<<"$files")"
else
	skip "stress-ng --verify" "no stress-ng"
fi

[ "$long" = 0 ] ||
	skip "perl's, git's and coreutils' own tests" "no package brings them, the sources alone do"

done_testing
