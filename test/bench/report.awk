# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Rows of results as a table of medians; form is text, markdown, or tsv: the rows again and the
# ratios of writepace to the first variant. A line for each metric and a column for each variant, or the
# other way round where there are more variants than two and than metrics.

BEGIN { OFS = "\t" }

$1 == "case" { next } # the head of what was printed before
$2 == "ratio" { next }
$2 == "skipped" {
	name = $1
	missing[++missing_nr] = $4 ": " $6
	if (form == "tsv")
		print_row()
	next
}
{
	name = $1
	if (!($2 in variant_seen))
		variants[++variant_nr] = $2
	variant_seen[$2] = 1
	if (!($4 in unit))
		metrics[++metric_nr] = $4
	unit[$4] = $6
	values[$2, $4, ++count[$2, $4]] = $5 + 0
	if ($3 + 0 > runs)
		runs = $3 + 0
	if (form == "tsv")
		print_row()
}

function print_row()
{
	if (!headed++)
		print "case", "variant", "run", "metric", "value", "unit"
	print
}

# Between two neighbours where none lies there.
function quantile(variant, metric, part,    nr, sorted, i, j, v, at)
{
	nr = count[variant, metric]
	for (i = 1; i <= nr; i++) {
		v = values[variant, metric, i]
		for (j = i - 1; j > 0 && sorted[j] > v; j--)
			sorted[j + 1] = sorted[j]
		sorted[j + 1] = v
	}
	at = 1 + (nr - 1) * part
	i = int(at)
	if (i == nr)
		return sorted[nr]
	return sorted[i] + (at - i) * (sorted[i + 1] - sorted[i])
}

function ratio(variant, metric, digits,    first)
{
	if (!count[variants[1], metric] || !count[variant, metric])
		return "-"
	first = quantile(variants[1], metric, 0.5)
	return first ? sprintf("%." digits "f", quantile(variant, metric, 0.5) / first) : "-"
}

function number(value, metric)
{
	if (form == "markdown" && unit[metric] ~ /^B/)
		return sprintf("%.2f", value / 1e6)
	if (unit[metric] ~ /^B/)
		return sprintf("%.0f", value)
	return sprintf(unit[metric] == "ratio" || value < 100 ? "%.3f" : "%.1f", value)
}

function shown_unit(metric)
{
	return (form == "markdown" && unit[metric] ~ /^B/ ? "M" : "") unit[metric]
}

function shown_metric(metric)
{
	if (form == "markdown" && unit[metric] ~ /^B/)
		sub(/_(bps|bytes)$/, "", metric)
	return metric
}

# Median, quartiles where there are some, and the ratio to the first variant.
function cell(variant, metric,    text, r)
{
	if (!count[variant, metric])
		return "-"
	text = number(quantile(variant, metric, 0.5), metric)
	if (form != "markdown")
		return text
	if (count[variant, metric] > 2)
		text = text " (" number(quantile(variant, metric, 0.25), metric) " to " \
		       number(quantile(variant, metric, 0.75), metric) ")"
	r = variant == variants[1] ? "-" : ratio(variant, metric, 3)
	return r == "-" ? text : text ", x " r
}

# line COLUMNS: of the array cells.
function line(columns,    i, text)
{
	text = form == "markdown" ? "|" : ""
	for (i = 1; i <= columns; i++) {
		if (form == "markdown")
			text = text " " cells[i] " |"
		else
			text = text sprintf(i == 1 ? "%-26s" : " %16s", cells[i])
	}
	print text
}

function head_line(columns,    i)
{
	line(columns)
	if (form != "markdown")
		return
	for (i = 1; i <= columns; i++)
		cells[i] = "---"
	line(columns)
}

function by_metric(    m, v, both)
{
	both = form == "text" && variants[1] == "plain" && variant_seen["writepace"]
	cells[1] = "metric"
	cells[2] = "unit"
	for (v = 1; v <= variant_nr; v++)
		cells[v + 2] = variants[v]
	cells[v + 2] = "ratio"
	head_line(variant_nr + 2 + both)
	for (m = 1; m <= metric_nr; m++) {
		cells[1] = shown_metric(metrics[m])
		cells[2] = shown_unit(metrics[m])
		for (v = 1; v <= variant_nr; v++)
			cells[v + 2] = cell(variants[v], metrics[m])
		cells[v + 2] = ratio("writepace", metrics[m], 4)
		line(variant_nr + 2 + both)
	}
}

function by_variant(    m, v)
{
	cells[1] = "variant"
	for (m = 1; m <= metric_nr; m++)
		cells[m + 1] = shown_metric(metrics[m]) \
			       (unit[metrics[m]] == "ratio" ? "" : ", " shown_unit(metrics[m]))
	head_line(metric_nr + 1)
	for (v = 1; v <= variant_nr; v++) {
		cells[1] = variants[v]
		for (m = 1; m <= metric_nr; m++)
			cells[m + 1] = cell(variants[v], metrics[m])
		line(metric_nr + 1)
	}
}

END {
	if (form == "tsv") {
		for (m = 1; m <= metric_nr; m++) {
			if (variants[1] == "writepace")
				break
			r = ratio("writepace", metrics[m], 4)
			if (r != "-")
				print name, "ratio", "all", metrics[m], r, "ratio"
		}
		exit
	}
	if (form == "text")
		print name ": " (runs <= 1 ? "one run of each" : "medians of " runs " runs of each")
	if (metric_nr && variant_nr > metric_nr && variant_nr > 2)
		by_variant()
	else if (metric_nr)
		by_metric()
	for (m = 1; m <= missing_nr; m++)
		print (m == 1 ? "\n" : "") (form == "markdown" ? "- " : "") "not run: " missing[m]
}
