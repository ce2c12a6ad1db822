#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One task that rewrites two files in turn (a database and its journal) under a limit of about what
# it dirties at once. Oracle: what reached the device by its own count: it is never idle because
# what is outstanding is in the file that is not in hand.

# shellcheck disable=SC1091 source-path=SCRIPTDIR
here=$(dirname "$0")
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/paths.sh"
. "$here/arms.sh"

RATE=10485760

lab_require ext4 || skip_all "$LAB_WHY"
command -v sqlite3 >/dev/null || skip_all "sqlite3 is not installed"

lab_make ext4 400 $RATE || bail_out "$LAB_WHY"
lab_forget
cat >"$LAB_TMP/sql" <<END
PRAGMA journal_mode = wal;
PRAGMA synchronous = normal;
CREATE TABLE t(id INTEGER PRIMARY KEY, text);
CREATE INDEX by_text ON t(text);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
	INSERT INTO t SELECT i, printf('%064d', i * 7919 % 20000) FROM n;
COMMIT;
UPDATE t SET text = text || id WHERE id % 3 = 0;
DELETE FROM t WHERE id % 5 = 0;
VACUUM;
PRAGMA integrity_check;
END
before=$(lab_written)
start=${EPOCHREALTIME/./}
lab_run timeout 120 "$LAB_WRITEPACE" --limit 1M -- \
	sqlite3 "$LAB_MNT/base" ".read $LAB_TMP/sql" >"$LAB_TMP/said"
is "it ends" $? 0
spent_us=$((${EPOCHREALTIME/./} - start))
written=$(($(lab_written) - before))
is "the base is whole" "$(tail -n 1 "$LAB_TMP/said")" ok
# 24 MB; with the file in hand alone it was 0.07
compare "share of the device used" \
	"$(arm_ratio $((written * 1000)) $((RATE * spent_us / 1000)) 3)" ge 0.3

done_testing
