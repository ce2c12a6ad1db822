# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs that write a file each, by every way there is, for the coverage test and bench.
#
#	programs_prepare MB		the files they read
#	programs_run COMMAND		paced, on the current device; results in PROGRAM[metric]
#	programs_list			KIND|NAME|PACKAGE|PROGRAM|COMMAND, a line each
#
# KIND  libc     what it dirties is charged
#       rest     it dirties past all calls: said as uncovered
#       refused  the wrapper does not start it
#
# COMMAND is a shell's. It reads SRC, random bytes, TEXT, lines, TAR or ARCHIVE, and writes DST or
# what it likes in DIR. CODE holds what had to be compiled.

declare -A PROGRAM

programs_compile()
{
	cat >"$CODE/Copy.java" <<-'END'
	import java.nio.file.*;
	import java.io.*;
	public class Copy {
		public static void main(String[] a) throws Exception {
			if (a[0].equals("copy")) {
				Files.copy(Path.of(a[1]), Path.of(a[2]));
				return;
			}
			try (InputStream in = new FileInputStream(a[1]);
			     OutputStream out = new FileOutputStream(a[2])) {
				in.transferTo(out);
			}
		}
	}
	END
	cat >"$CODE/stream.cc" <<-'END'
	#include <fstream>
	int main(int, char **a)
	{
		std::ifstream in(a[1], std::ios::binary);
		std::ofstream out(a[2], std::ios::binary);
		out << in.rdbuf();
		return !out.flush();
	}
	END
	echo 'fn main() { let a: Vec<String> = std::env::args().collect();
		std::fs::copy(&a[1], &a[2]).unwrap(); }' >"$CODE/copy.rs"
	cat >"$CODE/wide.c" <<-'END'
	#include <locale.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <wchar.h>
	int main(int argc, char **a)
	{
		long n = atol(a[1]);
		if (argc != 2 || !setlocale(LC_ALL, "C.UTF-8"))
			return 1;
		for (long i = 0; i < n; i += 32)
			fputws(L"W\u00e4nde aus Worten, drei\u00dfig Byte\n", stdout);
		return 0;
	}
	END
	cat >"$CODE/put.c" <<-'END'
	#include <stdio.h>
	int main(void)
	{
		int c;
		while ((c = getchar_unlocked()) != EOF)
			putchar_unlocked(c);
		return 0;
	}
	END
	echo 'package main
	func main() { println("runs") }' >"$CODE/main.go"
	{
		c++ -O2 -o "$CODE/stream" "$CODE/stream.cc"
		cc -O2 -o "$CODE/wide" "$CODE/wide.c"
		cc -O2 -o "$CODE/put" "$CODE/put.c"
		cc -O2 -static -o "$CODE/static" "$CODE/put.c"
		rustc -O -o "$CODE/copy" "$CODE/copy.rs"
		javac -d "$CODE" "$CODE/Copy.java"
		GOCACHE=$CODE/cache go build -o "$CODE/go" "$CODE/main.go"
	} >"$LAB_TMP/compile" 2>&1
	return 0
}

# programs_prepare MB
programs_prepare()
{
	arm_source "$1" || return
	export SRC=$ARM_SOURCE MB=$1 DIR DST
	export TEXT=$LAB_TMP/text TAR=$LAB_TMP/source.tar CODE=$LAB_TMP/code
	export ARCHIVE=$LAB_TMP/source.zip
	mkdir "$CODE" || return
	programs_compile
	base64 "$SRC" | head -c "$1M" >"$TEXT"
	tar -c -f "$TAR" -C "$LAB_TMP" source
	if command -v zip >/dev/null; then
		zip -q -0 -j "$ARCHIVE" "$SRC"
	fi
	sync -f "$LAB_TMP"
}

