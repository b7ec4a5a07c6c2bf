# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: the kit as it is, with a program that finds a wrong value, without
# root's rights, and without test programs.
set -eu -o pipefail

settings()
{
	grep . /proc/sys/kernel/perf_event_{paranoid,max_sample_rate} \
		/proc/sys/kernel/perf_cpu_time_max_percent
	grep -c tracefs /proc/mounts || :
}

# expect STATUS CMD...
expect()
{
	local want=$1 rc=0

	shift
	"$@" || rc=$?
	[ $rc -eq "$want" ] || { echo "error: status $rc, not $want: $*" >&2; exit 1; }
}

before=$(settings)
expect 0 kit/check-machine --minutes 1 --out reports/right
[ "$(settings)" = "$before" ] || { echo "error: settings changed: $(settings)" >&2; exit 1; }

rm kit/sample_cost
# In each program's place one that says what a test says of a foreign value
for program in kit/simd_regs*; do
	printf '%s\n' '#!/bin/sh' 'echo "1..1"' 'echo 99 > /proc/sys/kernel/perf_event_max_sample_rate' \
		'echo "# x: samples (user+kernel) 1+1, with known values 1+1 | user side: exact 1+0 absent 0+0 YMM 1+0 | intr side: exact 1+0 absent 0+0 YMM 1+0 | wrong 0 foreign 1 residue 0 malformed 0 partial 0 | x"' \
		'echo "ok 1 x"' > "$program"
done
expect 1 kit/check-machine --out reports/wrong > /dev/null
[ "$(settings)" = "$before" ] || { echo "error: settings changed: $(settings)" >&2; exit 1; }
printf '%s\n' '#!/bin/sh' 'echo "ok 1 x # SKIP such is life"' > skip
for program in kit/simd_regs* kit/sample_size kit/code_page_size; do
	cp skip "$program"
done
expect 2 kit/check-machine --out reports/nothing > /dev/null
expect 2 kit/check-machine --minutes some
rm kit/simd_regs_values
expect 2 kit/check-machine
tar cf reports.tar reports
