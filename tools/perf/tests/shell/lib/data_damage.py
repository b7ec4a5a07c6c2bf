#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write a perf.data file that is damaged outside of its samples.

usage: data_damage.py list
       data_damage.py CASE little|big FILE

What perf has to say of it, if anything, is printed: what is wrong, and where in the file.
"""
import struct
import sys

from simd_regs_data import (ABI_64, IP, MAGIC, PHYS_ADDR, PID, SAMPLE_CALLCHAIN, SAMPLE_IP,
                            SAMPLE_TID, SAMPLE_TYPE, VER9, Case, Writer)

# Where the words of the header are.
SIZE, ATTRS, DATA = 8, 24, 40
HEADER = 104
ATTR_AND_IDS = VER9 + 16
DATA_AT = HEADER + ATTR_AND_IDS
MMAP, SAMPLE = 56, 64


class File:
    """A good file of two samples, and ways to damage it."""

    def __init__(self, order):
        self.w = Writer(order, '/nowhere')
        sample = [ABI_64, 0x5000, ABI_64, IP, PHYS_ADDR]
        self.case = Case('x86_64', user=1 << 7, intr=1 << 8, enabled=0, samples=[sample, sample])
        self.bytes = bytearray(self.w.file(self.case))
        self.data_end = DATA_AT + len(self.w.data(self.case))
        self.last = self.data_end - SAMPLE
        assert self.data_end == DATA_AT + MMAP + 2 * SAMPLE

    def put(self, at, fmt, *values):
        struct.pack_into(self.w.o + fmt, self.bytes, at, *values)
        return self

    def cut(self, size):
        del self.bytes[size:]
        return self

    def cut_data(self, size):
        """The features' table follows the data, so it moves."""
        del self.bytes[self.data_end - size:self.data_end]
        self.data_end -= size
        self.put(DATA + 8, 'Q', self.data_end - DATA_AT)
        for at in (self.data_end, self.data_end + 16):
            self.put(at, 'Q', struct.unpack_from(self.w.o + 'Q', self.bytes, at)[0] - size)
        return self

    def pipe(self, *records):
        self.bytes = self.w.pack('QQ', MAGIC, 16) + b''.join(records)
        return self

    def aux(self, kind, words, *buffers):
        """AUX data of an event with a name, with its index, and two samples with times."""
        case = Case('x86_64', user=1 << 7, intr=1 << 8, enabled=0, flags=[SAMPLE_ID_ALL],
                    sample_type=SAMPLE_TYPE | SAMPLE_TIME | SAMPLE_IDENTIFIER)
        data = self.w.event(78, 0, self.w.pack('QQ', 2, 0) + b'vpa_dtl//'.ljust(16, b'\0'))
        data += auxtrace_info(self, kind, *words)
        index = []
        for text in buffers:
            self.last_aux = DATA_AT + 8 + len(data)
            index += [self.last_aux, AUXTRACE_SIZE]
            data += auxtrace(self, text)
        for time in 10 ** 9, 2 * 10 ** 9:
            data += self.w.event(9, USER, self.w.pack('QQIIQ', EVENT_ID, IP, PID, PID, time) +
                                 self.w.pack('5Q', ABI_64, 0x5000, ABI_64, IP, PHYS_ADDR))
        index = self.w.pack('%dQ' % (1 + len(index)), len(buffers), *index)
        self.bytes = bytearray(self.w.file(case, data, [EVENT_ID], {AUXTRACE: index}))
        return self


KERNEL, USER, GUEST_USER, NO_MAPS = 1, 2, 5, 1 << 13
KERNEL_TEXT = b'[kernel.kallsyms]_text\0\0'
SAMPLE_ID_ALL = 18                                 # a flag of the attr
AGGR_GLOBAL, AGGR_THREAD, AGGR_UNSET = 1, 7, 8
AUXTRACE, CPU_PMU_CAPS = 18, 28                    # features of the header
AUXTRACE_SIZE = 48
EVENT_ID = 7
INTEL_PT, INTEL_BTS, ARM_SPE, S390_CPUMSF, HISI_PTT, VPA_DTL = 1, 2, 4, 5, 6, 7
CPU_CLOCK = 1                                      # its attr.type
IP_AND_ID = SAMPLE_IP | 1 << 6
SAMPLE_TIME, SAMPLE_IDENTIFIER = 1 << 2, 1 << 16
SAMPLE_READ, SAMPLE_BRANCH_STACK = 1 << 4, 1 << 11
FORMAT_GROUP = 1 << 3
BRANCH_USER, BRANCH_CALL_STACK = 1, 1 << 11
CONTEXT_USER = (1 << 64) - 512
HOSTNAME = 3                                       # a feature of the header


