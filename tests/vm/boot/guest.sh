# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: each line that fails ends it.
set -eux

[ "$(nproc)" = 2 ]
[ "$(id -u)" = 0 ]
[ "$(cat /proc/sys/kernel/perf_cpu_time_max_percent)" = 0 ]
[ "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" = 100000 ]
[ -d /sys/kernel/debug/kunit ]
[ -e /sys/kernel/tracing/events/sched ]
[ -e /sys/fs/cgroup/cgroup.procs ]
grep -q 'hres_active *: 1' /proc/timer_list
[ "$(grep -c 'hres_active *: 0' /proc/timer_list)" = 0 ]
# A taint would be from a warning.
[ "$(cat /proc/sys/kernel/tainted)" = 0 ]
perf record -e cpu-clock -o /tmp/data -- bash -c 'for i in {1..3000}; do :; done'
perf report -i /tmp/data --stdio > /tmp/report
grep -q bash /tmp/report
case $(uname -m) in
aarch64) vectors='neon|-ce' ;;
*) vectors='aesni|avx2' ;;
esac
grep -qE "^driver *: .*($vectors)" /proc/crypto
