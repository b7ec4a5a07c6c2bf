#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write inputs to start from: the samples of perf's own tests, good and hostile.

usage: corpus.py sample-regs|perf-data FOLDER

An input for sample-regs.c is struct input and a sample without its header. One for
perf-data.c is a file or the contents of a pipe, in either byte order; there are also
damaged ones, and those that machines have recorded, from the folder `recorded`.
"""
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, 'tools/perf/tests/shell/lib'))
sys.dont_write_bytecode = True

import data_damage        # noqa: E402  its path is set above
import simd_regs_data     # noqa: E402
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


def samples():
    """Of all those that are registers only."""
    cases = list(simd_regs_data.CASES.values())
    cases += [case for case, _ in simd_regs_hostile.CASES.values()]
    # Samples of others have more in them than registers.
    cases = [case for case in cases if case.sample_type == simd_regs_data.SAMPLE_TYPE]
    nr = 0
    for case in cases:
        for data in inputs(case, nr % 16):
            yield 'seed-%03d' % nr, data
            nr += 1


class Recorded(simd_regs_data.Writer):
    """What cut.py has left of a recording."""
    def __init__(self, path):
        super().__init__('little', '')
        # The architecture is the first part of the name.
        self.arch = os.path.basename(path).split('-')[0]
        self.attr_bytes, self.records = b'', b''
        with open(path, encoding='ascii') as f:
            for part in f.read().split('\n\n')[-1].replace('\n    ', ' ').split('\n'):
                self.add(*part.split())

    def add(self, kind=None, *words):
        if kind == 'attr':
            self.attr_bytes = b''.join(self.pack('Q', int(word, 16)) for word in words)
        elif kind == 'sample':
            self.records += self.event(9, int(words[0]), b''.join(
                self.pack('Q', int(word, 16)) for word in words[1:]))

    def attr(self, case):
        return self.attr_bytes

    def data(self, case):
        return self.records


def files():
    cases = dict(simd_regs_data.CASES)
    cases.update((name, simd_regs_hostile.with_good_sample(case))
                 for name, (case, _) in simd_regs_hostile.CASES.items())
    for name, case in cases.items():
        for order in ('little', 'big'):
            writer = simd_regs_data.Writer(order, '/nowhere')
            yield '%s-%s-file' % (name, order), writer.file(case)
            yield '%s-%s-pipe' % (name, order), writer.pipe(case)
    for name, (damage, _) in data_damage.CASES.items():
        for order in ('little', 'big'):
            yield 'damage-%s-%s' % (name, order), damage(data_damage.File(order)).bytes
    folder = os.path.join(HERE, 'recorded')
    for name in sorted(os.listdir(folder)):
        writer = Recorded(os.path.join(folder, name))
        yield 'recorded-%s-file' % name, writer.file(writer)
        yield 'recorded-%s-pipe' % name, writer.pipe(writer)


def main():
    write, folder = {'sample-regs': samples, 'perf-data': files}[sys.argv[1]], sys.argv[2]
    for name, data in write():
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(data)


if len(sys.argv) != 3 or sys.argv[1] not in ('sample-regs', 'perf-data'):
    sys.exit(__doc__)
main()