# programs_run COMMAND: exit status, charged and dirtied bytes, what was uncovered, the peak.
programs_run()
{
	local watch_pid word
	local IFS=$' \t\n'

	lab_cap 0 || return
	find "$LAB_MNT" -mindepth 1 -maxdepth 1 ! -name lost+found -exec rm -rf {} +
	sync -f "$LAB_MNT"
	lab_cap "$PROGRAMS_RATE" || return
	DIR=$LAB_MNT DST=$LAB_MNT/file
	"$LAB_WATCH" "$LAB_ID" >"$LAB_TMP/watch" &
	watch_pid=$!
	PROGRAM=()
	"$LAB_DIRTIED" "$LAB_TMP/kernel" "$LAB_WRITEPACE" --stats sh -c "$1" \
		2>"$LAB_TMP/stats" </dev/null >"$LAB_TMP/said"
	PROGRAM[status]=$?
	arm_stop $watch_pid || lab_fail "watching the device failed" || return
	for word in charged uncovered sleeps; do
		PROGRAM[$word]=$(grep '^writepace: ' "$LAB_TMP/stats" | tail -n 1 |
			tr ' ' '\n' | sed -n "s/^$word=//p")
	done
	PROGRAM[dirtied]=$(arm_value kernel "$LAB_TMP/kernel")
	PROGRAM[peak]=$(arm_value peak_outstanding "$LAB_TMP/watch")
	PROGRAM[ratio]=$(awk -v c="${PROGRAM[charged]:-0}" -v d="${PROGRAM[dirtied]}" \
		'BEGIN { printf "%.3f", d ? c / d : 0 }')
	# shellcheck disable=SC2034 # read by who called
	PROGRAM[said]=$(grep -v '^writepace: ' "$LAB_TMP/stats" | head -n 1)
}

