#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Show what programs have in their vector registers, by symbol or by source line.

    perf record -e cpu-clock -Izmm,opmask -- ./program
    simd-regs.py --type f64 --html report.html

reads perf.data with perf's Python module ("make -C tools/perf python", then PYTHONPATH).
Without the module, or on another machine, convert the file first:

    perf data convert --to-json samples.json --srcline
    simd-regs.py --json samples.json --by line

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
The last three are '-' for lanes that are integers.

The page of --html shows each lane, too: how often there is something in it, and
how often a predicate leaves it on.
"""
import argparse
import collections
import html
import json
import os
import struct
import sys

# By the names of perf script --simd-type: letters of struct, bits of fraction (of
# floats) and of the whole lane. How an integer is written makes no difference here.
TYPES = {kind + str(bits): (letter, None, bits) for kind in 'iux'
         for bits, letter in ((8, 'B'), (16, 'H'), (32, 'I'), (64, 'Q'))}
TYPES.update({'f16': ('H', 10, 16), 'bf16': ('H', 7, 16), 'f32': ('I', 23, 32),
              'f64': ('Q', 52, 64)})
# A predicate of arm64 has a bit for each byte of a vector.
PER_BYTE = ('P', 'FFR')
PREDICATES = PER_BYTE + ('OPMASK', 'PRED')
VECTORS = ('XMM', 'YMM', 'ZMM', 'V', 'Z', 'VEC')
COLUMNS = {
    'active': 'lanes that the predicates leave on',
    'zero': 'vectors that are zero as a whole',
    'same': 'vectors of which all lanes have the same value',
    'upper': 'vectors with something above the low 128 bits',
    'nan': 'vectors with a lane that is no number',
    'inf': 'vectors with a lane that is infinite',
    'denorm': 'vectors with a lane that is denormal',
}
# What is wrong or slow more often than not, and only floats have.
TROUBLE = ('nan', 'inf', 'denorm')


def lanes_of(data, lane_type):
    letter, _, bits = TYPES[lane_type]
    return struct.unpack('<%d%s' % (len(data) * 8 // bits, letter), data)


def lane_kinds(lanes, lane_type):
    """Which of nan, inf and denorm there is among the lanes."""
    _, fraction_bits, bits = TYPES[lane_type]
    if not fraction_bits:
        return set()
    exponent_max = (1 << bits - 1 - fraction_bits) - 1
    kinds = set()
    for lane in lanes:
        fraction = lane & (1 << fraction_bits) - 1
        exponent = lane >> fraction_bits & exponent_max
        if exponent == exponent_max:
            kinds.add('nan' if fraction else 'inf')
        elif exponent == 0 and fraction:
            kinds.add('denorm')
    return kinds


class Row:
    """The samples of a symbol or of a line."""

    def __init__(self, lane_type):
        self.lane_type = lane_type
        self.samples = 0
        self.widths = set()
        self.vectors = 0
        self.lanes = 0                  # of predicates that are not all off
        self.count = collections.Counter()
        # By the number of the lane: how many there are, and how many of these are
        # not zero or are left on.
        self.vector_lanes = collections.Counter()
        self.used_lanes = collections.Counter()
        self.pred_lanes = collections.Counter()
        self.active_lanes = collections.Counter()

    def add_vector(self, data):
        lanes = lanes_of(data, self.lane_type)
        self.vectors += 1
        self.widths.add(len(data) * 8)
        self.vector_lanes.update(range(len(lanes)))
        self.used_lanes.update(i for i, lane in enumerate(lanes) if lane)
        if not any(lanes):
            self.count['zero'] += 1
            return
        if len(set(lanes)) == 1:
            self.count['same'] += 1
        if any(data[16:]):
            self.count['upper'] += 1
        self.count.update(lane_kinds(lanes, self.lane_type))

    def add_predicate(self, name, data, vector_bytes):
        lane = TYPES[self.lane_type][2] // 8
        value = int.from_bytes(data, 'little')
        step = lane if name.rstrip('0123456789') in PER_BYTE else 1
        lanes = len(data) * 8 // step
        if vector_bytes:
            lanes = min(lanes, vector_bytes // lane)
        on = [i for i in range(lanes) if value >> i * step & 1]
        if on:
            self.lanes += lanes
            self.count['active'] += len(on)
            self.pred_lanes.update(range(lanes))
            self.active_lanes.update(on)

    def add(self, regs):
        vectors = {n: d for n, d in regs.items() if n.rstrip('0123456789') in VECTORS}
        preds = {n: d for n, d in regs.items() if n.rstrip('0123456789') in PREDICATES}
        if not vectors and not preds:
            return
        self.samples += 1
        for data in vectors.values():
            self.add_vector(data)
        width = max(map(len, vectors.values()), default=0)
        for name, data in preds.items():
            self.add_predicate(name, data, width)

    def percent(self, column):
        if column in TROUBLE and not TYPES[self.lane_type][1]:
            return None
        total = self.lanes if column == 'active' else self.vectors
        return 100 * self.count[column] / total if total else None

    def bits(self):
        return ','.join(map(str, sorted(self.widths))) or '-'


class Analysis:
    def __init__(self, lane_type, by):
        self.lane_type = lane_type
        self.by = by
        self.found = collections.defaultdict(lambda: Row(lane_type))

    def add(self, name, regs):
        self.found[str(name or '[unknown]')].add(regs)

    def rows(self):
        """Names and rows, most samples first."""
        return sorted(((name, row) for name, row in self.found.items() if row.samples),
                      key=lambda x: (-x[1].samples, x[0]))

    def text(self):
        lines = ['# lanes are %s' % self.lane_type,
                 '%8s %9s' % ('samples', 'bits') + ''.join('%8s' % c for c in COLUMNS) +
                 '  ' + self.by]
        for name, row in self.rows():
            values = [row.percent(c) for c in COLUMNS]
            lines.append('%8d %9s' % (row.samples, row.bits()) +
                         ''.join('%8s' % ('-' if v is None else '%.1f%%' % v) for v in values) +
                         '  ' + name)
        return '\n'.join(lines)

    def html(self):
        """One file without anything from elsewhere."""
        return PAGE % {
            'title': 'Vector registers by %s' % self.by,
            'type': self.lane_type,
            'by': self.by,
            'columns': ''.join('<th title="%s">%s</th>' % (COLUMNS[c], c) for c in COLUMNS),
            'rows': '\n'.join(html_row(name, row) for name, row in self.rows()),
        }


PAGE = '''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<title>%(title)s</title>
<style>
body { font: 14px sans-serif; margin: 2em; color: #222 }
p { max-width: 60em }
table { border-collapse: collapse }
th, td { padding: 4px 10px; text-align: right; border-bottom: 1px solid #ddd }
th { border-bottom: 2px solid #888 }
.lanes, .name { text-align: left }
.name { font-family: monospace }
td small { color: #666 }
svg { display: block; margin-top: 2px }
</style></head><body>
<h1>%(title)s</h1>
<p>Lanes are %(type)s. Percent of vectors; <i>active</i>: of lanes. A column of the
picture is a lane, the lowest one is on the left: how often it is not zero, in grey,
and how often a predicate leaves it on, in blue.</p>
<table><thead><tr><th>samples</th><th>bits</th>%(columns)s
<th class="lanes">lanes</th><th class="name">%(by)s</th></tr></thead><tbody>
%(rows)s
</tbody></table></body></html>
'''

BAR_WIDTH, BAR_HEIGHT = 60, 6
# Room for 16 lanes side by side, or for more of them that are narrower.
LANES_WIDTH, LANES_HEIGHT = 160, 16


def html_bar(percent, colour):
    return ('<svg width="%d" height="%d"><rect width="%d" height="%d" fill="#eee"/>'
            '<rect width="%.1f" height="%d" fill="%s"/></svg>' %
            (BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH, BAR_HEIGHT, percent * BAR_WIDTH / 100,
             BAR_HEIGHT, colour))


def html_lanes(all_lanes, some_lanes, colour, what):
    """A column for each lane, as high as its share."""
    if not all_lanes:
        return ''
    width = LANES_WIDTH / max(16, len(all_lanes))
    out = ['<svg width="%d" height="%d"><title>%s</title>' % (LANES_WIDTH, LANES_HEIGHT, what)]
    for lane, total in sorted(all_lanes.items()):
        height = LANES_HEIGHT * some_lanes[lane] / total
        at = 'x="%.2f" width="%.2f"' % (lane * width, width * .85)
        out.append('<rect %s height="%d" fill="#eee"/><rect %s y="%.1f" height="%.1f" fill="%s"/>' %
                   (at, LANES_HEIGHT, at, LANES_HEIGHT - height, height, colour))
    return ''.join(out) + '</svg>'


def html_row(name, row):
    out = ['<tr><td>%d</td><td>%s</td>' % (row.samples, row.bits())]
    for column in COLUMNS:
        value = row.percent(column)
        if value is None:
            out.append('<td>-</td>')
            continue
        out.append('<td>%.1f%%%s</td>' %
                   (value, html_bar(value, '#c63' if column in TROUBLE else '#36c')))
    out.append('<td class="lanes">%s%s</td>' % (
        html_lanes(row.vector_lanes, row.used_lanes, '#888', 'lanes that are not zero'),
        html_lanes(row.pred_lanes, row.active_lanes, '#36c', 'lanes that are left on')))
    out.append('<td class="name">%s</td></tr>' % html.escape(name))
    return ''.join(out)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file', nargs='?', help='perf.data file (default: perf.data)')
    parser.add_argument('--type', choices=TYPES, default='f32', help='type of the lanes')
    parser.add_argument('--by', choices=('symbol', 'line'), default='symbol',
                        help='what a row of the table is for')
    parser.add_argument('--user', action='store_true',
                        help='registers of --user-regs instead of those of -I')
    parser.add_argument('--html', metavar='FILE', help='write the table as a page, too')
    parser.add_argument('--json', metavar='FILE', help='read the output of perf data convert')
    options = parser.parse_args()
    if options.json and options.file:
        parser.error('--json replaces the perf.data file')
    return options


def read_json(path, analysis, side, by):
    """Add the samples of a JSON file."""
    try:
        with open(path, encoding='utf-8') as f:
            add_json(json.load(f), path, analysis, side, by)
    except (AttributeError, LookupError, TypeError, ValueError, struct.error) as err:
        sys.exit('%s is not an output of perf data convert --to-json: %r' % (path, err))


def add_json(document, path, analysis, side, by):
    samples = document['samples']
    chains = [sample.get('callchain') or [{}] for sample in samples]
    if by == 'line' and samples and not any('srcline' in chain[0] for chain in chains):
        sys.exit('%s has no source lines: perf data convert --srcline adds them' % path)
    for sample, chain in zip(samples, chains):
        # General purpose registers have other names.
        regs = {name: bytes.fromhex(value[2:])[::-1] for name, value in sample.get(side, {}).items()
                if name.rstrip('0123456789') in VECTORS + PREDICATES}
        analysis.add(chain[0].get('symbol' if by == 'symbol' else 'srcline'), regs)


def read_data(path, analysis, side, by):
    """Add the samples of a perf.data file."""
    try:
        import perf
    except ImportError as err:
        sys.exit('%s\nBuild the module with "make -C tools/perf python", or see --json.' % err)

    def add_sample(event):
        regs = getattr(event, 'simd_' + side)
        if not regs:
            return
        if by == 'symbol':
            analysis.add(event.symbol, regs)
            return
        file, line = event.srccode()[:2]
        analysis.add('%s:%d' % (os.path.basename(file), line) if file else None, regs)

    perf.session(perf.data(path), sample=add_sample).process_events()


def main():
    args = parse_args()
    analysis = Analysis(args.type, args.by)
    side = 'uregs' if args.user else 'iregs'
    try:
        if args.json:
            read_json(args.json, analysis, side, args.by)
        else:
            read_data(args.file or 'perf.data', analysis, side, args.by)
    except OSError as err:
        sys.exit('Cannot read %s: %s' % (args.json or args.file or 'perf.data', err))
    print(analysis.text())
    if args.html:
        with open(args.html, 'w', encoding='utf-8') as f:
            f.write(analysis.html())


if __name__ == '__main__':
    main()
