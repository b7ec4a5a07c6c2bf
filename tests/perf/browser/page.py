#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a browser makes of the page of simd-regs.py.

usage: page.py samples JSON          write samples of which all is known
       page.py measuring PAGE OUT    the page with a script that measures it
       page.py check DOM TABLE PNG   what was measured, the table, a picture of the page
"""
import html
import json
import re
import struct
import sys
import zlib

ONE, NAN, INF, DENORM, TWO = 0x3f800000, 0x7fc00000, 0x7f800000, 1, 0x40000000
# The symbol, how many samples, and their registers as lanes, the lowest first.
SAMPLES = (
    ('mul<float>', 4, {'ZMM0': [ONE] * 16, 'ZMM1': [0] * 16, 'OPMASK1': 0x00ff}),
    ('div', 2, {'YMM0': [NAN, INF, DENORM, TWO, 0, 0, 0, 0]}),
)
# What follows from that: samples, bits, active, zero, same, upper, nan, inf, denorm.
EXPECTED = (
    (['4', '512', 50, 50, 50, 50, 0, 0, 0], 'mul<float>',
     [[50] * 16, [100] * 8 + [0] * 8]),
    (['2', '256', None, 0, 0, 0, 100, 100, 100], 'div', [[100] * 4 + [0] * 4]),
)
BAR_WIDTH, LANES_HEIGHT = 60, 16
COLOURS = {'blue': (0x33, 0x66, 0xcc), 'orange': (0xcc, 0x66, 0x33), 'grey': (0x88, 0x88, 0x88)}

MEASURE = '''<script>
const size = r => { const b = r.getBoundingClientRect(); return [b.width, b.height]; };
const rows = [...document.querySelectorAll('tbody tr')].map(tr => [...tr.cells].map(td => ({
	text: td.innerText.trim(),
	svgs: [...td.querySelectorAll('svg')].map(s => [...s.querySelectorAll('rect')].map(size)),
})));
const pre = document.createElement('pre');
pre.id = 'measured';
pre.textContent = JSON.stringify({
	rows: rows,
	titles: [...document.querySelectorAll('th')].map(th => th.innerText.trim()),
	width: [document.documentElement.scrollWidth, window.innerWidth],
});
document.body.append(pre);
</script>
'''


def hex_of(value):
    if isinstance(value, int):
        return '0x%016x' % value
    return '0x' + ''.join('%08x' % lane for lane in reversed(value))


def samples(path):
    out = [{'callchain': [{'ip': '0x401136', 'symbol': symbol}],
            'iregs': {'IP': '0x401136', **{n: hex_of(v) for n, v in regs.items()}}}
           for symbol, count, regs in SAMPLES for _ in range(count)]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'samples': out}, f)


def measuring(page, out):
    with open(page, encoding='utf-8') as f:
        text = f.read()
    assert text.count('</body>') == 1
    with open(out, 'w', encoding='utf-8') as f:
        f.write(text.replace('</body>', MEASURE + '</body>'))


def pixels(path):
    """The colours of a PNG of 8 bits for each of red, green, blue and perhaps alpha."""
    with open(path, 'rb') as f:
        data = f.read()
    width, height, depth, kind = struct.unpack('>IIBB', data[16:26])
    assert depth == 8 and kind in (2, 6)
    step = 3 if kind == 2 else 4
    at, packed = 8, b''
    while at < len(data):
        size, name = struct.unpack('>I4s', data[at:at + 8])
        if name == b'IDAT':
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    raw = zlib.decompress(packed)
    found, above = set(), bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        how, line = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            up = above[i]
            if how == 4:
                guess = left + up - corner
                line[i] = line[i] + min((left, up, corner),
                                        key=lambda x: abs(guess - x)) & 255
            else:
                line[i] = line[i] + (0, left, up, (left + up) // 2)[how] & 255
        found.update(tuple(line[i:i + 3]) for i in range(0, len(line), step))
        above = line
    return found


class Checks:
    def __init__(self):
        self.good = self.bad = 0

    def same(self, what, have, want):
        self.good += have == want
        if have != want:
            self.bad += 1
            print('not ok %s: %s, expected %s' % (what, have, want))


def check_row(checks, cells, expected, where):
    columns, name, pictures = expected
    for cell, want in zip(cells, columns):
        if isinstance(want, str):
            checks.same(where + ' text', cell['text'], want)
            continue
        checks.same(where + ' percent', cell['text'], '-' if want is None else '%.1f%%' % want)
        widths = [rects[1][0] for rects in cell['svgs']]
        checks.same(where + ' bar', widths, [] if want is None else [BAR_WIDTH * want / 100])
    heights = [[round(rect[1] * 100 / LANES_HEIGHT) for rect in svg[1::2]]
               for svg in cells[-2]['svgs']]
    checks.same(where + ' lanes', heights, pictures)
    checks.same(where + ' name', cells[-1]['text'], name)


def check(dom, table, png):
    with open(dom, encoding='utf-8') as f:
        measured = json.loads(html.unescape(
            re.search(r'<pre id="measured">(.*?)</pre>', f.read(), re.S)[1]))
    with open(table, encoding='utf-8') as f:
        head = f.read().split('\n')[1].split()
    checks = Checks()
    checks.same('titles', measured['titles'], head[:-1] + ['lanes', head[-1]])
    checks.same('rows', len(measured['rows']), len(EXPECTED))
    for n, (cells, expected) in enumerate(zip(measured['rows'], EXPECTED)):
        check_row(checks, cells, expected, 'row %d' % n)
    width, window = measured['width']
    checks.same('wider than the window', width > window, False)
    found = pixels(png)
    for name, colour in COLOURS.items():
        checks.same('%s in the picture' % name, colour in found, True)
    print('# summary: %d checks, %d failed' % (checks.good + checks.bad, checks.bad))
    return checks.bad != 0


if __name__ == '__main__':
    COMMANDS = {'samples': (samples, 1), 'measuring': (measuring, 2), 'check': (check, 3)}
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS or \
       len(sys.argv) - 2 != COMMANDS[sys.argv[1]][1]:
        sys.exit(__doc__)
    sys.exit(COMMANDS[sys.argv[1]][0](*sys.argv[2:]))