programs_list()
{
	cat <<-'END'
	libc|cp|coreutils|cp|cp "$SRC" "$DST"
	libc|cp --reflink=never|coreutils|cp|cp --reflink=never "$SRC" "$DST"
	libc|cp --sparse=always|coreutils|cp|cp --sparse=always "$SRC" "$DST"
	libc|install|coreutils|install|install "$SRC" "$DST"
	libc|mv from another device|coreutils|mv|cp "$SRC" /dev/shm/writepace-$$ && mv /dev/shm/writepace-$$ "$DST"
	libc|cat, redirected|coreutils|cat|cat "$SRC" >"$DST"
	libc|dd bs=1M|coreutils|dd|dd if="$SRC" of="$DST" bs=1M status=none
	libc|dd bs=512|coreutils|dd|dd if="$SRC" of="$DST" bs=512 status=none
	libc|dd bs=100M|coreutils|dd|dd if="$SRC" of="$DST" bs=100M status=none
	libc|tar c|tar|tar|tar -c -f "$DST" -C "${SRC%/*}" "${SRC##*/}"
	libc|tar x|tar|tar|tar -x -f "$TAR" -C "$DIR"
	libc|bsdtar x|libarchive-tools|bsdtar|bsdtar -x -f "$TAR" -C "$DIR"
	libc|cpio|cpio|cpio|cd "${SRC%/*}" && echo "${SRC##*/}" | cpio -o --quiet >"$DST"
	libc|split|coreutils|split|split -b 10M "$SRC" "$DIR/part."
	libc|tee|coreutils|tee|tee "$DST" <"$SRC" >/dev/null
	libc|head|coreutils|head|head -c 1G "$SRC" >"$DST"
	libc|sed|sed|sed|sed s/a/b/ "$TEXT" >"$DST"
	libc|sort|coreutils|sort|sort -S 1G "$TEXT" >"$DST"
	libc|awk|mawk|awk|awk '{ print }' "$TEXT" >"$DST"
	libc|perl|perl|perl|perl -pe s/a/b/ "$TEXT" >"$DST"
	libc|bash printf, redirected|bash|bash|head -c $((MB << 18)) "$TEXT" | bash -c 'while read -r a; do printf "%s\n" "$a$a$a$a"; done' >"$DST"
	libc|gzip|gzip|gzip|gzip -1 -c "$SRC" >"$DST"
	libc|xz|xz-utils|xz|xz -0 -c "$SRC" >"$DST"
	libc|zstd|zstd|zstd|zstd -q -1 "$SRC" -o "$DST"
	libc|lz4|lz4|lz4|lz4 -q "$SRC" "$DST"
	libc|zip|zip|zip|zip -q -0 -j "$DST.zip" "$SRC"
	libc|unzip|unzip|unzip|unzip -q "$ARCHIVE" -d "$DIR"
	libc|7z|p7zip-full|7z|7z a -mx0 -bso0 -bsp0 "$DST.7z" "$SRC"
	libc|curl|curl|curl|curl -sS "file://$SRC" -o "$DST"
	libc|wget|wget|wget|python3 -m http.server -b 127.0.0.1 -d "${SRC%/*}" 18471 >/dev/null 2>&1 & p=$!; sleep 2; wget -q -O "$DST" http://127.0.0.1:18471/source; r=$?; { kill $p; wait $p; } 2>/dev/null; exit $r
	libc|aria2|aria2|aria2c|python3 -m http.server -b 127.0.0.1 -d "${SRC%/*}" 18472 >/dev/null 2>&1 & p=$!; sleep 2; aria2c -q -d "$DIR" http://127.0.0.1:18472/source; r=$?; { kill $p; wait $p; } 2>/dev/null; exit $r
	libc|openssl enc|openssl|openssl|openssl enc -aes-128-cbc -K 00 -iv 00 -in "$SRC" -out "$DST" 2>/dev/null
	libc|rsync|rsync|rsync|rsync "$SRC" "$DST"
	libc|git add|git|git|git init -q "$DIR/git" && cp "$SRC" "$DIR/git/big" && git -C "$DIR/git" add big
	libc|sqlite3|sqlite3|sqlite3|sqlite3 "$DST" "pragma journal_mode=wal; create table t(b); insert into t select randomblob(1000000) from generate_series(1,$MB);" >/dev/null
	libc|shutil.copyfile|python3|python3|python3 -c "import shutil; shutil.copyfile('$SRC', '$DST')"
	libc|python write|python3|python3|python3 -c "open('$DST', 'wb').write(open('$SRC', 'rb').read())"
	libc|node copyFile|nodejs|node|node -e "require('fs').copyFileSync('$SRC', '$DST')"
	libc|node streams|nodejs|node|node -e "const f = require('fs'); f.createReadStream('$SRC').pipe(f.createWriteStream('$DST'))"
	libc|Java Files.copy|default-jdk-headless|javac|java -cp "$CODE" Copy copy "$SRC" "$DST"
	libc|Java streams|default-jdk-headless|javac|java -cp "$CODE" Copy stream "$SRC" "$DST"
	libc|Rust fs::copy|rustc|rustc|"$CODE/copy" "$SRC" "$DST"
	libc|C++ ofstream|g++|c++|"$CODE/stream" "$SRC" "$DST"
	libc|wide characters|gcc|cc|"$CODE/wide" $((MB << 20)) >"$DST"
	libc|putc macros|gcc|cc|"$CODE/put" <"$SRC" >"$DST"
	libc|gio copy|libglib2.0-bin|gio|gio copy "$SRC" "$DST"
	libc|pv|pv|pv|pv -q "$SRC" >"$DST"
	libc|qemu-img convert|qemu-utils|qemu-img|qemu-img convert -f raw -O qcow2 "$SRC" "$DST"
	libc|fio psync|fio|fio|fio --name=w --filename="$DST" --size=${MB}M --rw=write --bs=64k --ioengine=psync --fallocate=none >/dev/null
	libc|fio pvsync2|fio|fio|fio --name=w --filename="$DST" --size=${MB}M --rw=write --bs=64k --ioengine=pvsync2 --fallocate=none >/dev/null
	libc|fio posixaio|fio|fio|fio --name=w --filename="$DST" --size=${MB}M --rw=write --bs=64k --ioengine=posixaio --fallocate=none >/dev/null
	libc|fio libaio|fio|fio|fio --name=w --filename="$DST" --size=${MB}M --rw=write --bs=64k --ioengine=libaio --fallocate=none >/dev/null
	rest|fio mmap|fio|fio|fio --name=w --filename="$DST" --size=${MB}M --rw=write --bs=64k --ioengine=mmap --fallocate=none >/dev/null
	rest|fio io_uring|fio|fio|fio --name=w --filename="$DST" --size=${MB}M --rw=write --bs=64k --ioengine=io_uring --fallocate=none >/dev/null
	rest|python mmap|python3|python3|python3 -c "import mmap; f = open('$DST', 'w+b'); f.truncate($MB << 20); m = mmap.mmap(f.fileno(), 0); m.write(open('$SRC', 'rb').read())"
	rest|node, io_uring|nodejs|node|UV_USE_IO_URING=1 node -e "const f = require('fs'); f.createReadStream('$SRC').pipe(f.createWriteStream('$DST'))"
	refused|busybox|busybox-static|busybox|busybox cp "$SRC" "$DST"
	refused|a static program|gcc|cc|"$CODE/static"
	refused|a Go program|golang-go|go|"$CODE/go"
	END
}
