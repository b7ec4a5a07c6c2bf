# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: the kit as it is, as root and as a user; with a program that finds a
# wrong value, with some that find nothing, and without test programs. Without SHORT=1 also
# stopped, and twice at once, and with tests that fail for want of samples.
set -eu -o pipefail

settings()
{
	grep . /proc/sys/kernel/perf_event_{paranoid,max_sample_rate,max_stack} \
		/proc/sys/kernel/{perf_cpu_time_max_percent,kptr_restrict} \
		/sys/devices/system/cpu/online
	grep -c tracefs /proc/mounts || :
}

# What runs of the kit's programs
running()
{
	readlink /proc/[0-9]*/exe | grep '/kit/' || :
}

# expect STATUS CMD...
expect()
{
	local want=$1 rc=0

	shift
	"$@" || rc=$?
	[ $rc -eq "$want" ] || { echo "error: status $rc, not $want: $*" >&2; exit 1; }
}

# As the owner of the machine has left it
echo 0 > /sys/devices/system/cpu/cpu1/online
echo 2 > /proc/sys/kernel/kptr_restrict
before=$(settings)

unchanged()
{
	[ "$(settings)" = "$before" ] || { echo "error: settings changed: $(settings)" >&2; exit 1; }
}

# stopped: in one program's place a shell that starts others all the time, which change a
# setting; not so many that a slow machine does nothing else.
stopped()
{
	mkfifo never
	echo 'while :; do (echo 0 > /proc/sys/kernel/perf_event_paranoid; read -rt 10) <> never & read -rt 0.2 <> never; done' \
		> starts
	mv kit/simd_regs_values .
	cp "$(type -P bash)" kit/simd_regs_values
	BASH_ENV=$PWD/starts kit/check-machine --out reports/stopped > /dev/null &
	until [ -e reports/stopped/log/simd_regs_values.log ]; do sleep 1; done
	expect 2 kit/check-machine --out reports/second
	# It leaves alone what the first one has saved.
	expect 2 kit/check-machine --out reports/stopped
	sleep 3
	kill -TERM $!
	expect 130 wait $!
	unchanged
	[ -z "$(running)" ] || { echo "error: still running: $(running)" >&2; exit 1; }
	mv simd_regs_values kit
}

expect 0 kit/check-machine --minutes 1 --hotplug --out reports/right
unchanged

# Only user mode, and no settings
chmod a+x /root
mkdir -m 777 reports/user
(ulimit -l 8192
 SIMD_SAMPLES=100 expect 0 setpriv --reuid 65534 --regid 65534 --clear-groups \
	kit/check-machine --minutes 1 --out reports/user)
unchanged

printf '%s\n' '#!/bin/sh' | tee kit/sample_cost > kit/cpu_facts
[ "$SHORT" ] || stopped

# In each program's place one that says what a test says of a foreign value
for program in kit/simd_regs*; do
	printf '%s\n' '#!/bin/sh' 'echo "1..1"' 'echo 99 > /proc/sys/kernel/perf_event_max_sample_rate' \
		'echo "# x: samples (user+kernel) 1+1, with known values 1+1 | user side: exact 1+0 absent 0+0 YMM 1+0 | intr side: exact 1+0 absent 0+0 YMM 1+0 | wrong 0 foreign 1 residue 0 malformed 0 partial 0 | x"' \
		'echo "ok 1 x"' > "$program"
done
expect 1 kit/check-machine --out reports/wrong > /dev/null
unchanged
printf '%s\n' '#!/bin/sh' 'echo "ok 1 x # SKIP such is life"' > skip
for program in kit/simd_regs* kit/sample_size kit/code_page_size; do
	cp skip "$program"
done
# ends_with LINE...: simd_regs_tasks says so of a test that fails.
ends_with()
{
	{
		printf '%s\n' '#!/bin/sh'
		printf "echo '%s'\n" '#  RUN           x ...' "$@" 'not ok 1 x'
		echo exit 1
	} > kit/simd_regs_tasks
}
# Registers that no sample has are wrong; samples that do not come are not.
too_few='# x.h:76:x:Expected 0 (0) == err (-62)'
if [ -z "$SHORT" ]; then
	ends_with "$too_few" '# x.h:77:x:intr[1].exact: Timer expired'
	expect 1 kit/check-machine --out reports/never > /dev/null
	ends_with '# x.h:76:x:Expected 0UL (0) == n->partial (1)' "$too_few" '# x.h:77:x:samples with known values: Timer expired'
	expect 1 kit/check-machine --out reports/more > /dev/null
	ends_with '# x: samples (user+kernel) 700+300, with known values 0+0 | user side: exact 0+0 | intr side: exact 0+0' \
		"$too_few" '# x.h:77:x:samples with known values: Timer expired'
	expect 1 kit/check-machine --out reports/unknown > /dev/null
fi
ends_with "$too_few" '# x.h:77:x:samples with known values: Timer expired'
expect 2 kit/check-machine --out reports/nothing > /dev/null
expect 2 unshare -m sh -c 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys &&
	exec kit/check-machine --out reports/fixed'
expect 2 kit/check-machine --minutes some
rm kit/simd_regs_values
expect 2 kit/check-machine
tar cf reports.tar reports
