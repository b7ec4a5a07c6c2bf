#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What programs have in their vector registers, by symbol.

    perf record -e cpu-clock -Izmm,opmask -- ./program
    perf script -s simd-regs.py [-- --type f64 --html report.html]

or without Python in perf:

    perf data convert --to-json samples.json
    simd-regs.py --json samples.json

The columns are
    samples  those of the symbol that have vector or predicate registers
    bits     the widths of their vectors
    active   lanes that the predicates leave on, of those that are not all off
    zero     vectors that are zero as a whole
    same     others, of which all lanes have the same value
    upper    vectors of more than 128 bits with something above these: on x86,
             what makes SSE instructions slow until VZEROUPPER
    nan      vectors with a lane that is no number
    inf      vectors with a lane that is infinite
    denorm   vectors with a lane that is denormal, which many CPUs are slow with
"""
import argparse
import collections
import html
import json
import os
import struct
import sys

# Letters of struct, bits of fraction and of the whole lane.
TYPES = {'f16': ('H', 10, 16), 'bf16': ('H', 7, 16), 'f32': ('I', 23, 32), 'f64': ('Q', 52, 64)}
# A predicate of arm64 has a bit for each byte of a vector.
PER_BYTE = ('P', 'FFR')
PREDICATES = PER_BYTE + ('OPMASK', 'PRED')
VECTORS = ('XMM', 'YMM', 'ZMM', 'V', 'Z', 'VEC')
COLUMNS = ('active', 'zero', 'same', 'upper', 'nan', 'inf', 'denorm')


def lane_kinds(data, lane_type):
    """Which of nan, inf and denorm there is among the lanes."""
    letter, fraction_bits, bits = TYPES[lane_type]
    exponent_max = (1 << bits - 1 - fraction_bits) - 1
    kinds = set()
    for lane in struct.unpack('<%d%s' % (len(data) * 8 // bits, letter), data):
        fraction = lane & (1 << fraction_bits) - 1
        exponent = lane >> fraction_bits & exponent_max
        if exponent == exponent_max:
            kinds.add('nan' if fraction else 'inf')
        elif exponent == 0 and fraction:
            kinds.add('denorm')
    return kinds


class Symbol:
    def __init__(self):
        self.samples = 0
        self.widths = set()
        self.vectors = 0
        self.lanes = 0                  # of predicates that are not all off
        self.count = collections.Counter()

    def add_vector(self, data, lane_type):
        lane = TYPES[lane_type][2] // 8
        self.vectors += 1
        self.widths.add(len(data) * 8)
        if not any(data):
            self.count['zero'] += 1
            return
        if data == data[:lane] * (len(data) // lane):
            self.count['same'] += 1
        if any(data[16:]):
            self.count['upper'] += 1
        self.count.update(lane_kinds(data, lane_type))

    def add_predicate(self, name, data, lane_type, vector_bytes):
        lane = TYPES[lane_type][2] // 8
        value = int.from_bytes(data, 'little')
        step = lane if name.rstrip('0123456789') in PER_BYTE else 1
        lanes = len(data) * 8 // step
        if vector_bytes:
            lanes = min(lanes, vector_bytes // lane)
        on = sum(value >> i * step & 1 for i in range(lanes))
        if on:
            self.lanes += lanes
            self.count['active'] += on

    def add(self, regs, lane_type):
        vectors = {n: d for n, d in regs.items() if n.rstrip('0123456789') in VECTORS}
        preds = {n: d for n, d in regs.items() if n.rstrip('0123456789') in PREDICATES}
        if not vectors and not preds:
            return
        self.samples += 1
        for data in vectors.values():
            self.add_vector(data, lane_type)
        width = max(map(len, vectors.values()), default=0)
        for name, data in preds.items():
            self.add_predicate(name, data, lane_type, width)

    def percent(self, column):
        total = self.lanes if column == 'active' else self.vectors
        return 100 * self.count[column] / total if total else None


class Analysis:
    def __init__(self, lane_type):
        self.lane_type = lane_type
        self.symbols = collections.defaultdict(Symbol)

    def add(self, symbol, regs):
        self.symbols[symbol or '[unknown]'].add(regs, self.lane_type)

    def rows(self):
        """Name, samples, bits, and a percentage or None for each of COLUMNS."""
        found = [(name, s) for name, s in self.symbols.items() if s.samples]
        for name, s in sorted(found, key=lambda x: (-x[1].samples, x[0])):
            bits = ','.join(map(str, sorted(s.widths))) or '-'
            yield name, s.samples, bits, [s.percent(c) for c in COLUMNS]

    def text(self):
        lines = ['# lanes are %s' % self.lane_type,
                 '%8s %9s' % ('samples', 'bits') + ''.join('%8s' % c for c in COLUMNS) +
                 '  symbol']
        for name, samples, bits, values in self.rows():
            lines.append('%8d %9s' % (samples, bits) +
                         ''.join('%8s' % ('-' if v is None else '%.1f%%' % v) for v in values) +
                         '  ' + name)
        return '\n'.join(lines)

    def html(self):
        """One file without anything from elsewhere: a bar in each cell."""
        out = ['<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
               '<title>Vector registers by symbol</title><style>',
               'body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}',
               'td,th{padding:3px 8px;text-align:right;border-bottom:1px solid #ddd}',
               'td:last-child,th:last-child{text-align:left;font-family:monospace}',
               'svg{display:block}</style></head><body>',
               '<h1>Vector registers by symbol</h1>',
               '<p>Lanes are %s. Percent of vectors; active: of lanes.</p>' % self.lane_type,
               '<table><tr><th>samples</th><th>bits</th>']
        out += ['<th>%s</th>' % c for c in COLUMNS] + ['<th>symbol</th></tr>']
        for name, samples, bits, values in self.rows():
            out.append('<tr><td>%d</td><td>%s</td>' % (samples, bits))
            for v in values:
                if v is None:
                    out.append('<td>-</td>')
                    continue
                out.append('<td>%.1f%%<svg width="80" height="6">'
                           '<rect width="80" height="6" fill="#eee"/>'
                           '<rect width="%.1f" height="6" fill="#36c"/></svg></td>' % (v, v * .8))
            out.append('<td>%s</td></tr>' % html.escape(name))
        return '\n'.join(out + ['</table></body></html>', ''])


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--type', choices=TYPES, default='f32', help='what lanes are')
    parser.add_argument('--user', action='store_true',
                        help='registers of --user-regs, not those of -I')
    parser.add_argument('--html', metavar='FILE', help='write the table as a page, too')
    parser.add_argument('--json', metavar='FILE', help='read what perf data convert wrote')
    return parser.parse_args()


args = parse_args()
analysis = Analysis(args.type)


def report():
    print(analysis.text())
    if args.html:
        with open(args.html, 'w', encoding='utf-8') as f:
            f.write(analysis.html())


# perf calls these two.
def process_event(event):
    regs = event.get('simd_uregs' if args.user else 'simd_iregs')
    if regs:
        analysis.add(event.get('symbol'), regs)


def trace_end():
    report()


def simd_regs_of_json(regs):
    """Numbers in hex to bytes. General purpose registers have other names."""
    return {name: bytes.fromhex(value[2:])[::-1] for name, value in regs.items()
            if name.rstrip('0123456789') in VECTORS + PREDICATES and len(value) % 16 == 2}


def read_json(path):
    with open(path, encoding='utf-8') as f:
        samples = json.load(f)['samples']
    for sample in samples:
        chain = sample.get('callchain') or [{}]
        analysis.add(chain[0].get('symbol'),
                     simd_regs_of_json(sample.get('uregs' if args.user else 'iregs', {})))
    report()


if args.json:
    read_json(args.json)
elif 'PERF_EXEC_PATH' not in os.environ:
    sys.exit(__doc__)
