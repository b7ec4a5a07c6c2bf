#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write a perf.data file with PEBS records in an Intel PT trace.

usage: simd_regs_pt.py CASE FILE

There is one event for the trace and one whose PEBS records are in it. A record has
AX, IP and all XMM registers, or those that CASE says, and perhaps the number of the
counter that it is of. AX is 0xa, and word q of XMM register r is 0x7ec0000000RR0QQ.
Packets are as in volume 3C of Intel's manual, "Intel Processor Trace": "PEBS output
to Intel PT" has the blocks.
"""
import struct
import sys

from simd_regs_data import (IP, PID, SAMPLE_IP, SAMPLE_REGS_INTR, SAMPLE_TID, Case, Writer)

SAMPLE_IDENTIFIER = 1 << 16
# Flags of the attr. A trace is decoded when events are in the order of their time,
# for which perf wants all of them to have an ID.
PRECISE, SAMPLE_ID_ALL, AUX_OUTPUT = 1 << 15, 1 << 18, 1 << 31
PT_TYPE = 99                           # of the PMU, as the trace's description says
RECORD_AUX_OUTPUT_HW_ID, RECORD_AUXTRACE_INFO, RECORD_AUXTRACE = 21, 70, 71
AUXTRACE_INTEL_PT = 1
PRIV_WORDS = 17

# Where things are in the attr.
ATTR_TYPE, ATTR_CONFIG, ATTR_FLAGS = 0, 8, 40

AX, REG_IP, R16, R24, SSP = 0, 8, 24, 32, 40
GPRS = 1 << AX | 1 << REG_IP
ALL_XMM = range(16)


def case(intr=GPRS, vec=(2, 0x8005, 0), pred=(0, 0, 0), enabled=1, recorded=ALL_XMM,
         counter=None):
    c = Case('x86_64', intr=intr, vec=vec, pred=pred, enabled=enabled,
             sample_type=SAMPLE_IP | SAMPLE_TID | SAMPLE_IDENTIFIER | SAMPLE_REGS_INTR)
    c.recorded = recorded
    c.counter = counter
    return c


CASES = {
    'xmm': case(),
    # A record has neither of R16, R24 and SSP, nor more than 128 bits.
    'wide': case(intr=GPRS | 1 << R16 | 1 << R24 | 1 << SSP, vec=(4, 0x8005, 0),
                 pred=(1, 0xff, 0)),
    # The lowest of those asked for, up to one that is missing.
    'part': case(recorded=[0, 1] + list(range(3, 16))),
    'none': case(recorded=[]),
    # The last one that there can be, and one that there can't.
    'counter-63': case(counter=63),
    'counter-64': case(counter=64),
    # Without the SIMD fields: both halves of XMM0, and one of XMM15.
    'legacy': case(intr=GPRS | 3 << 32 | 1 << 63, vec=(0, 0, 0), enabled=0),
}


def trace(recorded, counter):
    def item(nr, value):
        return bytes([nr << 3 | 4]) + struct.pack('<Q', value)

    def block(kind, items):
        return bytes([2, 0x63, kind]) + b''.join(item(*i) for i in items)

    psb = bytes([2, 0x82]) * 8
    mode_64 = bytes([0x99, 1])
    fup = bytes([0x7d]) + struct.pack('<Q', IP)[:6]
    psbend = bytes([2, 0x23])
    bep = bytes([2, 0x33])
    out = psb + mode_64 + fup + psbend
    if counter is not None:
        out += block(4, [(1, 1 << counter % 64)])
    out += block(1, [(1, IP), (2, 0xa)])
    out += block(16, [(2 * r + q, 0x7ec0000000000000 | r << 12 | q)
                      for r in recorded for q in (0, 1)])
    out += bep
    return out + bytes(-len(out) % 8)


def attr(writer, c, kind, config, flags):
    out = bytearray(writer.attr(c))
    struct.pack_into('<I', out, ATTR_TYPE, kind)
    struct.pack_into('<Q', out, ATTR_CONFIG, config)
    struct.pack_into('<Q', out, ATTR_FLAGS, flags)
    return bytes(out)


def write(f, c):
    writer = Writer('little', '/nowhere')
    pt = Case('x86_64', enabled=c.enabled,
              sample_type=SAMPLE_IP | SAMPLE_TID | SAMPLE_IDENTIFIER)
    attrs = [attr(writer, pt, PT_TYPE, 0, SAMPLE_ID_ALL),
             attr(writer, c, 4, 0xc0, SAMPLE_ID_ALL | PRECISE | AUX_OUTPUT)]
    priv = [PT_TYPE] + [0] * (PRIV_WORDS - 1)
    data = writer.event(1, 2, struct.pack('<IIQQQ', PID, PID, IP & ~0xfff, 0x100000, 0) +
                        writer.mapped + struct.pack('<IIQ', PID, PID, 1))
    data += writer.event(RECORD_AUXTRACE_INFO, 0,
                         struct.pack('<II%dQ' % PRIV_WORDS, AUXTRACE_INTEL_PT, 0, *priv))
    packets = trace(c.recorded, c.counter)
    if c.counter is not None:
        data += writer.event(RECORD_AUX_OUTPUT_HW_ID, 0,
                             struct.pack('<QIIQ', c.counter, PID, PID, 2))
    data += writer.event(RECORD_AUXTRACE, 0,
                         struct.pack('<QQQIIiI', len(packets), 0, 0, 0, PID, -1, 0))
    data += packets

    # The header, an ID for each event, the attrs, and the data.
    ids_at = 104
    attrs_at = ids_at + 8 * len(attrs)
    attr_size = len(attrs[0]) + 16
    data_at = attrs_at + attr_size * len(attrs)
    out = struct.pack('<QQQQQQQQQ4Q', 0x32454c4946524550, 104, attr_size,
                      attrs_at, attr_size * len(attrs), data_at, len(data), 0, 0, 0, 0, 0, 0)
    out += struct.pack('<2Q', 1, 2)
    for nr, text in enumerate(attrs):
        out += text + struct.pack('<QQ', ids_at + 8 * nr, 8)
    f.write(out + data)


def main():
    args = sys.argv[1:]
    if len(args) != 2 or args[0] not in CASES:
        sys.exit(__doc__ + '\ncases: ' + ' '.join(CASES))
    with open(args[1], 'wb') as f:
        write(f, CASES[args[0]])


main()
