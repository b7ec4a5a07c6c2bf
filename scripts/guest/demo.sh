# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: the demo's commands, and the comparison of what they print.
set -eu -o pipefail

PROGRAM='simd_regs_load --class ymm --seed 7 --mode syscall --seconds 2'

fail()
{
	echo "error: $*" >&2
	exit 1
}

# show CMD...: as somebody would type it.
show()
{
	printf '\n# %s\n' "$*"
}

# Values by their names in both texts: want["YMM[3][1]"] and, a register as one
# number with the highest word first, whole["YMM3"].
expected_values()
{
	awk '
	/^YMM\[/ {
		want[$1] = $2
		split($1, part, /[][]+/)
		word[part[2], part[3]] = substr($2, 3)
		n++
	}
	END {
		if (n != 64)
			exit 1
		for (name in want)
			print "word", name, want[name]
		for (r = 0; r < 16; r++)
			print "whole", "YMM" r, "0x" word[r, 3] word[r, 2] word[r, 1] word[r, 0]
	}' printed > expected || fail "the program does not print 64 words of YMM0-15"
}

# check_dump: print the first sample that has all, then what all samples had.
# From its first to its last such sample the program is at work, and a sample
# then has either all values or no YMM.
check_dump()
{
	awk '
	function judge(side, nr) {
		result[side, samples] = words[side] ? "other" : "absent"
		if (words[side] != nr * 4 || right[side] != words[side])
			return 0
		result[side, samples] = "whole"
		last[side] = samples
		if (!first[side])
			first[side] = samples
		return 1
	}
	function end_of_sample(   ok) {
		if (!sample)
			return
		samples++
		ok = judge("user", 4)
		ok = judge("intr", 16) && ok
		if (ok && !shown++)
			printf "%s", text
		sample = 0
	}
	function summary(side,   i, n) {
		for (i = 1; i <= samples; i++)
			if (i < first[side] || i > last[side])
				n["outside"]++
			else
				n[result[side, i]]++
		printf "%s side: %d samples with all values, %d without YMM, %d wrong; %d before or after\n",
		       side, n["whole"], n["absent"], n["other"], n["outside"]
		return n["other"] > 0
	}
	FNR == NR { if ($1 == "word") want[$2] = $3; next }
	/^$/ { end_of_sample() }
	/PERF_RECORD_SAMPLE/ {
		sample = 1
		text = ""
		split("", words)
		split("", right)
	}
	sample { text = text $0 "\n" }
	/^\.\.\. (user|intr) regs:/ { side = $2 }
	/^\.\.\.\. YMM\[/ { words[side]++; right[side] += want[$2] == $3 }
	END {
		end_of_sample()
		print ""
		wrong = summary("intr") + summary("user")
		exit !shown || wrong
	}' expected dump
}

# check_script: print the first line that has YMM0-15 and then YMM0-3.
check_script()
{
	awk '
	FNR == NR { if ($1 == "whole") want[$2] = $3; next }
	FNR == 1 {
		for (r = 0; r < 20; r++)
			all = all " YMM" r % 16 ":" want["YMM" r % 16]
	}
	{
		line = ""
		for (i = 1; i <= NF; i++)
			if ($i ~ /^YMM/)
				line = line " " $i
		if (line == all) {
			print
			found = 1
			exit
		}
	}
	END { exit !found }' expected script
}

show 'perf record -I?'
# perf ends with a status of its own after a list.
{ perf record -I? 2>&1 || :; } | grep 'available registers' || fail "perf does not list registers"

cmd="perf record -e cpu-clock -c 1000000 -Iax,bx,ip,ymm --user-regs=ymm0-3"
show "$cmd -- $PROGRAM"
$cmd -o perf.data -- $PROGRAM --print > printed 2> errors ||
	{ cat errors; fail "perf record ended with $?"; }
expected_values

show 'perf report -D'
perf report -D -i perf.data > dump 2> errors || { cat errors; fail "perf report ended with $?"; }
check_dump || fail "no sample of perf report -D has all of the program's values, or some are wrong"

show 'perf script -F comm,pid,time,ip,iregs,uregs'
perf script -i perf.data -F comm,pid,time,ip,iregs,uregs > script 2> errors ||
	{ cat errors; fail "perf script ended with $?"; }
check_script || fail "no line of perf script has all of the program's values"
