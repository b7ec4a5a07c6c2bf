#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a file of samples that are all the same.

usage: samples.py gprs NR_REGS|zmm SAMPLES FILE
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, 'tools/perf/tests/shell/lib'))
sys.dont_write_bytecode = True

from simd_regs_data import (ABI_64, ABI_SIMD, IP, PHYS_ADDR, Case, Writer, block)  # noqa: E402

USER = block(ABI_64, [0x5000])
# AX to IP, R8 to R15 and so on: those that the base's perf knows, but for DS to GS.
GPRS = [id for id in range(24) if not 12 <= id <= 15]


def main():
    what, arg, samples, path = sys.argv[1:]
    if what == 'gprs':
        ids = GPRS[:int(arg)]
        mask = sum(1 << id for id in ids)
        words = block(ABI_64, [0x7f0011223344 + id for id in ids])
        case = Case('x86_64', user=1 << 7, intr=mask, enabled=0)
    else:
        words = block(ABI_64 | ABI_SIMD, [IP], (32, 8, 8, 1))
        case = Case('x86_64', user=1 << 7, intr=1 << 8, vec=(8, 0xffffffff, 0), pred=(1, 0xff, 0))
    case.samples = [USER + words + [PHYS_ADDR]] * int(samples)
    with open(path, 'wb') as f:
        f.write(Writer('little', '/nowhere').file(case))


main()
