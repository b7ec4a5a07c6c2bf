#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# guest.sh "FREQUENCY..." [OPTION]...: a line `FREQUENCY SAMPLES THROTTLED` for each,
# with perf record's OPTIONs and the kernel's own limits.
set -eu

frequencies=$1
shift

work() {
	local i=0

	while [ $i -lt 15000 ]; do
		i=$((i + 1))
	done
}
export -f work

# count TYPE: how many records of it were taken.
count()
{
	perf report -i data --stats 2> /dev/null |
		awk -v type="$1" '$1 == type { n = $3; exit } END { print n + 0 }'
}

for frequency in $frequencies; do
	# What an earlier one made of them.
	echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent
	echo 100000 > /proc/sys/kernel/perf_event_max_sample_rate
	perf record -q -o data -m 4096 -F "$frequency" -e instructions "$@" -- bash -c work > log 2>&1 ||
		{ cat log; exit 1; }
	echo "$frequency $(count SAMPLE) $(count THROTTLE)"
done
