# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: what simd-regs.py makes its tables of, in samples.json.
set -e

perf record -q -e cpu-clock -c 1000000 -Iip,ymm0 -o fade.data -- fade 2
perf data convert -i fade.data --to-json samples.json --srcline
