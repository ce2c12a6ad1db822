# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Make the wrapper from its template and the table of keys:
#
#   awk -v version=V -v library=FILE -v helpers=DIR -v control=FILE -f options.awk keys.def writepace.in
#
# A line of the template that is one word of @part@ alone becomes the lines made for it;
# inside a line @word@ becomes the word's value.

BEGIN {
	FS = "\""
	value["version"] = version
	value["library"] = library
	value["helpers"] = helpers
	value["control"] = control
}

# What is between the quotes of a line KEY(field, "variable", ..., "default", ...)
FNR == NR {
	if ($0 !~ /^KEY\(/)
		next
	variable = $2; standard = $4; option = $6; letter = $8; argument = $10; help = $12
	add("variables", " ", variable)
	add("pattern", " | ", variable)
	add("given", " ", "${" variable "+" variable "}")
	if (standard != "" && option != "")
		help = help " (" standard ")"
	if (option == "") {
		form = variable "=" argument
		add("environment", "\n", sprintf("  %-29s %s", form, help))
		next
	}
	form = letter == "" ? "    " : "-" letter ", "
	add("options", "\n", sprintf("  %-27s %s", form "--" option "=" argument, help))
	form = letter == "" ? "" : "-" letter " | "
	add("arms", "\n", "\t" form "--" option ") variable=" variable " ;;")
	next
}

{
	line = $0
	for (word in value)
		line = replace(line, "@" word "@", value[word])
	print line
}

function add(word, between, text)
{
	if (word in value)
		text = value[word] between text
	value[word] = text
}

# Why not gsub: & and \ in a path would not stand for themselves.
function replace(line, mark, text,    at, done)
{
	done = ""
	while ((at = index(line, mark)) > 0) {
		done = done substr(line, 1, at - 1) text
		line = substr(line, at + length(mark))
	}
	return done line
}
