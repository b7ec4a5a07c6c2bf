#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write a perf.data file that has SIMD registers, of a machine that need not exist.

usage: simd_regs_data.py CASE BYTEORDER FILE [MAPPED [OFFSET]]

The file has one event and the samples of CASE. Word q of register r is
0x7ec0000000RR0QQ in a vector and 0x94ed000000RR0QQ in a predicate, where RR
counts the registers in the sample from 0. BYTEORDER is little or big. MAPPED is
a file that the process has mapped from OFFSET on, by the path of one on this machine
perhaps.
"""
import struct
import sys

VER9, VER10 = 144, 176
MAGIC = 0x32454c4946524550

SAMPLE_IP, SAMPLE_TID = 1 << 0, 1 << 1
SAMPLE_CALLCHAIN, SAMPLE_STACK_USER = 1 << 5, 1 << 13
SAMPLE_REGS_USER, SAMPLE_REGS_INTR = 1 << 12, 1 << 18
SAMPLE_PHYS_ADDR, SAMPLE_CODE_PAGE_SIZE = 1 << 19, 1 << 23
SAMPLE_TYPE = (SAMPLE_IP | SAMPLE_TID | SAMPLE_REGS_USER | SAMPLE_REGS_INTR |
               SAMPLE_PHYS_ADDR)

EXCLUDE_CALLCHAIN_USER = 22

ABI_32, ABI_64, ABI_SIMD = 1, 2, 4
PID, IP, PHYS_ADDR = 4711, 0x401136, 0xfeed0000

HEADER_HOSTNAME, HEADER_ARCH = 3, 6
HEADER_BITS = 256


def block(abi, gprs, simd=None, data=None):
    """A register block, with other words in the vectors and predicates if there is data."""
    words = [abi] + gprs
    if data:
        words += list(simd) + data
    elif simd:
        nr_vec, vec_qwords, nr_pred, pred_qwords = simd
        words += list(simd)
        words += [0x7ec0000000000000 | r << 12 | q
                  for r in range(nr_vec) for q in range(vec_qwords)]
        words += [0x94ed000000000000 | r << 12 | q
                  for r in range(nr_pred) for q in range(pred_qwords)]
    return words


class Case:
    def __init__(self, arch, user=0, intr=0, vec=(0, 0, 0), pred=(0, 0, 0),
                 enabled=1, samples=(), sample_type=None, flags=()):
        self.arch = arch
        self.user, self.intr = user, intr          # sample_regs_*
        self.vec, self.pred = vec, pred            # qwords, intr mask, user mask
        self.enabled = enabled
        self.sample_type = sample_type or SAMPLE_TYPE
        self.samples = samples                     # lists of the words after PID and TID
        self.records = []                          # others: a type, and words
        self.flags = flags                         # numbers of bits, as on little endian


CASES = {
    # R16 and SSP on one side, two ZMM of three asked for and a predicate on the other.
    'x86': Case('x86_64', user=1 << 24 | 1 << 40, intr=1 << 8,
                vec=(8, 0x80010004, 0), pred=(1, 0x80, 0x2), samples=[
                    block(ABI_64 | ABI_SIMD, [0x16, 0x55], (0, 0, 1, 1)) +
                    block(ABI_64 | ABI_SIMD, [IP], (2, 8, 1, 1)) + [PHYS_ADDR],
                    block(0, []) + block(ABI_64, [IP]) + [PHYS_ADDR],
                ]),
    # The widths of two samples differ; the last task doesn't use SVE.
    'arm64': Case('aarch64', user=1 << 31, intr=1 << 32,
                  vec=(8, 0x80000001, 0x2), pred=(1, 0x18000, 0), samples=[
                      block(ABI_64 | ABI_SIMD, [0x5000], (1, 4, 0, 0)) +
                      block(ABI_64 | ABI_SIMD, [IP], (2, 4, 2, 1)) + [PHYS_ADDR],
                      block(ABI_64 | ABI_SIMD, [0x5000], (1, 2, 0, 0)) +
                      block(ABI_64 | ABI_SIMD, [IP], (2, 2, 0, 0)) + [PHYS_ADDR],
                  ]),
    # No SIMD fields in the attr: bits 32 and up are XMM registers.
    'legacy': Case('x86_64', user=1 << 7, intr=3 << 38, enabled=0, samples=[
        block(ABI_64, [0x5000]) + block(ABI_64, [0x33, 0x34]) + [PHYS_ADDR],
    ]),
    # Floats: zeros, ones, a lane that is no number, an infinite and a denormal one,
    # something in the upper half only; 4 of 8 lanes on, none.
    'lanes': Case('x86_64', user=1 << 7, intr=1 << 8, vec=(4, 0x1f, 0), pred=(1, 0x3, 0),
                  samples=[
                      block(ABI_64, [0x5000]) +
                      block(ABI_64 | ABI_SIMD, [IP], (5, 4, 2, 1), data=[
                          0, 0, 0, 0,
                          0x3f8000003f800000, 0x3f8000003f800000,
                          0x3f8000003f800000, 0x3f8000003f800000,
                          0x7fc0000040000000, 0, 0, 0,
                          0x000000017f800000, 0, 0, 0,
                          0, 0, 0, 0xc0490fdb00000000,
                          0x55, 0,
                      ]) + [PHYS_ADDR],
                  ]),
    # What perf inject makes call chains of, and takes out of the sample then.
    'dwarf': Case('x86_64', user=1 << 7 | 1 << 8, intr=1 << 8, vec=(2, 0x1, 0x3), pred=(1, 0, 0x2),
                  sample_type=SAMPLE_TYPE & ~SAMPLE_PHYS_ADDR | SAMPLE_CALLCHAIN | SAMPLE_STACK_USER,
                  flags=[EXCLUDE_CALLCHAIN_USER], samples=[
                      [1, IP] + block(ABI_64 | ABI_SIMD, [0x5000, IP], (2, 2, 1, 1)) +
                      [8, 0, 8] + block(ABI_64 | ABI_SIMD, [IP], (1, 2, 0, 0)),
                  ]),
    # Without what perf inject --aslr drops a sample for, and a word after the registers.
    'aslr': Case('x86_64', user=1 << 7, intr=1 << 8, vec=(4, 0x3, 0x1), pred=(1, 0x1, 0x2),
                 sample_type=SAMPLE_TYPE & ~SAMPLE_PHYS_ADDR | SAMPLE_CODE_PAGE_SIZE, samples=[
                     block(ABI_64 | ABI_SIMD, [0x5000], (1, 4, 1, 1)) +
                     block(ABI_64 | ABI_SIMD, [IP], (2, 4, 1, 1)) + [0x1000],
                 ]),
    # What mainline's kernel writes: whole classes, R16-R31 and SSP on both sides.
    'mainline': Case('x86_64', user=0x1ffffff01ff, intr=0x1ffffff01ff,
                     vec=(8, 0xffffffff, 0xffffffff), pred=(1, 0xff, 0xff), samples=[
                         block(ABI_64 | ABI_SIMD, [IP] * 34, (32, 8, 8, 1)) +
                         block(ABI_64 | ABI_SIMD, [IP] * 34, (32, 8, 8, 1)) + [PHYS_ADDR],
                     ]),
}


class Writer:
    def __init__(self, order, mapped, offset=0):
        self.o = '<' if order == 'little' else '>'
        self.mapped = mapped.encode() + b'\0'
        self.mapped += bytes(-len(self.mapped) % 8)
        self.offset = offset

    def pack(self, fmt, *args):
        return struct.pack(self.o + fmt, *args)

    def attr(self, case):
        size = VER10 if case.enabled else VER9
        out = self.pack('IIQQQQ', 1, size, 0, 1000, case.sample_type, 0)
        out += self.pack('Q', sum(1 << (bit if self.o == '<' else 63 - bit) for bit in case.flags))
        out += self.pack('IIQQQ', 0, 0, 0, 0, 0)              # wakeup .. branch_sample_type
        out += self.pack('QIiQ', case.user, 0, 0, case.intr)
        out += bytes(VER9 - len(out))
        if case.enabled:
            out += self.pack('HHHHIIQQ', 1, case.pred[0], case.vec[0], 0,
                             case.pred[1], case.pred[2], case.vec[1], case.vec[2])
        assert len(out) == size
        return out

    def event(self, kind, misc, payload):
        return self.pack('IHH', kind, misc, 8 + len(payload)) + payload

    def data(self, case):
        mmap = self.pack('IIQQQ', PID, PID, IP & ~0xfff, 0x100000, self.offset)
        out = self.event(1, 2, mmap + self.mapped)
        for words in case.samples:
            payload = self.pack('QII', IP, PID, PID)
            # A word can also be a pair of 32 bits each.
            for word in words:
                payload += self.pack('II', *word) if isinstance(word, tuple) else self.pack('Q', word)
            out += self.event(9, 2, payload)
        for kind, words in case.records:
            out += self.event(kind, 2, self.pack('%dQ' % len(words), *words))
        return out

    def string(self, text):
        text = text.encode() + b'\0'
        text += bytes(-len(text) % 64)
        return self.pack('I', len(text)) + text

    # PERF_RECORD_HEADER_ATTR says what the events are that follow.
    def pipe(self, case):
        return (self.pack('QQ', MAGIC, 16) + self.event(64, 0, self.attr(case)) +
                self.data(case))

    def file(self, case, data=None, ids=(), more_features=()):
        attr_at = 104 + 8 * len(ids)
        attr = self.attr(case) + self.pack('QQ', 104, 8 * len(ids))
        data = data or self.data(case)
        data_at = attr_at + len(attr)
        table_at = data_at + len(data)
        # The host name is what tells perf how wide the words of the bitmap are.
        features = {HEADER_HOSTNAME: self.string('nowhere'), HEADER_ARCH: self.string(case.arch)}
        features.update(more_features)
        bitmap = [0] * (HEADER_BITS // 64)
        for feature in features:
            bitmap[feature // 64] |= 1 << feature % 64

        out = self.pack('QQQ', MAGIC, 104, len(attr))
        out += self.pack('QQ', attr_at, len(attr))
        out += self.pack('QQ', data_at, len(data))
        out += self.pack('QQ', 0, 0)
        out += self.pack('%dQ' % len(bitmap), *bitmap)
        out += self.pack('%dQ' % len(ids), *ids) + attr + data
        at = table_at + 16 * len(features)
        for text in features.values():
            out += self.pack('QQ', at, len(text))
            at += len(text)
        return out + b''.join(features.values())


def main():
    args = sys.argv[1:]
    if len(args) not in (3, 4, 5) or args[0] not in CASES or args[1] not in ('little', 'big'):
        sys.exit(__doc__ + '\ncases: ' + ' '.join(CASES))
    mapped = args[3] if len(args) > 3 else '/bin/sh'
    offset = int(args[4], 0) if len(args) > 4 else 0
    with open(args[2], 'wb') as f:
        f.write(Writer(args[1], mapped, offset).file(CASES[args[0]]))


if __name__ == '__main__':
    main()
