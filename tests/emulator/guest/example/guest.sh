# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: records the program, and compares what it prints of its
# registers with the dump.
set -eu -o pipefail

cmd='perf record -e branches:p -Iax,bx,r8,r16,r31,ssp,xmm,ymm,zmm,opmask -c 100000'
program='simd_regs_load --class all --seed 7 --seconds 2'

printf '# %s %s\n\n' "$cmd" "$program"
$cmd -o perf.data $program --print > printed 2> errors || { cat errors; exit 1; }
printf '# perf report -D\n'
perf report -D -i perf.data > dump 2> errors || { cat errors; exit 1; }

# A sample has all 266 words that are known, or none of them; but for those from
# before the first that has all, when the program starts, and after the last.
awk '
function end_of_sample() {
	if (!in_sample)
		return
	in_sample = 0
	result[++samples] = vectors ? "other" : "absent"
	if (words == nr_known && right == words)
		result[samples] = "whole"
	if (result[samples] == "whole") {
		last = samples
		if (!first) {
			first = samples
			printf "%s\n", text
		}
	}
}
FNR == NR {
	if ($1 == "EGPR[0]")
		$1 = "R16"
	if ($1 == "EGPR[15]")
		$1 = "R31"
	if ($1 !~ /^EGPR/) {
		known[$1] = $2
		nr_known++
	}
	next
}
/^$/ { end_of_sample() }
/PERF_RECORD_SAMPLE/ { in_sample = 1; words = right = vectors = 0; text = "" }
in_sample { text = text $0 "\n" }
in_sample && /^\.\.\.\. / && $2 in known {
	words++
	right += known[$2] == $3
	vectors += $2 ~ /^ZMM/
}
END {
	end_of_sample()
	for (i = 1; i <= samples; i++)
		n[i < first || i > last ? "outside" : result[i]]++
	printf "# summary: %d samples with all %d words, %d without, %d with others; %d before or after\n",
	       n["whole"], nr_known, n["absent"], n["other"], n["outside"]
	exit nr_known != 266 || n["whole"] < 10 || n["other"]
}' printed dump
