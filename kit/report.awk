# SPDX-License-Identifier: GPL-2.0-only
# Make report.md and report.json of what check-machine has collected: the file
# `machine`, lines NAME=VALUE, `cost`, which is cost.awk's, `facts`, which cpu_facts
# prints, and the output of each program, NAME.log. A program's lines are those of kselftest, and for each test with samples
#
#	... with known values A+B | user side: exact C+D absent E+F ... XMM G+H ... |
#	intr side: ... | wrong N foreign N residue N malformed N partial N ...
#
# where hits in user mode and in the kernel are added by a plus. Exit status: 20 and that
# of check-machine.

function both(word,   n)
{
	split(word, n, "+")
	return n[1] + n[2]
}

function quoted(text)
{
	gsub(/[\\"]/, "\\\\&", text)
	gsub(/[\001-\037]/, " ", text)
	return "\"" text "\""
}

function remember(list, name)
{
	if (!((list, name) in known_names)) {
		known_names[list, name] = 1
		names[list, ++count[list]] = name
	}
}

# A program that has not run to its end
function add_late(text)
{
	late = late (late ? ", " : "") text
}

FNR == 1 {
	program = FILENAME
	sub(/.*\//, "", program)
	sub(/\.log$/, "", program)
	if (FILENAME ~ /\.log$/)
		remember("program", program)
}

program == "machine" {
	eq = index($0, "=")
	remember("machine", substr($0, 1, eq - 1))
	machine[substr($0, 1, eq - 1)] = substr($0, eq + 1)
	next
}

program == "facts" {
	split($0, field, "\t")
	remember("fact", field[2])
	answer[field[2]] = field[3]
	next
}

# What a test says comes before its result.
/^#  RUN / {
	said = ""
	too_few = unmet = 0
}
# Too few samples in the time that there was say nothing of those that there are; one that
# none has does.
/: Timer expired$/ {
	if (/samples with known values: Timer expired$/)
		too_few = 1
	else
		unmet = 1
}
/^# .*:Expected / && !/\(-62\)|simd_run_marked|min_samples/ { unmet = 1 }
/^# / && length(said) < 4000 { said = said $0 "\n" }
/^not ok / && too_few && !unmet {
	skipped[program]++
	late_tests[program]++
	why = "no more samples for a minute: the CPU has too much to do, or its PMU does not interrupt"
	remember("reason", why)
	reasons[why]++
	next
}
/^not ok / {
	failed[program]++
	failure[++failures] = program ": " $0
	output[failures] = said $0 "\n"
	unmet = 0
}
/^ok .* # SKIP / {
	skipped[program]++
	why = $0
	sub(/.* # SKIP /, "", why)
	remember("reason", why)
	reasons[why]++
	next
}
/^ok / {
	passed[program]++
	unmet = 0
}
/^# not run: / {
	not_run[program] = substr($0, length("# not run: ") + 1)
	add_late(program)
}
/^# status 12[467]$/ {
	if (unmet)
		failure[++failures] = program ": stopped, after " said
	add_late(program ($3 == 124 ? " (stopped)" : " (cannot be started)"))
	next
}
/^# status / { status[program] = $3 }

/with known values .* user side: / {
	side = ""
	hits = 0
	for (i = 1; i < NF; i++) {
		if ($i == "side:")
			side = $(i - 1)
		else if ($i == "(user+kernel)")
			hits = both($(i + 1))
		else if ($i == "values") {
			samples[program] += both($(i + 1))
			# Samples that do not come say nothing; those without known values do.
			if (hits >= 1000 && !both($(i + 1)))
				unmet = 1
		} else if ($i ~ /^(wrong|foreign|residue|malformed|partial)$/) {
			bad[program] += $(i + 1)
			if ($(i + 1) + 0)
				failure[++failures] = program ": " $i " " $(i + 1)
		} else if (side && $(i + 1) ~ /^[0-9]+\+[0-9]+$/) {
			if ($i ~ /^[A-Z]/)
				remember("class", $i)
			sum[side, $i] += both($(i + 1))
		}
	}
}

