#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run the examples of the documents, and compare what they print with what is shown.

usage: examples.py run GUEST... -- DOCUMENT...   those for these guests
       examples.py output COMMAND FILE DOCUMENT   what COMMAND has printed to FILE

An example is a line that is indented and has a prompt; what follows it in its block
is what it prints. "# CMD" runs in a guest, as root, "$ CMD" on this machine, from the
repository's folder, with what the guest has written beside it. `make shell` and
`scripts/guest-shell OPTION...` begin another guest, with these options; other verbs of
make have cases of their own: that there is such a verb is checked. Three dots stand
for an event and a program.

A comment before a block says what it is:
    <!-- guest: nvl -->            the CPU of the guest, for what follows (else: max)
    <!-- output of: make demo -->  what the command prints, prompts and all

A document is a file, or `man`, for what the series adds to perf's pages.

What is shown has to be among the lines that are printed, in one piece. Numbers that a
run has by chance are not compared. Lines in brackets leave some out: "[12 lines of
YMM1-3]" as many, "[...]" any number. Blank lines don't count.
"""
import collections
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import os

ROOT = pathlib.Path(os.environ['ROOT'])
BUILD = pathlib.Path(os.environ['BUILD'])
MAN_GUEST = 'nvl'
STANDS_FOR_DOTS = '-e cpu-clock -c 1000000 -- simd_regs_load --class all --seconds 1'

# where: '#' or '$'; shown: the lines that follow it.
Example = collections.namedtuple('Example', 'place guest where command shown')

# ---- the documents ------------------------------------------------------------


def man_pages():
    """The lines that the series adds, with their place."""
    diff = subprocess.run(['git', '-C', BUILD / 'linux', 'diff', '-U0', 'base', 'HEAD', '--',
                           'tools/perf/Documentation'],
                          check=True, capture_output=True, text=True).stdout
    page = at = None
    for line in diff.split('\n'):
        if line.startswith('+++ '):
            page = pathlib.Path(line[4:]).name
        elif found := re.match(r'@@ -\S+ \+(\d+)', line):
            at = int(found[1])
            yield page, at, '.'
        elif line.startswith('+'):
            # An empty line is the end of an example.
            yield page, at, line[1:].expandtabs(8) or '.'
            at += 1


def lines_of(document):
    if document == 'man':
        yield from man_pages()
        return
    for at, line in enumerate((ROOT / document).read_text().split('\n'), 1):
        yield document, at, line


def blocks_of(document):
    """Each block's place, what the comments before it say, and its lines."""
    comments, block, place = {}, [], None
    for name, at, line in [*lines_of(document), ('', 0, '.')]:
        if re.match(r'\s+\S', line):
            if not block:
                place = '%s:%d' % (name, at)
            block.append(line.strip())
        elif line.strip():
            if block:
                yield place, comments, block
                comments = {k: v for k, v in comments.items() if k == 'guest'}
            block = []
            if found := re.match(r'<!-- ([a-z ]+): (.*) -->$', line):
                comments[found[1]] = found[2]
        elif block:
            block.append('')


def examples_of(document):
    for place, comments, block in blocks_of(document):
        if 'output of' in comments:
            continue
        guest = comments.get('guest', MAN_GUEST if document == 'man' else 'max')
        command = shown = None
        for line in block:
            # One prompt to a block: the other may be what is printed.
            prompt = re.escape(command[0]) if command else '[#$]'
            if found := re.match('(%s) (\\S.*)' % prompt, line):
                if command:
                    yield Example(place, guest, *command, shown)
                command, shown = (found[1], found[2]), []
            elif command and command[1].endswith('\\'):
                command = (command[0], command[1][:-1] + line)
            elif command:
                shown.append(line)
        if command:
            yield Example(place, guest, *command, shown)


# ---- comparing ----------------------------------------------------------------


def shape(line):
    """A line without what another run has otherwise."""
    # What a sample has is no chance: three dots; nor are numbers in names.
    if not re.match(r'\.\.\. ', line):
        line = re.sub(r'0x[0-9a-f]+', 'N', line)
        line = re.sub(r'(?<![\w\[.])-?\d+(\.\d+(e[+-]\d+)?|e[+-]\d+)', 'N', line)
        line = re.sub(r'\b(?=[a-f]*\d)[0-9a-f]{6,}\b', 'N', line)
        line = re.sub(r'-?\b(inf|nan)\b(?=[ ,}]|$)', 'N', line)
        line = re.sub(r'(?<![\w\[.])-?\d+\b', 'N', line)
    return ' '.join(line.split())


def matches(shown, printed):
    """Is what is shown at the beginning of what was printed?"""
    at = 0
    for n, line in enumerate(shown):
        if line == '[...]':
            return any(matches(shown[n + 1:], printed[i:]) for i in range(at, len(printed) + 1))
        if found := re.match(r'\[(\d+) lines of .*\]$', line):
            at += int(found[1])
            if at > len(printed):
                return False
        elif at < len(printed) and shape(line) == shape(printed[at]):
            at += 1
        else:
            return False
    return True


def compare(place, command, shown, printed):
    """True if what is shown is among the lines that are printed."""
    shown = [line for line in shown if line]
    printed = [line.strip() for line in printed if line.strip()]
    if not shown or any(matches(shown, printed[i:]) for i in range(len(printed))):
        print('ok %s: %s: %d lines' % (place, command, len(shown)))
        return True
    print('not ok %s: %s: what is shown is not what is printed' % (place, command))
    best = max(range(len(printed)), default=0,
               key=lambda i: max(n for n in range(len(shown) + 1)
                                 if matches(shown[:n], printed[i:])))
    for title, lines in (('shown', shown), ('printed', printed[best:])):
        print('    %s:' % title)
        for line in lines[:len(shown) + 5]:
            print('        ' + line[:150])
    return False


