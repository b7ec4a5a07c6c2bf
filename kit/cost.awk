# SPDX-License-Identifier: GPL-2.0-only
# What sample_cost and the histogram of NMIs say, for report.awk: lines of fields with
# tabs between, see sample_cost.c, and
#
#	nmi EXPONENT COUNT	NMI handlers that took up to 2^EXPONENT ns, and more than half
#				of that

program == "cost" {
	n = split($0, field, "\t")
	if (field[1] == "cost" && n == 8) {
		remember("cost", field[2] "\t" field[3])
		cost[field[2] "\t" field[3]] = $0
	} else if (field[1] == "rate" && n == 4)
		rate[field[2] "\t" field[3]] = field[4]
	else if (field[1] == "not" && n == 4)
		no_cost[field[2] "\t" field[4]] = no_cost[field[2] "\t" field[4]] "; " field[3]
	else if (field[1] == "nmi" && n == 3) {
		count["nmi"]++
		nmi[field[2]] = field[3]
	}
	next
}

# Not every awk has powers.
function power_of_2(exponent,   power) {
	for (power = 1; exponent > 0; exponent--)
		power *= 2
	return power
}

# A picture: a bar for each median, and a line from the first to the third quartile.
function draw_costs(svg,   i, f, top, y, scale, last) {
	for (i = 1; i <= count["cost"]; i++) {
		split(cost[names["cost", i]], f, "\t")
		if (f[7] > top)
			top = f[7]
	}
	scale = 420 / (top > 0 ? top : 1)
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" height=\"%d\" " \
	       "font-family=\"sans-serif\" font-size=\"12\">\n", 40 + 24 * count["cost"] > svg
	print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>" > svg
	print "<text x=\"10\" y=\"18\">ns for a sample: median, and the quartiles</text>" > svg
	for (i = 1; i <= count["cost"]; i++) {
		split(cost[names["cost", i]], f, "\t")
		y = 8 + 24 * i
		if (f[2] != last)
			printf "<text x=\"10\" y=\"%d\">%s</text>\n", y + 13, f[2] > svg
		last = f[2]
		printf "<text x=\"90\" y=\"%d\">%s</text>\n", y + 13, f[3] > svg
		printf "<rect x=\"320\" y=\"%d\" width=\"%.1f\" height=\"16\" fill=\"%s\"/>\n",
		       y, (f[6] > 0 ? f[6] : 0) * scale, (f[3] ~ /^(none|3 )/ ? "#999999" : "#3070b0") > svg
		printf "<path d=\"M%.1f %dH%.1f\" stroke=\"black\" stroke-width=\"2\"/>\n",
		       320 + (f[5] > 0 ? f[5] : 0) * scale, y + 8,
		       320 + (f[7] > 0 ? f[7] : 0) * scale > svg
		printf "<text x=\"%.1f\" y=\"%d\">%d</text>\n",
		       326 + (f[7] > 0 ? f[7] : 0) * scale, y + 13, f[6] > svg
	}
	print "</svg>" > svg
}

function print_costs(md, svg,   i, f, key) {
	if (!count["cost"])
		return
	draw_costs(svg)
	print "\n![what a sample costs](report.svg)" > md
	print "\n| event | registers at the interrupt | samples | ns, median | quartiles | " \
	      "TSC cycles | samples per second |\n|---|---|---|---|---|---|---|" > md
	for (i = 1; i <= count["cost"]; i++) {
		key = names["cost", i]
		split(cost[key], f, "\t")
		printf "| %s | %s | %d | %d | %d to %d | %s | %s |\n", f[2], f[3], f[4], f[6],
		       f[5], f[7], f[8], (key in rate ? rate[key] : "") > md
	}
	print "\nThe cost is what a loop in user mode takes longer for each sample. Samples per\n" \
	      "second: the most that was seen without one lost, the loop having a quarter of the\n" \
	      "time at least.\n" > md
	for (key in no_cost) {
		split(key, f, "\t")
		printf "* not %s with %s: %s\n", f[1], substr(no_cost[key], 3), f[2] > md
	}
	if (count["nmi"])
		print "\n| NMI handlers that took | times |\n|---|---|" > md
	for (i = 0; i < 64; i++)
		if (i in nmi)
			printf "| %d to %d ns | %d |\n", (i ? power_of_2(i - 1) + 1 : 0),
			       power_of_2(i), nmi[i] > md
}

function print_costs_json(json,   i, f, key, nr) {
	printf "\n },\n \"costs\": [" > json
	for (i = 1; i <= count["cost"]; i++) {
		key = names["cost", i]
		split(cost[key], f, "\t")
		printf "%s\n  {\"event\": %s, \"registers\": %s, \"samples\": %d, \"ns\": [%d, %d, %d]%s%s}",
		       (i > 1 ? "," : ""), quoted(f[2]), quoted(f[3]), f[4], f[5], f[6], f[7],
		       (f[8] == "-" ? "" : ", \"tsc_cycles\": " f[8]),
		       (key in rate ? ", \"samples_per_second\": " rate[key] : "") > json
	}
	printf "\n ],\n \"nmi_ns\": {" > json
	for (i = 0; i < 64; i++)
		if (i in nmi)
			printf "%s\"%d\": %d", (nr++ ? ", " : ""), power_of_2(i), nmi[i] > json
}
