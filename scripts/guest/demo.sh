# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: the demo's commands, and the comparison of what they print.
set -eu -o pipefail

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

# What is recorded: vector registers of the class VECTORS, all of them and the
# predicates of the interrupted code, the first USER_NR of user space. Where a
# sample may have no more than the low 128 bits, those are called NARROW.
# A function gives its caller back the low halves of V8-15: on arm64 one round has
# to last until the end.
choose()
{
	USER_NR=4 NARROW=
	case $(uname -m),$1 in
	x86_64,*)
		VECTORS=YMM INTR=ax,bx,ip,ymm USER=ymm0-3
		PROGRAM='--class ymm --mode syscall' ;;
	aarch64,*' Z0-31'*)
		VECTORS=Z INTR=x0,x1,pc,z,p,ffr USER=z0-3 NARROW=V
		PROGRAM='--class z' ;;
	aarch64,*)
		VECTORS=V INTR=x0,x1,pc,v USER=v0-3
		PROGRAM='--class v --mode syscall' ;;
	esac
	PROGRAM="simd_regs_load $PROGRAM --seed 7 --seconds 2"
}

# What the program printed, as lines of `word SIDES NAME VALUE` for each word as
# perf report -D names it, `narrow SIDES NAME VALUE` for those of NARROW, and
# `whole SIDES NAME VALUE` for each register as perf script does: one number with
# the highest word first. A register that both sides have comes with `intr+user`.
expected_values()
{
	awk -v vectors="$VECTORS" -v narrow="$NARROW" -v user_nr="$USER_NR" '
	{
		nr = split($1, part, /[][]+/)
		label = part[1]
		reg = label == "FFR" ? "" : part[2]
		word = label == "FFR" ? part[2] + 0 : part[3] + 0
		sides = label == vectors && reg < user_nr ? "intr+user" : "intr"
		print "word", sides, $1, $2
		if (narrow && label == vectors && word < 2)
			print "narrow", sides, narrow "[" reg "][" word "]", $2
		if (!((label reg) in value))
			names[++n] = label reg
		side[label reg] = sides
		value[label reg] = substr($2, 3) value[label reg]
		vector_words += label == vectors
	}
	END {
		if (vector_words < 64)
			exit 1
		for (i = 1; i <= n; i++)
			print "whole", side[names[i]], names[i], "0x" value[names[i]]
	}' printed > expected || fail "the program does not print the words of its registers"
}

# check_dump: print the first sample that has all, then what all samples had.
# From its first to its last such sample the program is at work, and a sample
# then has either all values, or the low 128 bits of all, or no vectors.
check_dump()
{
	awk -v vectors="$VECTORS" -v narrow="$NARROW" '
	function judge(side) {
		result[side, samples] = words[side] ? "other" : "absent"
		if (words[side] && words[side] == right_narrow[side] &&
		    words[side] == all["narrow", side])
			result[side, samples] = "narrow"
		if (words[side] != all["word", side] || right[side] != words[side])
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
		ok = judge("user")
		ok = judge("intr") && ok
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
		printf "%s side: %d samples with all values, ", side, n["whole"]
		if (narrow)
			printf "%d with %s, ", n["narrow"], narrow
		printf "%d without %s, %d wrong; %d before or after\n",
		       n["absent"], vectors, n["other"], n["outside"]
		return n["other"] > 0
	}
	FNR == NR {
		if ($1 == "whole")
			next
		want[$1, $3] = $4
		nr = split($2, sides, "+")
		for (i = 1; i <= nr; i++)
			all[$1, sides[i]]++
		next
	}
	/^$/ { end_of_sample() }
	/PERF_RECORD_SAMPLE/ {
		sample = 1
		text = ""
		split("", words)
		split("", right)
		split("", right_narrow)
	}
	sample { text = text $0 "\n" }
	/^\.\.\. (user|intr) regs:/ { side = $2 }
	/^\.\.\.\. / && (("word", $2) in want || ("narrow", $2) in want) {
		words[side]++
		right[side] += want["word", $2] == $3
		right_narrow[side] += want["narrow", $2] == $3
	}
	END {
		end_of_sample()
		print ""
		wrong = summary("intr") + summary("user")
		exit !shown || wrong
	}' expected dump
}

# check_script: print the first line that has all registers of both sides.
check_script()
{
	awk '
	FNR == NR {
		if ($1 != "whole")
			next
		known[$3]
		intr = intr " " $3 ":" $4
		if ($2 == "intr+user")
			user = user " " $3 ":" $4
		next
	}
	{
		line = ""
		for (i = 1; i <= NF; i++) {
			split($i, part, ":")
			if (part[1] in known)
				line = line " " $i
		}
		if (line == intr user) {
			print
			found = 1
			exit
		}
	}
	END { exit !found }' expected script
}

show 'perf record -I\?'
# perf ends with a status of its own after a list.
list=$({ perf record -I? 2>&1 || :; } | grep available) ||
	fail "perf does not list registers"
echo "$list"
choose "$(head -n 1 <<< "$list")"

cmd="perf record -e cpu-clock -c 1000000 -I$INTR --user-regs=$USER"
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