# ---- running ------------------------------------------------------------------

# Each command's output and status, as on a terminal.
GUEST_SCRIPT = '''
mkdir /tmp/out
touch /tmp/start
n=0
while IFS= read -r command; do
	bash -c "$command" > /tmp/out/$n 2>&1 < /dev/null
	echo $? > /tmp/out/$n.status
	n=$((n + 1))
done < commands
find . -type f -newer /tmp/start -size -8192 ! -path './.debug/*' -exec cp --parents {} /tmp/out/ \\;
tar cf /root/out.tar -C /tmp out
'''

A_OUT = '''#!/bin/sh
exec simd_regs_load --class all --seconds 1
'''


class Runner:
    def __init__(self, guests, work):
        self.guests, self.work = guests, work
        self.waiting, self.options = [], []
        self.good = self.bad = 0
        # What commands of this machine name.
        for name in ('Documentation', 'build', 'tools'):
            (work / name).symlink_to(ROOT / name)
        (work / 'a.out').write_text(A_OUT)
        (work / 'a.out').chmod(0o755)

    def judge(self, example, status, printed):
        if 'VERBOSE' in os.environ:
            print(example.command, printed, sep='\n')
        good = compare(example.place, example.command, example.shown, printed.split('\n'))
        # perf ends a list of registers with a status of its own.
        if status and not re.search(r'-I\\?\?', example.command):
            print('not ok %s: %s: status %d' % (example.place, example.command, status))
            print(''.join('    %.150s\n' % line for line in printed.split('\n')[-10:]), end='')
            good = False
        self.good += good
        self.bad += not good

    def flush(self):
        """Run what waits for a guest."""
        if not self.waiting:
            return
        (self.work / 'guest.sh').write_text(GUEST_SCRIPT)
        (self.work / 'commands').write_text(''.join(e.command + '\n' for e in self.waiting))
        program = BUILD / ('out/selftests-x86_64/perf_events/simd_regs_load')
        subprocess.run(['vm-run', '--cpu', self.waiting[0].guest,
                        '--add', 'guest.sh', '--add', 'commands', '--add', 'a.out',
                        '--add', program, *self.options,
                        '--get', '/root/out.tar:out.tar', '--', 'bash', 'guest.sh'],
                       check=True, cwd=self.work)
        subprocess.run(['tar', '-xf', 'out.tar'], check=True, cwd=self.work)
        out = self.work / 'out'
        for n, example in enumerate(self.waiting):
            self.judge(example, int((out / ('%d.status' % n)).read_text()),
                       (out / str(n)).read_text(errors='replace'))
        for path in out.iterdir():
            if not path.name.split('.')[0].isdigit() and path.is_file():
                path.replace(self.work / path.name)
        self.waiting = []

    def run_here(self, example):
        command = re.sub(r'(^|\s)scripts/', r'\1%s/scripts/' % shlex.quote(str(ROOT)),
                         example.command)
        done = subprocess.run(['bash', '-c', command], cwd=self.work, text=True, errors='replace',
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        self.judge(example, done.returncode, done.stdout)

    def run(self, example):
        if example.guest not in self.guests:
            return
        command = example.command.replace(' ...', ' ' + STANDS_FOR_DOTS)
        words = shlex.split(command, comments=True)
        if words[0] == 'perf' or example.where == '#':
            if self.waiting and self.waiting[0].guest != example.guest:
                self.flush()
            self.waiting.append(example._replace(command=command))
        elif words[:2] == ['make', 'shell'] or words[0] == 'scripts/guest-shell':
            self.flush()
            self.options = words[1:] if words[0] != 'make' else []
        elif words[0] == 'make':
            known = subprocess.run(['make', '-s', '-C', ROOT, 'help'], check=True,
                                   capture_output=True, text=True).stdout
            good = re.search(r'^  %s ' % re.escape(words[1]), known, re.M) is not None
            print('%s %s: %s: a verb' % ('ok' if good else 'not ok', example.place, command))
            self.good += good
            self.bad += not good
        else:
            self.flush()
            self.run_here(example)


def run(guests, documents):
    bad = good = 0
    for document in documents:
        with tempfile.TemporaryDirectory() as work:
            runner = Runner(guests, pathlib.Path(work))
            for example in examples_of(document):
                runner.run(example)
            runner.flush()
            good += runner.good
            bad += runner.bad
    print('# summary: %d examples are as shown, %d are not' % (good, bad))
    return bad != 0 or good == 0


def output(command, path, document):
    printed = pathlib.Path(path).read_text(errors='replace').split('\n')
    found = [(place, block) for place, comments, block in blocks_of(document)
             if comments.get('output of') == command]
    if not found:
        print('not ok %s does not show what %s prints' % (document, command))
    return not found or not all(compare(place, command, block, printed) for place, block in found)


def main():
    args = sys.argv[1:]
    if len(args) > 3 and args[0] == 'run' and '--' in args:
        at = args.index('--')
        return run(args[1:at], args[at + 1:])
    if len(args) == 4 and args[0] == 'output':
        return output(*args[1:])
    sys.exit(__doc__)


if __name__ == '__main__':
    sys.exit(main())
