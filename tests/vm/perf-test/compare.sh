# SPDX-License-Identifier: GPL-2.0-only
# Compare two runs of `perf test`, of which each has its log in $work/NAME.log.
# Sourced; who does so has
#
#   run_tests NAME [TEST]	run them all, or one; the lines of the results
#   RETRIES			how often a test that fails with one alone is run again

# Not run: they take minutes under emulation, and look at tables of events, the
# daemon, probes in the kernel and searching events by name: nothing is changed there.
SKIP='PMU JSON event tests|daemon operations|perftool-testsuite_probe|perf all metric'

# with_result NAME RESULT: the tests that ended so.
with_result()
{
	sed -n -E "s/^ *[0-9]+(\.[0-9]+)?: (.*[^ ]) *: $2.*/\2/p" "$work/$1.log" | sort -u
}

# fails_alone TEST HERE THERE: in no try does it pass with HERE, or fail with THERE.
# Some of perf's tests go by chance: by what timing, which emulation stretches, gives;
# or, "perf stat tests", by whether a short command is seen without a context switch
# or migration, upon which it wants a PMU.
fails_alone()
{
	local try

	for ((try = 1; try <= RETRIES; try++)); do
		echo "# again: $1"
		run_tests "$3" "$1" < /dev/null || :
		run_tests "$2" "$1" < /dev/null || :
		cat "$work/$3.log" "$work/$2.log"
		if [ -n "$(with_result "$2" Ok)" ] || [ -n "$(with_result "$3" 'FAILED!')" ]; then
			return 1
		fi
	done
}
