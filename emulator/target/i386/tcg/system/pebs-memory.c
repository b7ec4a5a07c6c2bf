/*
 * What PEBS records say of accesses to memory, and which loads PEBS_LD_LAT asks
 * for.
 *
 * The address is the real one.  Nothing here knows how long an access takes or
 * where the data come from, so all take the same time and come from the same
 * place.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "pebs.h"

/* In cycles: the retirement of the instruction, and the access itself */
#define LATENCY         64
#define LATENCY_SHIFT   32
/* An encoding that all CPUs have: a hit in L2 or L3, without any snooping */
#define SOURCE_HIT      4

#define LD_LAT_MASK     0xffff

bool pebs_wants_load(CPUX86State *env)
{
    return env->pmu.pebs.load_latency <= LATENCY;
}

X86PMUAccess pebs_memory_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    if (msr != MSR_PEBS_LD_LAT) {
        return PMU_NOT_MINE;
    }
    *val = env->pmu.pebs.load_latency;
    return PMU_DONE;
}

X86PMUAccess pebs_memory_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    if (msr != MSR_PEBS_LD_LAT) {
        return PMU_NOT_MINE;
    }
    if (val & ~LD_LAT_MASK) {
        return PMU_GP;
    }
    env->pmu.pebs.load_latency = val;
    return PMU_DONE;
}

PEBSMemory pebs_memory(CPUX86State *env, uint64_t counters)
{
    X86PMUState *pmu = &env->pmu;
    int access = X86_PMU_ACCESSES;

    for (; counters; counters &= counters - 1) {
        switch (pmu_event(env, ctz64(counters))->unit) {
        case PMU_LOADS:
            access = X86_PMU_LOAD;
            break;
        case PMU_STORES:
            access = X86_PMU_STORE;
            break;
        default:
            break;
        }
    }
    if (access == X86_PMU_ACCESSES) {
        return (PEBSMemory) { };
    }
    return (PEBSMemory) {
        .address = pmu->access[access].addr,
        .source = SOURCE_HIT,
        .latency = LATENCY | (uint64_t)LATENCY << LATENCY_SHIFT,
    };
}
