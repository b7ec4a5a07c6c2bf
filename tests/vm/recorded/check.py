#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge what perf printed of recordings of a program with known registers.

usage: check.py DIR

DIR has `printed`, the program's own list of values, and files NAME.script,
NAME.dump and NAME.json. Between the first and the last sample that has all values,
a sample has all of them, or (on arm64) the low 128 bits of them, or none. A file
OTHER=NAME and the forms of one file have the same samples.
"""
import collections
import json
import pathlib
import re
import sys

MIN_SAMPLES = 20
USER_REGS = 4
NARROW = {'Z': 'V'}
SIDES = ('intr', 'user')


def known_values(path):
    """What a side has, and what it has if only 128 bits are kept, by name."""
    words = collections.defaultdict(list)
    for line in path.read_text().split('\n')[:-1]:
        name, value = line.split()
        parts = name.replace(']', '').split('[')
        # The number of the only FFR is left out; only a word can follow.
        reg = parts[0] if parts[0] == 'FFR' else parts[0] + parts[1]
        words[reg].append(value[2:])
    vectors = next(iter(words)).rstrip('0123456789')
    whole = {reg: ''.join(reversed(value)) for reg, value in words.items()}
    narrow = {reg.replace(vectors, NARROW[vectors]): value[-32:]
              for reg, value in whole.items()
              if reg.startswith(vectors)} if vectors in NARROW else {}
    user = [vectors + str(i) for i in range(USER_REGS)]
    user += [NARROW.get(vectors, vectors) + str(i) for i in range(USER_REGS)]
    return {'intr': (whole, narrow),
            'user': tuple({r: v for r, v in values.items() if r in user}
                          for values in (whole, narrow))}


def of_script(path):
    """Each sample as a pair of dictionaries."""
    for line in path.read_text().split('\n')[:-1]:
        sides = line.split('ABI:')[1:]
        assert len(sides) == 2, line
        yield tuple(dict(re.findall(r'([A-Z]+[0-9]*):0x([0-9a-f]{16,})', s)) for s in sides)


def of_dump(path):
    samples = []
    for line in path.read_text(errors='replace').split('\n'):
        if 'PERF_RECORD_SAMPLE' in line:
            samples.append(({}, {}))
        elif found := re.match(r'\.\.\. (user|intr) regs', line):
            side = samples[-1][SIDES.index(found[1])]
        elif found := re.match(r'\.\.\.\. ([A-Z]+)((?:\[\d+\])+) +0x([0-9a-f]{16})$', line):
            numbers = found[2][1:-1].split('][')
            reg = found[1] + ('' if found[1] == 'FFR' else numbers[0])
            side[reg] = found[3] + side.get(reg, '')
        elif found := re.match(r'\.\.\.\. (FFR) +0x([0-9a-f]{16})$', line):
            side[found[1]] = found[2]
    return samples


def of_json(path):
    for sample in json.loads(path.read_text())['samples']:
        yield tuple({name: value[2:] for name, value in sample[side].items()}
                    for side in ('iregs', 'uregs'))


READ = {'.script': of_script, '.dump': of_dump, '.json': of_json}


def vectors_only(sample, known):
    """General purpose registers have names of their own."""
    return tuple({name: value for name, value in regs.items()
                  if name in known['intr'][0] or name in known['intr'][1]}
                 for regs in sample)


def judge(regs, whole, narrow):
    if not regs:
        return 'absent'
    if regs == whole:
        return 'whole'
    return 'narrow' if regs == narrow else 'other'


def count(samples, known):
    """For each side how many there are of each kind, from its first to its last whole one."""
    counts = []
    for i, side in enumerate(SIDES):
        kinds = [judge(s[i], *known[side]) for s in samples]
        at = [n for n, kind in enumerate(kinds) if kind == 'whole'] or [0]
        counts.append(collections.Counter(kinds[at[0]:at[-1] + 1]))
    return counts


def main():
    folder = pathlib.Path(sys.argv[1])
    known = known_values(folder / 'printed')
    files = {path.name: [vectors_only(s, known) for s in READ[path.suffix](path)]
             for path in sorted(folder.iterdir()) if path.suffix in READ}
    bad = total = 0
    parts = collections.Counter()
    for name, samples in files.items():
        stem, suffix = name.rsplit('.', 1)
        same_as = stem.split('=')[0] + '.script'
        counts = count(samples, known)
        notes = []
        if samples != files[same_as]:
            notes.append('not the samples of %s' % same_as)
        if any(c['other'] for c in counts):
            notes.append('wrong values')
        if stem.startswith('switch-'):
            # Where one file ends depends on the kernel; together they have enough.
            for side, c in zip(SIDES, counts):
                parts[side] += c['whole'] if suffix == 'script' else 0
        elif min(c['whole'] for c in counts) < MIN_SAMPLES:
            notes.append('too few samples')
        total += sum(c['whole'] for c in counts)
        bad += bool(notes)
        print('%s %s: %d samples; %s%s' % (
            'not ok' if notes else 'ok', name, len(samples),
            ', '.join('%s %s' % (side, dict(sorted(c.items())))
                      for side, c in zip(SIDES, counts)),
            ''.join(': ' + n for n in notes)))
    if min(parts[side] for side in SIDES) < MIN_SAMPLES:
        print('not ok: too few samples in the files of --switch-output')
        bad += 1
    print('# summary: %d files, %d sides of samples with all values' % (len(files), total))
    return bad != 0


if __name__ == '__main__':
    sys.exit(main())