def attr(f, size=VER9):
    """What says in a pipe what the events are, with this as the size of the attr."""
    return attr_with(f, f.case, 4, 'I', size)


def attr_with(f, case, at, fmt, value):
    """As the event of a case, but for the value there."""
    text = bytearray(f.w.attr(case))
    struct.pack_into(f.w.o + fmt, text, at, value)
    return f.w.event(64, 0, bytes(text))


def sample_of_values(f, *values):
    """What reads a group, and what it has read."""
    case = Case('x86_64', enabled=0, sample_type=SAMPLE_IP | SAMPLE_TID | SAMPLE_READ)
    return (attr_with(f, case, 32, 'Q', FORMAT_GROUP) +
            f.w.event(9, USER, f.w.pack('QIIQ', IP, PID, PID, len(values)) +
                      f.w.pack('%dQ' % len(values), *values)))


def call_stack(f, kind, new_kind):
    """Calls from branches of these types, fields of a word's bits 20 to 23 and 26 to 29."""
    case = Case('x86_64', enabled=0,
                sample_type=SAMPLE_IP | SAMPLE_TID | SAMPLE_CALLCHAIN | SAMPLE_BRANCH_STACK)
    shifts = (20, 26) if f.w.o == '<' else (40, 34)
    flags = kind << shifts[0] | new_kind << shifts[1]
    return (attr_with(f, case, 72, 'Q', BRANCH_USER | BRANCH_CALL_STACK) +
            f.w.event(9, USER, f.w.pack('QII', IP, PID, PID) +
                      f.w.pack('4Q', 3, CONTEXT_USER, IP, IP + 8) +
                      f.w.pack('7Q', 2, IP + 16, IP, flags, IP + 32, IP + 24, flags)))


def namespaces(f, nr):
    return f.w.event(16, 0, f.w.pack('IIQ', PID, PID, nr) + f.w.pack('QQ', 3, 4) * nr)


def id_index(f, *ids):
    return f.w.event(69, 0, f.w.pack('Q', len(ids)) +
                     b''.join(f.w.pack('4Q', nr, 0, 0, PID) for nr in ids))


def name_of(f, event_id):
    return f.w.event(78, 0, f.w.pack('QQ', 2, event_id) + b'event\0\0\0')


def feature(f, nr, text):
    return f.w.event(80, 0, f.w.pack('Q', nr) + text)


def attr_with_id(f, event_id, sample_type, flags=()):
    text = f.w.attr(Case('x86_64', enabled=0, sample_type=sample_type, flags=flags))
    return f.w.event(64, 0, text + f.w.pack('Q', event_id))


def attrs_apart(f, flags=()):
    """Of two events with the IDs 1 and 2 the second says in its samples the thread, too."""
    return (attr_with_id(f, 1, IP_AND_ID, flags) +
            attr_with_id(f, 2, IP_AND_ID | SAMPLE_TID, flags))


def guest(f):
    """What says that an event with an ID counts on a processor of a guest."""
    return (attr_with_id(f, 1, SAMPLE_IP | SAMPLE_TID, [SAMPLE_ID_ALL]) +
            f.w.event(69, 0, f.w.pack('QQQQQQQ', 1, 1, 0, 0, PID, PID, 0)))


def cgroup(f, mode):
    return f.w.event(19, mode, f.w.pack('Q', 1) + f.w.mapped + f.w.pack('II', PID, PID))


def fork(f, pid, tid, ppid, ptid, misc=USER):
    return f.w.event(7, misc, f.w.pack('IIIIQ', pid, ppid, tid, ptid, 0))


