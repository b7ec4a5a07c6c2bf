#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge the reports of check-machine.

usage: check.py DIR ARCH; DIR has reports/right, user, wrong and nothing, and
costs, which sample_cost printed where an instruction takes a nanosecond
"""
import json
import pathlib
import sys

MIN_SAMPLES = 1000
VECTORS = {'x86_64': 'YMM0-YMM15', 'arm64': 'Z0-Z31, P0-P15'}


def main():
    reports = pathlib.Path(sys.argv[1]) / 'reports'
    right, user, wrong, nothing = (json.loads((reports / name / 'report.json').read_text())
                                   for name in ('right', 'user', 'wrong', 'nothing'))
    problems = []

    def demand(what, is_so):
        if not is_so:
            problems.append(what)

    demand('the verdict is right', right['verdict'] == 'right')
    demand('no failures', right['failures'] == [])
    for side in ('user', 'intr'):
        demand('samples of the side ' + side, right['sides'][side]['exact'] >= MIN_SAMPLES)
    for name, program in right['programs'].items():
        demand(name + ' ran, or the time was over',
               program.get('not_run') == '1 minutes are over' or
               program['passed'] + program['skipped'] and program['other_values'] == 0)
    demand('the kernel has a name', right['machine']['kernel'].startswith('Linux'))
    costs = {c['registers']: c for c in right['costs'] if c['event'] == 'cpu-clock'}
    # On a busy host the guest can be too slow for a sample in a round of 10 ms, and has to
    # say so. Where an instruction takes a nanosecond, it is not: see below.
    too_slow = [line for line in (reports / 'right' / 'report.md').read_text().splitlines()
                if line.startswith('* not cpu-clock with ') and
                line.endswith(': no round had samples and lost none')]
    for registers in ('none', '3 general purpose', VECTORS[sys.argv[2]]):
        demand('a cost of samples with registers, or why there is none: ' + registers,
               registers in costs and costs[registers]['samples'] > 0 or
               any(registers in line for line in too_slow))
        demand('its quartiles are in order',
               registers not in costs or costs[registers]['ns'] == sorted(costs[registers]['ns']))
    demand('a picture with a bar for each cost',
           (reports / 'right' / 'report.svg').read_text().count('<path ') == len(right['costs']))
    medians = {}
    for line in (pathlib.Path(sys.argv[1]) / 'costs').read_text().splitlines():
        what, event, *fields = line.split('\t')
        if (what, event) == ('cost', 'cpu-clock'):
            medians[fields[0]] = int(fields[3])
    demand('a sample costs instructions, more of them with registers, most with vectors: %s' % medians,
           0 < medians['none'] < medians['3 general purpose'] < medians[VECTORS[sys.argv[2]]])
    demand('the vectors of an interrupt are those at its IP: %s' % right['facts'],
           right['facts']['adds from the IP to the vectors, cpu-clock'].startswith('0 to 0,'))
    demand('a verdict of wrong', wrong['verdict'] == 'wrong')
    demand('what is wrong', 'simd_regs_values: foreign 1' in wrong['failures'])
    demand('nothing checked', nothing['verdict'] == 'nothing checked')
    demand('why: %s' % list(nothing['not_tested']),
           [why.split(':')[0] for why in nothing['not_tested']] ==
           ['such is life', 'no more samples for a minute'])
    demand('a user has programs of its own checked, in user mode',
           user['verdict'] == 'right' and user['samples'] >= 1000 and
           user['machine']['user'] != '0' and
           {'needs root', 'needs root, or kernel/perf_event_paranoid of 2 or less'} & set(user['not_tested']))
    for problem in problems:
        print('error: not so: ' + problem)
    print('# summary: %d samples, user side %s, intr side %s; instructions of a sample: %s' % (
        right['samples'], right['sides']['user'], right['sides']['intr'], medians))
    return bool(problems)


if __name__ == '__main__':
    sys.exit(main())
