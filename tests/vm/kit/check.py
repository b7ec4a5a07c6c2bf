#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge the reports of check-machine.

usage: check.py DIR, which has reports/right, reports/wrong and reports/nothing
"""
import json
import pathlib
import sys

MIN_SAMPLES = 1000


def main():
    reports = pathlib.Path(sys.argv[1]) / 'reports'
    right, wrong, nothing = (json.loads((reports / name / 'report.json').read_text())
                             for name in ('right', 'wrong', 'nothing'))
    problems = []

    def demand(what, is_so):
        if not is_so:
            problems.append(what)

    demand('the verdict is right', right['verdict'] == 'right')
    demand('no failures', right['failures'] == [])
    for side in ('user', 'intr'):
        demand('samples of the side ' + side, right['sides'][side]['exact'] >= MIN_SAMPLES)
    demand('no other values', all(p['other_values'] == 0 for p in right['programs'].values()))
    for name, program in right['programs'].items():
        demand(name + ' ran, or the time was over',
               program['passed'] + program['skipped'] or
               name + ' was not run: 1 minutes are over' in right['not_tested'])
    demand('the kernel has a name', right['machine']['kernel'].startswith('Linux'))
    demand('a verdict of wrong', wrong['verdict'] == 'wrong')
    demand('what is wrong', 'simd_regs_values: foreign 1' in wrong['failures'])
    demand('nothing checked', nothing['verdict'] == 'nothing checked')
    demand('why', list(nothing['not_tested']) == ['such is life'])
    for problem in problems:
        print('error: not so: ' + problem)
    print('# summary: %d samples, user side %s, intr side %s' % (
        right['samples'], right['sides']['user'], right['sides']['intr']))
    return bool(problems)


if __name__ == '__main__':
    sys.exit(main())
