#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write a perf.data file with one sample in it that no kernel would write.

usage: simd_regs_hostile.py list
       simd_regs_hostile.py CASE little|big file|pipe FILE

A file is written for a byte order and as "perf record -o FILE" or "-o -" does.
What perf has to say of it is printed: the field, and where in the sample it is.
A good sample is in front of the bad one.
"""
import sys

from simd_regs_data import (ABI_32, ABI_64, ABI_SIMD, IP, PHYS_ADDR, SAMPLE_CALLCHAIN,
                            SAMPLE_IP, SAMPLE_PHYS_ADDR, SAMPLE_STACK_USER, SAMPLE_TID,
                            Case, Writer)

SP = 0x5000
SAMPLE_RAW, SAMPLE_BRANCH_STACK, SAMPLE_AUX = 1 << 10, 1 << 11, 1 << 20
# The user side of most samples: abi at byte 24 and a register at 32.
USER = [ABI_64, SP]
# The interrupt side follows: abi at byte 40, a register at 48, the SIMD header at
# 56, the data at 88.
GPRS = [ABI_64 | ABI_SIMD, IP]


def x86(words, **kwargs):
    """16 YMM registers and 8 OPMASKs asked for, after the user side as it should be."""
    kwargs = {'user': 1 << 7, 'intr': 1 << 8, 'vec': (4, 0xffff, 0), 'pred': (1, 0xff, 0),
              **kwargs}
    return Case('x86_64', samples=[words], **kwargs)


def other(fields, good, bad):
    """Samples with other fields than registers, after IP, TID and PID."""
    return Case('x86_64', enabled=0, samples=[good, bad],
                sample_type=SAMPLE_IP | SAMPLE_TID | fields)


def deferred(words):
    """A PERF_RECORD_CALLCHAIN_DEFERRED, which comes later than the samples it is for."""
    case = other(SAMPLE_CALLCHAIN, [1, IP], [1, IP])
    case.records = [(22, words)]
    return case


def arm64(words):
    """All of Z, P and FFR asked for, as wide as can be."""
    return Case('aarch64', user=1 << 31, intr=1 << 32, vec=(32, 0xffffffff, 0),
                pred=(4, 0x1ffff, 0), samples=[words])


def intr(header, data=0, tail=(PHYS_ADDR,)):
    """A sample whose interrupt side has this header, and so many words of data."""
    return USER + GPRS + list(header) + list(range(data)) + list(tail)


def other_order(words):
    """As they are if nobody has swapped them."""
    return [int.from_bytes(word.to_bytes(8, 'little'), 'big') for word in words]


# The words after IP, TID and PID, and what perf says.
CASES = {
    # The word that everything else depends on.
    'abi-new-bit': (
        x86(USER + [ABI_64 | ABI_SIMD | 8, IP, 0, 0, 0, 0, PHYS_ADDR]),
        'malformed intr registers at byte 40 of a sample of 96 bytes: abi is 0xe, with bits other than 0x7'),
    'abi-top-bit': (
        x86(USER + [1 << 63 | ABI_64, IP, PHYS_ADDR]),
        'malformed intr registers at byte 40 of a sample of 64 bytes: '
        'abi is 0x8000000000000002, with bits other than 0x7'),
    'abi-of-user': (
        x86([0xffffffff, SP, ABI_64, IP, PHYS_ADDR]),
        'malformed user registers at byte 24 of a sample of 64 bytes: '
        'abi is 0xffffffff, with bits other than 0x7'),
    # Samples that end too early.
    'no-user-side': (
        x86([]),
        'malformed user registers at byte 24 of a sample of 24 bytes: abi needs 1 word, 0 left'),
    'no-intr-side': (
        x86(USER),
        'malformed intr registers at byte 40 of a sample of 40 bytes: abi needs 1 word, 0 left'),
    'gprs-cut': (
        x86(USER + [ABI_32, 0, 1, 2, 3], intr=0xff0fff),
        'malformed intr registers at byte 48 of a sample of 80 bytes: '
        'regs of mask 0xff0fff needs 20 words, 4 left'),
    'header-cut': (
        x86(intr([16, 4, 0], tail=())),
        'malformed intr registers at byte 56 of a sample of 80 bytes: '
        'the SIMD header needs 4 words, 3 left'),
    'data-cut': (
        x86(intr([16, 4, 8, 1], data=71, tail=())),
        'malformed intr registers at byte 88 of a sample of 656 bytes: '
        'the data of 16 * 4 and 8 * 1 words needs 72, 71 left'),
    # Numbers that are larger than any sample.
    'nr-vectors-huge': (
        x86(intr([0xffff, 4, 0, 0], data=8)),
        'malformed intr registers at byte 56 of a sample of 160 bytes: nr_vectors is 0xffff'),
    'nr-vectors-negative': (
        x86(intr([1 << 63, 4, 0, 0], data=8)),
        'malformed intr registers at byte 56 of a sample of 160 bytes: '
        'nr_vectors is 0x8000000000000000'),
    'vector-qwords-wrap': (
        # In bytes, 16 * this wraps around to 16 * 4 words.
        x86(intr([16, (1 << 57) + 4, 0, 0], data=64)),
        'malformed intr registers at byte 64 of a sample of 608 bytes: '
        'vector_qwords is 0x200000000000004'),
    'nr-pred-32-bits': (
        # Its low 32 bits are a good number.
        x86(intr([0, 0, (1 << 32) + 1, 1], data=1)),
        'malformed intr registers at byte 72 of a sample of 104 bytes: nr_pred is 0x100000001'),
    'pred-qwords-16-bits': (
        # Its low 16 bits are a good number.
        x86(intr([0, 0, 8, 0x10001], data=8)),
        'malformed intr registers at byte 80 of a sample of 160 bytes: pred_qwords is 0x10001'),
    'product': (
        # Each is possible alone.
        x86(intr([16, 8191, 8, 8191], data=8)),
        'malformed intr registers at byte 88 of a sample of 160 bytes: '
        'the data of 16 * 8191 and 8 * 8191 words needs 196584, 9 left'),
    'other-byte-order': (
        x86(USER + GPRS + other_order([16, 4, 0, 0]) + list(range(64)) + [PHYS_ADDR]),
        'malformed intr registers at byte 56 of a sample of 608 bytes: '
        'nr_vectors is 0x1000000000000000'),
    # Numbers that don't go with what the event asked for, or with each other.
    'vectors-not-asked-for': (
        x86(intr([17, 4, 0, 0], data=68)),
        'malformed intr registers at byte 56 of a sample of 640 bytes: '
        'nr_vectors is 17, the event asked for 16'),
    'preds-not-asked-for': (
        x86(intr([0, 0, 9, 1], data=9)),
        'malformed intr registers at byte 72 of a sample of 168 bytes: '
        'nr_pred is 9, the event asked for 8'),
    'simd-not-asked-for': (
        x86(intr([1, 2, 0, 0], data=2), vec=(0, 0, 0), pred=(0, 0, 0), enabled=0),
        'malformed intr registers at byte 56 of a sample of 112 bytes: '
        'nr_vectors is 1, the event asked for 0'),
    'user-side-not-asked-for': (
        x86([ABI_64 | ABI_SIMD, SP, 1, 4, 0, 0, 0, 1, 2, 3, ABI_64, IP, PHYS_ADDR]),
        'malformed user registers at byte 40 of a sample of 128 bytes: '
        'nr_vectors is 1, the event asked for 0'),
    'vectors-without-width': (
        x86(intr([16, 0, 8, 1], data=8)),
        'malformed intr registers at byte 64 of a sample of 160 bytes: '
        'vector_qwords is 0 with nr_vectors 16'),
    'preds-without-width': (
        x86(intr([0, 0, 8, 0])),
        'malformed intr registers at byte 80 of a sample of 96 bytes: '
        'pred_qwords is 0 with nr_pred 8'),
    # The largest sample there is, and an FFR of which a word is missing.
    'sve-ffr-cut': (
        arm64(intr([32, 32, 17, 4], data=1091, tail=())),
        'malformed intr registers at byte 88 of a sample of 8816 bytes: '
        'the data of 32 * 32 and 17 * 4 words needs 1092, 1091 left'),
    'sve-second-ffr': (
        arm64(intr([0, 32, 18, 4], data=72)),
        'malformed intr registers at byte 72 of a sample of 672 bytes: '
        'nr_pred is 18, the event asked for 17'),
    # What follows the registers is missing.
    'nothing-after-them': (
        x86(intr([1, 4, 0, 0], data=4, tail=())),
        'malformed PHYS_ADDR at byte 120 of a sample of 120 bytes: only 0 bytes left'),
    # Other fields of variable size: far beyond the sample, or a little.
    'callchain-huge': (
        other(SAMPLE_CALLCHAIN, [1, IP], [1 << 61, 1, 2]),
        'malformed CALLCHAIN at byte 32 of a sample of 48 bytes: only 16 bytes left'),
    'callchain-cut': (
        other(SAMPLE_CALLCHAIN, [1, IP], [3, 1, 2]),
        'malformed CALLCHAIN at byte 32 of a sample of 48 bytes: only 16 bytes left'),
    'callchain-deferred-huge': (
        deferred([1, 1 << 48, 2, 3]),
        'malformed CALLCHAIN at byte 24 of a sample of 40 bytes: only 16 bytes left'),
    'callchain-deferred-cut': (
        deferred([1, 3, 2, 3]),
        'malformed CALLCHAIN at byte 24 of a sample of 40 bytes: only 16 bytes left'),
    'callchain-deferred-without-nr': (
        deferred([1]),
        'malformed CALLCHAIN at byte 16 of a sample of 16 bytes: only 0 bytes left'),
    'raw-huge': (
        other(SAMPLE_RAW, [(4, 0)], [(0xffffffff, 0), 0]),
        'malformed RAW at byte 24 of a sample of 40 bytes: only 16 bytes left'),
    'raw-unaligned': (
        other(SAMPLE_RAW | SAMPLE_PHYS_ADDR, [(4, 0), 0], [(5, 0), 0]),
        'malformed PHYS_ADDR at byte 33 of a sample of 40 bytes: only 7 bytes left'),
    'branch-stack-huge': (
        # There is something to swap in each entry.
        other(SAMPLE_BRANCH_STACK, [0], [1 << 40, 0, 0, 0]),
        'malformed BRANCH_STACK at byte 32 of a sample of 56 bytes: only 24 bytes left'),
    'stack-huge': (
        other(SAMPLE_STACK_USER, [0], [1 << 63, 1, 2]),
        'malformed STACK_USER at byte 32 of a sample of 48 bytes: only 16 bytes left'),
    'stack-without-size': (
        other(SAMPLE_STACK_USER, [0], [16, 1, 2]),
        'malformed STACK_USER at byte 48 of a sample of 48 bytes: only 0 bytes left'),
    'aux-huge': (
        other(SAMPLE_AUX, [0], [1 << 40, 0]),
        'malformed AUX at byte 32 of a sample of 40 bytes: only 8 bytes left'),
}


# So that an error in the first sample isn't taken for what it should be.
def with_good_sample(case):
    if len(case.samples) > 1:
        return case
    good = [ABI_64] + [SP] * bin(case.user).count('1')
    good += [ABI_64] + [IP] * bin(case.intr).count('1') + [PHYS_ADDR]
    case.samples = [good] + case.samples
    return case


def main():
    args = sys.argv[1:]
    if args == ['list']:
        print('\n'.join(CASES))
        return
    if len(args) != 4 or args[0] not in CASES or args[1] not in ('little', 'big') or \
       args[2] not in ('file', 'pipe'):
        sys.exit(__doc__)
    case, message = CASES[args[0]]
    writer = Writer(args[1], '/nowhere')
    case = with_good_sample(case)
    with open(args[3], 'wb') as f:
        f.write(writer.file(case) if args[2] == 'file' else writer.pipe(case))
    print(message)


if __name__ == '__main__':
    main()
