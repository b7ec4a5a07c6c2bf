# SPDX-License-Identifier: GPL-2.0-only
# For the cases that run one of the kernel's selftests: sourced by them.

set -eu -o pipefail

LOG_FILE=$(mktemp)
trap 'rm -f "$LOG_FILE"' EXIT

# selftest PROGRAM [PATTERN]...: runs it in a guest. It must pass; the tests in
# it whose names match a PATTERN may skip, as this machine cannot do them.
selftest()
{
	local program=$1 name pattern

	shift
	vm-run --perf none --add "$BUILD/out/selftests-$ARCH/perf_events" -- \
		"/root/perf_events/$program" 2>&1 | tee "$LOG_FILE"
	sample_totals

	while IFS= read -r name; do
		for pattern; do
			# shellcheck disable=SC2053 # it is a pattern
			[[ $name != $pattern ]] || continue 2
		done
		echo "error: $name must run, but skips"
		return 1
	done < <(sed -n -E 's/^ok [0-9]+ ([^ ]+) # SKIP.*/\1/p' "$LOG_FILE")
}

# The counts of all tests of the program added up, one line; none for a program
# that does not compare values.
sample_totals()
{
	awk '
	# after(TEXT): adds the "user+kernel" numbers that follow it.
	function after(text, n,  i, pair) {
		i = index($0, text)
		if (!i)
			return
		split(substr($0, i + length(text)), pair, /[+ ]/)
		sum[n, 0] += pair[1]
		sum[n, 1] += pair[2]
	}
	/with known values/ {
		lines++
		after("with known values ", "known")
		split($0, side, /\| /)
		line = $0
		$0 = side[2]; after("absent ", "user")
		$0 = side[3]; after("absent ", "intr")
		$0 = line
		match($0, /wrong [0-9]+ foreign [0-9]+/)
		split(substr($0, RSTART, RLENGTH), word, " ")
		wrong += word[2]
		foreign += word[4]
	}
	END {
		if (lines)
			printf "# total: %d samples with known values in user mode, %d in kernel mode; " \
			       "without a block: user side %d, intr side %d; wrong %d, foreign %d\n",
			       sum["known", 0], sum["known", 1], sum["user", 0] + sum["user", 1],
			       sum["intr", 0] + sum["intr", 1], wrong, foreign
	}' "$LOG_FILE"
}

# known_samples: how many samples there were to compare.
known_samples()
{
	sed -n -E 's/.*with known values ([0-9]+)\+([0-9]+) .*/\1 \2/p' "$LOG_FILE" |
		awk '{ n += $1 + $2 } END { print n + 0 }'
}
