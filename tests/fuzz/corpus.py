#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write inputs to start from: the samples of perf's own tests, good and hostile.

usage: corpus.py FOLDER

An input is what sample-regs.c takes: struct input and a sample without its header.
"""
import os
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tools/perf/tests/shell/lib'))
sys.dont_write_bytecode = True

import simd_regs_data     # noqa: E402  its path is set above
import simd_regs_hostile  # noqa: E402

MACHINES = {'x86_64': 0, 'aarch64': 1}
WORDS_BEFORE = 2          # IP, and PID with TID


def inputs(case, view):
    for words in case.samples:
        for intr in (0, 1):
            regs = case.intr if intr else case.user
            vec, pred = case.vec[2 - intr], case.pred[2 - intr]
            skip = WORDS_BEFORE
            if intr:
                # The user side of all hostile samples is two words.
                skip += 2
            head = struct.pack('=QQIHBBBBHI', regs, vec, pred, MACHINES[case.arch],
                               intr, case.enabled, skip, view, 0, 0)
            yield head + struct.pack('=%dQ' % (WORDS_BEFORE + len(words)), 0, 0, *words)


def main():
    folder = sys.argv[1]
    cases = list(simd_regs_data.CASES.values())
    cases += [case for case, _ in simd_regs_hostile.CASES.values()
              if case.sample_type == simd_regs_data.SAMPLE_TYPE]
    nr = 0
    for case in cases:
        for data in inputs(case, nr % 16):
            with open(os.path.join(folder, 'seed-%03d' % nr), 'wb') as f:
                f.write(data)
            nr += 1


if len(sys.argv) != 2:
    sys.exit(__doc__)
main()
