/*
 * What CPUID tells of the emulated PMU.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "pmu.h"

/* Number of bits in leaf 0xA's list of architectural events */
#define EVENT_LIST_BITS     8
/* Bits of that list, where set events are missing; and of leaf 0x23's */
#define EVENT_LLC_REFERENCE (1u << 3)
#define EVENT_LLC_MISS      (1u << 4)

#define ANY_THREAD_DEPRECATED   (1u << 15)

/* Sub-leaves of leaf 0x23, as its sub-leaf 0 lists them */
#define SUBLEAF_MAIN        0
#define SUBLEAF_COUNTERS    1
#define SUBLEAF_EVENTS      3

static void intel_leaf_0xa(CPUX86State *env, uint32_t *eax, uint32_t *ebx,
                           uint32_t *ecx, uint32_t *edx)
{
    unsigned version = pmu_v6(env) ? 6 : 5;

    *eax = version | PMU_INTEL_GP << 8 | PMU_WIDTH << 16 |
           EVENT_LIST_BITS << 24;
    *ebx = EVENT_LLC_REFERENCE | EVENT_LLC_MISS;
    *ecx = MAKE_64BIT_MASK(0, PMU_INTEL_FIXED);
    *edx = PMU_INTEL_FIXED | PMU_WIDTH << 5 | ANY_THREAD_DEPRECATED;
}

static void intel_leaf_0x23(CPUX86State *env, uint32_t subleaf, uint32_t *eax,
                            uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    *eax = *ebx = *ecx = *edx = 0;
    if (!pmu_v6(env)) {
        return;
    }
    switch (subleaf) {
    case SUBLEAF_MAIN:
        *eax = 1u << SUBLEAF_MAIN | 1u << SUBLEAF_COUNTERS |
               1u << SUBLEAF_EVENTS;
        break;
    case SUBLEAF_COUNTERS:
        *eax = MAKE_64BIT_MASK(0, PMU_INTEL_GP);
        *ebx = MAKE_64BIT_MASK(0, PMU_INTEL_FIXED);
        break;
    case SUBLEAF_EVENTS:
        *eax = MAKE_64BIT_MASK(0, EVENT_LIST_BITS) &
               ~(EVENT_LLC_REFERENCE | EVENT_LLC_MISS);
        break;
    }
    pebs_cpuid(env, subleaf, eax, ebx, ecx, edx);
}

void x86_pmu_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    bool amd = pmu_is_amd(env);

    switch (leaf) {
    case 0xa:
        *eax = *ebx = *ecx = *edx = 0;
        if (!amd) {
            intel_leaf_0xa(env, eax, ebx, ecx, edx);
        }
        break;
    case 0x23:
        *eax = *ebx = *ecx = *edx = 0;
        if (!amd) {
            intel_leaf_0x23(env, subleaf, eax, ebx, ecx, edx);
        }
        break;
    case 0x80000001:
        if (amd) {
            *ecx |= CPUID_EXT3_PERFCORE;
            if (ibs_available(env)) {
                *ecx |= CPUID_EXT3_EXTAPIC;
            }
        }
        break;
    case 0x8000001b:
        if (amd) {
            *eax = ibs_cpuid(env);
        }
        break;
    case 0x80000022:
        if (amd) {
            *eax |= CPUID_8000_0022_EAX_PERFMON_V2;
            *ebx = PMU_AMD_GP;
        }
        break;
    }
}

uint32_t x86_pmu_cpuid_level(CPUX86State *env)
{
    if (pmu_is_amd(env)) {
        return 0;
    }
    return pmu_v6(env) ? 0x23 : 0xa;
}

uint32_t x86_pmu_cpuid_xlevel(CPUX86State *env)
{
    return pmu_is_amd(env) ? 0x80000022 : 0;
}
