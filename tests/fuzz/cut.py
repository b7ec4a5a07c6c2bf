#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cut a recording down to what a fuzzer starts from, as text.

usage: cut.py NR < perf.data > recorded/NAME

There are left, of a file or a pipe in this machine's byte order, the attr of the event
and NR samples: those of different sizes first. Nothing else is, no names of files or
of the machine. corpus.py makes files of the text.
"""
import struct
import sys

MAGIC = b'PERFILE2'
FILE_HEADER_SIZE, PIPE_HEADER_SIZE = 104, 16
SECTION_SIZE = 16
SAMPLE, ATTR = 9, 64
WORDS_A_LINE = 4


def records(data):
    at = 0
    while at + 8 <= len(data):
        kind, misc, size = struct.unpack_from('=IHH', data, at)
        if size < 8:
            break
        yield kind, misc, data[at + 8:at + size]
        at += size


def parts(data):
    """The attr, and all records."""
    if data[:8] != MAGIC:
        sys.exit('cut.py: this is no perf.data file of this byte order')
    (size,) = struct.unpack_from('=Q', data, 8)
    if size == PIPE_HEADER_SIZE:
        every = list(records(data[size:]))
        attrs = [payload for kind, _, payload in every if kind == ATTR]
        (attr_size,) = struct.unpack_from('=I', attrs[0], 4)
        attrs = [attr[:attr_size] for attr in attrs]
    else:
        attr_size, attrs_at, attrs_size, data_at, data_size = \
            struct.unpack_from('=5Q', data, 16)
        attrs = [data[at:at + attr_size - SECTION_SIZE]
                 for at in range(attrs_at, attrs_at + attrs_size, attr_size)]
        every = list(records(data[data_at:data_at + data_size]))
    # The other is perf's dummy event, for what is no sample.
    attrs = [attr for attr in attrs if any(attr[80:88])] or attrs
    return attrs[0], every


def words(payload):
    text = ['%016x' % word for word in struct.unpack('=%dQ' % (len(payload) // 8), payload)]
    return ''.join('    %s\n' % ' '.join(text[i:i + WORDS_A_LINE])
                   for i in range(0, len(text), WORDS_A_LINE))


def main():
    attr, every = parts(sys.stdin.buffer.read())
    samples, sizes = [], set()
    for first in (True, False):
        for kind, misc, payload in every:
            if kind == SAMPLE and (len(payload) not in sizes) == first:
                sizes.add(len(payload))
                samples.append((misc, payload))
    sys.stdout.write('attr\n' + words(attr))
    for misc, payload in samples[:int(sys.argv[1])]:
        sys.stdout.write('sample %d\n%s' % (misc, words(payload)))


if len(sys.argv) != 2:
    sys.exit(__doc__)
main()