def auxtrace_info(f, kind, *words):
    return f.w.event(70, 0, f.w.pack('II%dQ' % len(words), kind, 0, *words))


def auxtrace(f, data, nr=0):
    """AUX data, with the number of its queue."""
    return f.w.event(71, 0, f.w.pack('QQQIIII', len(data), 0, 0, nr, PID, 0, 0)) + data


def s390_page(basic, diagnostic):
    """A page of one sample, with the sizes of entries and the time that its trailer says."""
    page = struct.pack('>H30xH', 1, 0x8001).ljust(4032, b'\0')
    return page + struct.pack('>IHHQxQ23xQQ', 0, basic, diagnostic, 0, 1 << 20, 1 << 63, 0)


def spe_context(tid):
    """A record of Arm SPE: the task, and the time 1 at its end."""
    return struct.pack('<BIBQ', 0x64, tid, 0x71, 1)


def timed_pt(f, mult, shift):
    """Intel PT with times: the config of the event has the bit that asks for them."""
    return f.aux(INTEL_PT, [CPU_CLOCK, shift, mult, 0, 1, 1, 0, 0, 0, 0], bytes(8)).put(
        HEADER + 8 + 8, 'Q', 1)


VPA_DTL_BOOT = struct.pack('=QQQ24x', 1000, 10 ** 9, 0)


def vpa_dtl(time):
    """An entry of the log, for reasons without a name."""
    return struct.pack('>BBHIIIQQQQ', 255, 255, 1, 2, 3, 4, time, 0, IP, 0)


def stat(f, *records, counts=(42, 42, 42)):
    """An event with the ID 1, what comes before its counts, and the sum of them."""
    return f.pipe(attr_with_id(f, 1, SAMPLE_IP | SAMPLE_TID), *records,
                  f.w.event(76, 0, f.w.pack('QIIQQQ', 1, 0, 0, *counts)),
                  f.w.event(77, 0, f.w.pack('QQ', 1, 1000)))


def thread_map(f, *tids):
    return f.w.event(73, 0, f.w.pack('Q', len(tids)) +
                     b''.join(f.w.pack('Q', tid) + bytes(16) for tid in tids))


def cpu_map(f, cpu):
    return f.w.event(74, 0, f.w.pack('HHH', 0, 1, cpu) + bytes(2))


def stat_config(f, aggr_mode):
    return f.w.event(75, 0, f.w.pack('QQQ', 1, 0, aggr_mode))


def time_conv(f, mult, shift):
    return f.w.event(79, 0, f.w.pack('QQQ', shift, mult, 0))


def pmu_caps(f, name, value):
    return feature(f, CPU_PMU_CAPS, f.w.pack('I', 1) + f.w.string(name) + f.w.string(value))


def ksymbol(f, start, size):
    return f.w.event(17, KERNEL, f.w.pack('QIHH', start, size, 1, 0) + f.w.mapped)


def mmap(f, mode, start, size, name=None, pid=PID):
    pid = 0xffffffff if name else pid
    return f.w.event(1, mode, f.w.pack('IIQQQ', pid, pid, start, size, 0) + (name or f.w.mapped))


