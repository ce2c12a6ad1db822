# SPDX-License-Identifier: LGPL-2.1-or-later
# Reads calls.def, prints the version script: the interposed names and nothing else.
BEGIN { print "{\nglobal:" }
/^(WRITE|OFFLOAD|PUT|FORMAT|OTHER|RAW)\(/ {
	name = $0
	sub(/^[A-Z]+\(/, "", name)
	sub(/,.*/, "", name)
	print "\t" name ";"
}
END { print "local:\n\t*;\n};" }
