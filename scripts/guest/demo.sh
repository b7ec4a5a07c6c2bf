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
# A sample counts as the program at work if any of its words is an expected one;
# then all of them must be.
check_dump()
{
	awk '
	function judge(side, nr,   i, right, words) {
		words = have[side]
		right = good[side]
		if (!words)
			absent[side]++
		else if (!right)
			other[side]++
		else if (words == nr * 4 && right == words)
			whole[side]++
		else
			torn[side]++
		return words == nr * 4 && right == words
	}
	function end_of_sample(   i, ok) {
		if (!sample)
			return
		ok = judge("user", 4)
		ok = judge("intr", 16) && ok
		if (ok && !shown++)
			printf "%s", text
		sample = 0
	}
	FNR == NR { if ($1 == "word") want[$2] = $3; next }
	/PERF_RECORD_/ {
		end_of_sample()
		sample = /PERF_RECORD_SAMPLE/
		text = ""
		delete have
		delete good
		samples += sample
	}
	sample { text = text $0 "\n" }
	/^\.\.\. (user|intr) regs:/ { side = $2 }
	/^\.\.\.\. YMM\[/ { have[side]++; good[side] += want[$2] == $3 }
	END {
		end_of_sample()
		print ""
		for (i = 1; i <= split("intr user", sides); i++) {
			side = sides[i]
			printf "%s: %d samples with the program'\''s values, %d before or after it, %d without YMM, %d wrong\n",
			       side, whole[side], other[side], absent[side], torn[side]
		}
		exit !shown || torn["intr"] || torn["user"]
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
perf record -I? 2>&1 | grep 'available registers' || fail "perf does not list registers"

cmd="perf record -e cpu-clock -c 1000000 -Iax,bx,ip,ymm --user-regs=ymm0-3"
show "$cmd -- $PROGRAM"
$cmd -o perf.data -- $PROGRAM --print > printed || fail "perf record ended with $?"
expected_values

show 'perf report -D'
perf report -D -i perf.data > dump 2> errors || { cat errors; fail "perf report ended with $?"; }
check_dump || fail "no sample of perf report -D has all of the program's values, or some are wrong"

show 'perf script -F comm,pid,time,ip,iregs,uregs'
perf script -i perf.data -F comm,pid,time,ip,iregs,uregs > script 2> errors ||
	{ cat errors; fail "perf script ended with $?"; }
check_script || fail "no line of perf script has all of the program's values"