# How the file is damaged, and what perf says.
CASES = {
    'header-cut': (
        lambda f: f.cut(60),
        'Perf data file truncated inside its header'),
    'magic': (
        lambda f: f.put(0, 'Q', 0x0123456789abcdef),
        'Perf file header corrupt: magic is 0x'),
    'header-size': (
        lambda f: f.put(SIZE, 'Q', HEADER - 1),
        f'Perf file header corrupt: its size is {HEADER - 1}'),
    'attrs-after-the-end': (
        lambda f: f.put(ATTRS, 'Q', 1 << 40),
        f'Perf file header corrupt: attrs at offset {1 << 40} of size {ATTR_AND_IDS} extend past EOF'),
    'data-after-the-end': (
        lambda f: f.put(DATA + 8, 'Q', 1 << 40),
        f'Perf file header corrupt: data at offset {DATA_AT} of size {1 << 40} extend past EOF'),
    'data-wraps-around': (
        lambda f: f.put(DATA + 8, 'Q', (1 << 64) - DATA_AT),
        f'Perf file header corrupt: data at offset {DATA_AT} of size {(1 << 64) - DATA_AT}'),
    'attr-too-small': (
        lambda f: f.put(HEADER + 4, 'I', 63),
        f'Bad size of the attr at offset {HEADER:#x}: 63, expected at least 64'),
    'attr-from-the-future': (
        lambda f: f.put(HEADER + 4, 'I', 4096),
        f'The attr at offset {HEADER:#x} has a more recent and unsupported ABI'),
    'ids-after-the-end': (
        lambda f: f.put(HEADER + VER9, 'QQ', 1 << 40, 8),
        f'Invalid ids section for attr 0: offset={1 << 40} size=8 exceeds file size'),
    'features-cut': (
        lambda f: f.cut(f.data_end + 16),
        f'Cannot read the table of 2 features at offset {DATA_AT + MMAP + 2 * SAMPLE}'),
    'feature-after-the-end': (
        lambda f: f.put(f.data_end, 'Q', 1 << 40),
        f'Feature HOSTNAME (3) section extends past EOF (offset={1 << 40}, size=68'),
    'event-after-the-data': (
        lambda f: f.put(f.last + 6, 'H', SAMPLE + 8),
        f'at offset {DATA_AT + MMAP + SAMPLE:#x}: event extends past the end of the data, '
        f'{SAMPLE} bytes are left'),
    'data-cut-in-a-header': (
        lambda f: f.cut_data(SAMPLE - 4),
        f'at offset {DATA_AT + MMAP + SAMPLE:#x}: truncated event header at the end of the data'),
    # Offsets are those in what follows the header of a pipe.
    'pipe-without-attr': (
        lambda f: f.pipe(f.w.data(f.case)),
        'at offset 0: no evsel found for MMAP (1) event'),
    'pipe-of-a-sample': (
        lambda f: f.pipe(f.w.data(f.case)[MMAP:]),
        'at offset 0: no evsel found for SAMPLE (9) event'),
    'pipe-with-a-bad-attr': (
        lambda f: f.pipe(attr(f, 63), f.w.data(f.case)[MMAP:]),
        'PERF_RECORD_HEADER_ATTR: invalid attr.size 63 ('),
    'pipe-with-an-event-of-4-bytes': (
        lambda f: f.pipe(attr(f), f.w.pack('IHH', 9, 0, 4)),
        "at offset 0x98: SAMPLE (9) event size 4, less than its header's 8"),
    'pipe-with-an-id-of-none': (
        lambda f: f.pipe(attrs_apart(f), id_index(f, 1, 99)),
        'PERF_RECORD_ID_INDEX: no event has the ID 99 of entry 1'),
    'pipe-with-a-name-of-none': (
        lambda f: f.pipe(attrs_apart(f, [SAMPLE_ID_ALL]), name_of(f, 99)),
        'PERF_RECORD_EVENT_UPDATE: no event has the ID 99'),
    'pipe-with-a-long-hostname': (
        lambda f: f.pipe(attr(f), feature(f, HOSTNAME, f.w.pack('I', 1 << 20) + bytes(60))),
        'PERF_RECORD_HEADER_FEATURE: malformed HOSTNAME (3) of 64 bytes'),
    'pipe-with-a-group-of-none': (
        lambda f: f.pipe(sample_of_values(f)),
        'at offset 0x98: READ of a group has no values'),
    'pipe-with-aux-of-nothing': (
        lambda f: f.pipe(attr(f), auxtrace(f, b'')),
        'PERF_RECORD_AUXTRACE without a preceding PERF_RECORD_AUXTRACE_INFO'),
    'pipe-with-aux-of-no-type': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, 99)),
        'PERF_RECORD_AUXTRACE_INFO: unknown type 99 (16 bytes)'),
    'pipe-with-aux-cut': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, ARM_SPE, CPU_CLOCK, 0), auxtrace(f, bytes(64))[:-1]),
        'PERF_RECORD_AUXTRACE: cannot read the AUX data of size 0x40'),
    'pipe-with-aux-cut-of-ptt': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, HISI_PTT, 0), auxtrace(f, bytes(64))[:-1]),
        'PERF_RECORD_AUXTRACE: cannot read the AUX data of size 0x40'),
    'pipe-with-aux-of-queue-0xffffffff': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, ARM_SPE, CPU_CLOCK, 0),
                         auxtrace(f, bytes(8), (1 << 32) - 1)),
        'Invalid AUX queue 4294967295 (max 4194303)'),
    'pipe-with-a-long-filter': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, INTEL_PT, *[0] * 16, (1 << 64) - 16, 0)),
        'intel_pt_process_auxtrace_info: bad filter string length'),
    'pipe-with-many-processors': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, ARM_SPE, 2, 4, 8, 1 << 30)),
        'Failed to parse Arm SPE metadata'),
    'pipe-with-many-queues': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, ARM_SPE, CPU_CLOCK, 0),
                         auxtrace(f, bytes(8), 1 << 25)),
        'Invalid AUX queue 33554432 (max 4194303)'),
    'pipe-with-wide-branch-counters': (
        lambda f: f.pipe(attr(f), pmu_caps(f, 'branch_counter_width', '64')),
        'Invalid pmu caps: branch_counter_width (64) > 8'),
    'aux-timed-pt-of-mult-0': (
        lambda f: timed_pt(f, 0, 31),
        'Intel PT: invalid time conversion: mult 0, shift 31'),
    'aux-timed-pt-of-mult-1': (
        lambda f: timed_pt(f, 1, 32),
        'Intel PT: cannot convert the time range 1000000000 to 2000000000: mult 1, shift 32'),
    'aux-skipped-timed-pt': (
        lambda f: timed_pt(f, 1 << 30, 31),
        ''),
    # A dump doesn't look at what AUX data mean.
    'aux-decoded-s390-of-no-entries': (
        lambda f: f.aux(S390_CPUMSF, [], s390_page(0, 1)),
        'Invalid AUX trace data block size:4096 (type:'),
    'aux-decoded-spe-without-cpu': (
        lambda f: f.aux(ARM_SPE, [CPU_CLOCK, 0], spe_context(PID)).put(f.last_aux + 40, 'i', -1),
        f'Invalid CPU -1 for thread {PID}'),
    'pipe-with-times-of-mult-0': (
        lambda f: f.pipe(attr(f), time_conv(f, 0, 31)),
        'at offset 0x98: PERF_RECORD_TIME_CONV: invalid time conversion: mult 0, shift 31'),
    'pipe-with-times-of-shift-33': (
        lambda f: f.pipe(attr(f), time_conv(f, 1, 33)),
        'at offset 0x98: PERF_RECORD_TIME_CONV: invalid time conversion: mult 1, shift 33'),
    # Not to be refused: a record is skipped, the others are read.
    'pipe-skipped-good-times': (
        lambda f: f.pipe(attr(f), time_conv(f, 1 << 30, 31), f.w.data(f.case)),
        ''),
    'pipe-skipped-cut': (
        lambda f: f.pipe(attr(f), f.w.data(f.case)[:-8]),
        'at offset 0x110: unexpected end of event stream'),
    'pipe-skipped-few-namespaces': (
        lambda f: f.pipe(attr(f), namespaces(f, 1), f.w.data(f.case)),
        ''),
    'pipe-skipped-branch-of-no-type': (
        lambda f: f.pipe(call_stack(f, 15, 15), f.w.data(f.case)[:MMAP]),
        ''),
    'pipe-skipped-map-wraps-around': (
        lambda f: f.pipe(attr(f), mmap(f, USER, (1 << 64) - 0x1000, 0x2000), f.w.data(f.case)),
        'PERF_RECORD_MMAP: len 0x2000 from start 0xfffffffffffff000 wraps around, skipping event'),
    'pipe-skipped-map-to-the-end': (
        lambda f: f.pipe(attr(f), mmap(f, USER, (1 << 64) - 0x1000, 0x1000), f.w.data(f.case)),
        'PERF_RECORD_MMAP: len 0x1000 from start 0xfffffffffffff000 wraps around, skipping event'),
    'pipe-skipped-map-of-a-module': (
        lambda f: f.pipe(attr(f), mmap(f, KERNEL, 1 << 63, 0x1000), f.w.data(f.case)),
        "/nowhere is a module's file, skipping a process's map of it"),
    'pipe-skipped-symbol-wraps-around': (
        lambda f: f.pipe(attr(f), ksymbol(f, (1 << 64) - 0x1000, 0x2000), f.w.data(f.case)),
        'PERF_RECORD_KSYMBOL: len 0x2000 from start 0xfffffffffffff000 wraps around, skipping event'),
    'pipe-skipped-symbol-over-the-kernel': (
        lambda f: f.pipe(attr(f), mmap(f, KERNEL, 1 << 32, 1 << 40, KERNEL_TEXT),
                         ksymbol(f, (1 << 32) - 0x1000, 0x2000), f.w.data(f.case)),
        ''),
    'pipe-skipped-module-in-the-kernel': (
        lambda f: f.pipe(attr(f), mmap(f, KERNEL, 1 << 32, 1 << 40, KERNEL_TEXT),
                         mmap(f, KERNEL, 1 << 33, 1 << 20, b'[module]'.ljust(16, b'\0')),
                         ksymbol(f, (1 << 32) - 0x1000, 0x2000), f.w.data(f.case)),
        ''),
    'pipe-skipped-kernel-again': (
        lambda f: f.pipe(attr(f), mmap(f, KERNEL, 1 << 32, 1 << 40, KERNEL_TEXT),
                         ksymbol(f, (1 << 32) - 0x1000, 0x2000),
                         mmap(f, KERNEL, 1 << 32, 1 << 40, KERNEL_TEXT),
                         ksymbol(f, 1 << 50, 1 << 20),
                         f.w.data(f.case)),
        ''),
    'pipe-skipped-fork-over-maps': (
        lambda f: f.pipe(attr(f), mmap(f, USER, 0x1000, 0x3000),
                         mmap(f, USER, 0x2000, 0x8000, pid=9),
                         fork(f, PID, 8, 9, 9), mmap(f, USER, 0x10000, 0x800), f.w.data(f.case)),
        ''),
    'pipe-skipped-vpa-dtl-without-name': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, VPA_DTL, 0), f.w.data(f.case)),
        ''),
    'pipe-skipped-vpa-dtl-reasons': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, VPA_DTL, 0),
                         auxtrace(f, bytes([255]) * 48), f.w.data(f.case)),
        ''),
    'pipe-skipped-s390-without-data': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, S390_CPUMSF), auxtrace(f, b''),
                         f.w.data(f.case)),
        ''),
    'pipe-skipped-s390-with-large-entries': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, S390_CPUMSF), auxtrace(f, s390_page(32, 65000)),
                         f.w.data(f.case)),
        ''),
    'pipe-skipped-cgroup-of-a-guest': (
        lambda f: f.pipe(guest(f), cgroup(f, GUEST_USER)),
        ''),
    'pipe-skipped-id-of-another': (
        lambda f: f.pipe(attrs_apart(f), f.w.event(9, USER, f.w.pack('QQQ', IP, 2, 1))),
        'PERF_RECORD_SAMPLE: sample ID does not belong to event cpu-clock, skipping'),
    'pipe-skipped-fork-by-itself': (
        lambda f: f.pipe(attr(f), fork(f, 5, 5, 5, 5), fork(f, 5, 5, 6, 5), fork(f, 5, 5, 7, 5),
                         f.w.data(f.case)),
        ''),
    'pipe-skipped-forks-in-a-circle': (
        lambda f: f.pipe(attr(f), fork(f, 9, PID, 1, 1, NO_MAPS), fork(f, PID, 9, 1, 1, NO_MAPS),
                         f.w.data(f.case)),
        ''),
    'pipe-skipped-aux-without-ids': (
        lambda f: f.pipe(attr(f), auxtrace_info(f, ARM_SPE, CPU_CLOCK, 0)),
        ''),
    'aux-past-the-end': (
        lambda f: f.aux(INTEL_BTS, [0, 0, 1, 0, 0, 0], bytes(24)).put(f.last_aux + 8, 'Q', 1 << 60),
        f'of size {1 << 60:#x} extends past the end'),
    'aux-skipped-s390-pages': (
        lambda f: f.aux(S390_CPUMSF, [], s390_page(32, 64), s390_page(32, 64) * 2),
        ''),
    'pipe-stat-skipped-nothing': (
        lambda f: stat(f, thread_map(f, 5), cpu_map(f, 0), stat_config(f, AGGR_GLOBAL)),
        'cpu-clock'),
    'pipe-stat-skipped-count-too-large': (
        lambda f: stat(f, thread_map(f, 5), cpu_map(f, 0), stat_config(f, AGGR_GLOBAL),
                       counts=(1 << 63, 1 << 63, 1)),
        '18446744073709.55 msec'),
    'pipe-stat-without-maps': (
        lambda f: stat(f, stat_config(f, AGGR_GLOBAL)),
        'Failed to find perf count for CPU 0 thread 0 on event cpu-clock'),
    'pipe-stat-without-config': (
        lambda f: stat(f, thread_map(f, 5), cpu_map(f, 0)),
        'Event cpu-clock has no aggregated counts: STAT_CONFIG missing'),
    'pipe-stat-config-before-threads': (
        lambda f: stat(f, stat_config(f, AGGR_THREAD), thread_map(f, *range(5, 70)), cpu_map(f, 0)),
        'Event cpu-clock has aggregated counts for 1 of 65 threads: STAT_CONFIG before THREAD_MAP'),
    'pipe-stat-unknown-mode': (
        lambda f: stat(f, thread_map(f, 5), cpu_map(f, 0), stat_config(f, AGGR_THREAD),
                       stat_config(f, AGGR_UNSET)),
        f'unknown aggregation mode {AGGR_UNSET}'),
    # perf doesn't swap these.
    'aux-skipped-native-vpa-dtl': (
        lambda f: f.aux(VPA_DTL, [0], VPA_DTL_BOOT + vpa_dtl(5000) + b'half an entry',
                        VPA_DTL_BOOT + vpa_dtl(6000)),
        ''),
    'aux-skipped-native-vpa-dtl-before-the-boot': (
        lambda f: f.aux(VPA_DTL, [0], VPA_DTL_BOOT + vpa_dtl(1), VPA_DTL_BOOT + vpa_dtl(5000)),
        ''),
    'aux-skipped-native-vpa-dtl-without-time': (
        lambda f: f.aux(VPA_DTL, [0], VPA_DTL_BOOT + vpa_dtl(0), VPA_DTL_BOOT + vpa_dtl(5000)),
        ''),
    'aux-skipped-native-vpa-dtl-without-entries': (
        lambda f: f.aux(VPA_DTL, [0], b'half an entry', VPA_DTL_BOOT),
        ''),
    'pipe-skipped-native-schedstat-cpu': (
        lambda f: f.pipe(attr(f), f.w.event(85, 0, f.w.pack('QIHH', 0, 0, 15, 0)), f.w.data(f.case)),
        'PERF_RECORD_SCHEDSTAT_CPU: size 24 is too small for version 15 (min 72), skipping event'),
    'pipe-skipped-native-schedstat-domain': (
        lambda f: f.pipe(attr(f), f.w.event(86, 0, f.w.pack('QIHH', 0, 0, 17, 0)), f.w.data(f.case)),
        'PERF_RECORD_SCHEDSTAT_DOMAIN: size 24 is too small for version 17 (min '),
}


def main():
    args = sys.argv[1:]
    if args == ['list']:
        print('\n'.join(CASES))
        return
    if len(args) != 3 or args[0] not in CASES or args[1] not in ('little', 'big'):
        sys.exit(__doc__)
    damage, message = CASES[args[0]]
    with open(args[2], 'wb') as f:
        f.write(damage(File(args[1])).bytes)
    print(message)


if __name__ == '__main__':
    main()
