/*
 * The events of the emulated PMU: which unit a counter counts, and how often.
 *
 * TCG has no pipeline, so all there is to count are instructions and branches.
 * Cycles are a fixed multiple of instructions; each event has a rate of its
 * own, so that software which confuses two of them can be told.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/bitmap.h"
#include "qemu/log.h"
#include "cpu.h"
#include "pmu.h"

enum {
    CYCLES_PER_INSN     = 2,
    REF_CYCLES_PER_INSN = 3,
    SLOTS_PER_INSN      = 12,   /* a core that issues 6 per cycle */
};

static const X86PMUEvent nothing;

/* The pre-defined architectural events that CPUID leaf 0xA declares */
static const X86PMUEvent intel_events[] = {
    { .select = 0xc0, .umask = 0x00, .unit = PMU_INSNS, .weight = 1 },
    { .select = 0x3c, .umask = 0x00, .unit = PMU_INSNS,
      .weight = CYCLES_PER_INSN },
    { .select = 0x3c, .umask = 0x01, .unit = PMU_INSNS,
      .weight = REF_CYCLES_PER_INSN },
    { .select = 0xc4, .umask = 0x00, .unit = PMU_BRANCHES, .weight = 1 },
    { .select = 0xc5, .umask = 0x00, .unit = PMU_MISSES, .weight = 1 },
    { .select = 0xa4, .umask = 0x01, .unit = PMU_INSNS,
      .weight = SLOTS_PER_INSN },
};

/*
 * Loads and stores with their addresses, which PEBS alone can tell: of these
 * events hardware counts a part as well, which it selects.
 */
static const X86PMUEvent intel_memory_events[] = {
    { .select = 0xcd, .umask = 0x01, .unit = PMU_LOADS, .weight = 1 },
    { .select = 0xcd, .umask = 0x02, .unit = PMU_STORES, .weight = 1 },
};

static const X86PMUEvent intel_fixed_events[X86_PMU_FIXED_MAX] = {
    [0] = { .unit = PMU_INSNS, .weight = 1 },
    [1] = { .unit = PMU_INSNS, .weight = CYCLES_PER_INSN },
    [2] = { .unit = PMU_INSNS, .weight = REF_CYCLES_PER_INSN },
    [3] = { .unit = PMU_INSNS, .weight = SLOTS_PER_INSN },
};

/* Core events that AMD families 17h to 1Ah share */
static const X86PMUEvent amd_events[] = {
    { .select = 0x0c0, .umask = 0x00, .unit = PMU_INSNS, .weight = 1 },
    { .select = 0x076, .umask = 0x00, .unit = PMU_INSNS,
      .weight = CYCLES_PER_INSN },
    { .select = 0x120, .umask = 0x01, .unit = PMU_INSNS,
      .weight = REF_CYCLES_PER_INSN },
    { .select = 0x0c2, .umask = 0x00, .unit = PMU_BRANCHES, .weight = 1 },
    { .select = 0x0c3, .umask = 0x00, .unit = PMU_MISSES, .weight = 1 },
};

static const X86PMUEvent *find(const X86PMUEvent *events, size_t nr,
                               unsigned select, unsigned umask)
{
    for (size_t i = 0; i < nr; i++) {
        if (events[i].select == select && events[i].umask == umask) {
            return &events[i];
        }
    }
    return &nothing;
}

/* Once per event code: a guest may try the same one for ever.  */
static void report(unsigned select, unsigned umask, const char *why)
{
    static DECLARE_BITMAP(reported, 1 << 20);
    unsigned code = umask << 12 | select;

    if (!test_bit(code, reported)) {
        set_bit_atomic(code, reported);
        qemu_log_mask(LOG_UNIMP, "x86 PMU: event 0x%x, umask 0x%x counts "
                      "nothing: %s\n", select, umask, why);
    }
}

const X86PMUEvent *pmu_event(CPUX86State *env, unsigned counter)
{
    const X86PMUEvent *event;
    unsigned select, umask;
    uint64_t config;

    if (counter >= X86_PMU_FIXED) {
        return &intel_fixed_events[counter - X86_PMU_FIXED];
    }
    config = env->pmu.event_select[counter];
    select = config & PMU_EVTSEL_SELECT;
    umask = (config & PMU_EVTSEL_UMASK) >> 8;
    if (pmu_is_amd(env)) {
        select |= (config & PMU_EVTSEL_SELECT_HI) >> 24;
        event = find(amd_events, ARRAY_SIZE(amd_events), select, umask);
    } else {
        event = find(intel_events, ARRAY_SIZE(intel_events), select, umask);
        if (event->unit == PMU_NOTHING && pebs_perf_capabilities(env)) {
            event = find(intel_memory_events, ARRAY_SIZE(intel_memory_events),
                         select, umask);
        }
    }
    if (event->unit == PMU_NOTHING) {
        report(select, umask, "not modelled");
    } else if (config & (PMU_EVTSEL_CMASK | PMU_EVTSEL_INV | PMU_EVTSEL_EDGE)) {
        report(select, umask, "nothing happens per cycle here");
        event = &nothing;
    }
    return event;
}