END {
	for (i = 1; i <= count["program"]; i++) {
		p = names["program", i]
		all += samples[p]
		if (samples[p])
			checked += passed[p]
		if (status[p] + 0 && !failed[p] && !(late_tests[p] && status[p] == 1))
			failure[++failures] = p ": status " status[p]
	}
	verdict = failures ? "wrong" : checked ? "right" : "nothing checked"

	print "# SIMD registers in samples: " verdict "\n" > md
	printf "%d samples with known values.", all > md
	for (i = 1; i <= failures; i++)
		printf "%s* %s\n", (i == 1 ? " What is wrong:\n\n" : ""), failure[i] > md
	print "\n\n| side | exact | absent | of these, by class |\n|---|---|---|---|" > md
	split("user intr", sides)
	for (s = 1; s <= 2; s++) {
		printf "| %s | %d | %d |", sides[s], sum[sides[s], "exact"], sum[sides[s], "absent"] > md
		for (i = 1; i <= count["class"]; i++)
			printf " %s %d", names["class", i], sum[sides[s], names["class", i]] > md
		print " |" > md
	}
	print "\n| program | tests passed | failed | skipped | samples | with other values |" > md
	print "|---|---|---|---|---|---|" > md
	for (i = 1; i <= count["program"]; i++) {
		p = names["program", i]
		if (p in not_run)
			continue
		printf "| %s | %d | %d | %d | %d | %d |\n", p, passed[p], failed[p], skipped[p], samples[p], bad[p] > md
	}
	if (late)
		print "\nNot run, or not to the end: " late "." > md
	print_costs(md, svg)
	if (count["fact"])
		print "\n| what this CPU does | |\n|---|---|" > md
	for (i = 1; i <= count["fact"]; i++)
		print "| " names["fact", i] " | " answer[names["fact", i]] " |" > md
	print "\n| not tested, because | tests |\n|---|---|" > md
	for (i = 1; i <= count["reason"]; i++)
		print "| " names["reason", i] " | " reasons[names["reason", i]] " |" > md
	print "\n| the machine | |\n|---|---|" > md
	for (i = 1; i <= count["machine"]; i++)
		print "| " names["machine", i] " | " machine[names["machine", i]] " |" > md
	for (i = 1; i <= failures; i++)
		if (i in output)
			print "\n" failure[i] "\n\n```\n" output[i] "```" > md

	printf "{\n \"verdict\": %s,\n \"samples\": %d,\n \"failures\": [", quoted(verdict), all > json
	for (i = 1; i <= failures; i++)
		printf "%s%s", (i > 1 ? ", " : ""), quoted(failure[i]) > json
	printf "],\n \"sides\": {" > json
	for (s = 1; s <= 2; s++) {
		printf "%s\n  %s: {\"exact\": %d, \"absent\": %d", (s > 1 ? "," : ""), quoted(sides[s]),
		       sum[sides[s], "exact"], sum[sides[s], "absent"] > json
		for (i = 1; i <= count["class"]; i++)
			printf ", %s: %d", quoted(names["class", i]), sum[sides[s], names["class", i]] > json
		printf "}" > json
	}
	printf "\n },\n \"programs\": {" > json
	for (i = 1; i <= count["program"]; i++) {
		p = names["program", i]
		if (p in not_run) {
			printf "%s\n  %s: {\"not_run\": %s}", (i > 1 ? "," : ""), quoted(p), quoted(not_run[p]) > json
			continue
		}
		printf "%s\n  %s: {\"passed\": %d, \"failed\": %d, \"skipped\": %d, \"samples\": %d, \"other_values\": %d}",
		       (i > 1 ? "," : ""), quoted(p), passed[p], failed[p], skipped[p], samples[p], bad[p] > json
	}
	print_costs_json(json)
	printf "\n },\n \"facts\": {" > json
	for (i = 1; i <= count["fact"]; i++)
		printf "%s\n  %s: %s", (i > 1 ? "," : ""), quoted(names["fact", i]), quoted(answer[names["fact", i]]) > json
	printf "\n },\n \"not_tested\": {" > json
	for (i = 1; i <= count["reason"]; i++)
		printf "%s\n  %s: %d", (i > 1 ? "," : ""), quoted(names["reason", i]), reasons[names["reason", i]] > json
	printf "\n },\n \"machine\": {" > json
	for (i = 1; i <= count["machine"]; i++)
		printf "%s\n  %s: %s", (i > 1 ? "," : ""), quoted(names["machine", i]), quoted(machine[names["machine", i]]) > json
	print "\n }\n}" > json
	# An awk that dies has a status, too.
	exit 20 + (failures ? 1 : checked ? 0 : 2)
}
