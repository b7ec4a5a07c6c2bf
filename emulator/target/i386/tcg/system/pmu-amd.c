/*
 * AMD's registers of the emulated PMU: core performance counters, and
 * performance monitoring version 2.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "pmu.h"

static uint64_t event_select_bits(void)
{
    return PMU_EVTSEL_SELECT | PMU_EVTSEL_UMASK | PMU_EVTSEL_USR |
           PMU_EVTSEL_OS | PMU_EVTSEL_EDGE | PMU_EVTSEL_INT | PMU_EVTSEL_EN |
           PMU_EVTSEL_INV | PMU_EVTSEL_CMASK | PMU_EVTSEL_SELECT_HI |
           PMU_EVTSEL_GUEST_ONLY | PMU_EVTSEL_HOST_ONLY;
}

static uint64_t status_bits(CPUX86State *env)
{
    return pmu_all_counters(env) | PMU_STATUS_LBR_FRZ | PMU_STATUS_CTR_FRZ;
}

/* The first four counters can be reached at their old addresses, too.  */
static uint32_t without_legacy(uint32_t msr)
{
    if (msr >= MSR_AMD_LEGACY_CTL &&
        msr < MSR_AMD_LEGACY_CTL + PMU_AMD_LEGACY_GP) {
        return MSR_AMD_CTL + 2 * (msr - MSR_AMD_LEGACY_CTL);
    }
    if (msr >= MSR_AMD_LEGACY_CTR &&
        msr < MSR_AMD_LEGACY_CTR + PMU_AMD_LEGACY_GP) {
        return MSR_AMD_CTR + 2 * (msr - MSR_AMD_LEGACY_CTR);
    }
    return msr;
}

/* PERF_CTL and PERF_CTR alternate.  */
static bool is_counter(uint32_t msr)
{
    return (msr - MSR_AMD_CTL) % 2 == MSR_AMD_CTR - MSR_AMD_CTL;
}

X86PMUAccess pmu_amd_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    X86PMUState *pmu = &env->pmu;
    X86PMUAccess result = ibs_rdmsr(env, msr, val);
    unsigned i;

    if (result != PMU_NOT_MINE) {
        return result;
    }
    msr = without_legacy(msr);
    switch (msr) {
    case MSR_AMD_CTL ... MSR_AMD_CTL + 2 * PMU_AMD_GP - 1:
        i = (msr - MSR_AMD_CTL) / 2;
        *val = is_counter(msr) ? pmu->gp[i] : pmu->event_select[i];
        return PMU_DONE;
    case MSR_AMD_GLOBAL_STATUS:
        *val = pmu->global_status;
        return PMU_DONE;
    case MSR_AMD_GLOBAL_CTL:
        *val = pmu->global_ctrl;
        return PMU_DONE;
    case MSR_AMD_GLOBAL_STATUS_CLR:
    case MSR_AMD_GLOBAL_STATUS_SET:
        *val = 0;
        return PMU_DONE;
    case MSR_DEBUGCTL:
        *val = pmu->debug_ctl;
        return PMU_DONE;
    }
    return PMU_NOT_MINE;
}

X86PMUAccess pmu_amd_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    X86PMUState *pmu = &env->pmu;
    X86PMUAccess result = ibs_wrmsr(env, msr, val);
    unsigned i;

    if (result != PMU_NOT_MINE) {
        return result;
    }
    msr = without_legacy(msr);
    switch (msr) {
    case MSR_AMD_CTL ... MSR_AMD_CTL + 2 * PMU_AMD_GP - 1:
        /* Reserved bits do not fault here, unlike Intel's.  */
        i = (msr - MSR_AMD_CTL) / 2;
        if (is_counter(msr)) {
            pmu->gp[i] = val & PMU_MASK;
        } else {
            pmu->event_select[i] = val & event_select_bits();
        }
        return PMU_DONE;
    case MSR_AMD_GLOBAL_CTL:
        pmu->global_ctrl = val & pmu_all_counters(env);
        return PMU_DONE;
    case MSR_AMD_GLOBAL_STATUS_CLR:
        pmu->global_status &= ~val;
        return PMU_DONE;
    case MSR_AMD_GLOBAL_STATUS_SET:
        pmu->global_status |= val & status_bits(env);
        return PMU_DONE;
    case MSR_AMD_GLOBAL_STATUS:
        return PMU_GP;
    case MSR_DEBUGCTL:
        pmu->debug_ctl = val & PMU_DEBUGCTL_VALID;
        return PMU_DONE;
    }
    return PMU_NOT_MINE;
}
