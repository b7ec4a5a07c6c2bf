/*
 * Intel's registers of the emulated PMU: architectural performance monitoring,
 * versions 5 and 6.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "pmu.h"

bool pmu_v6(CPUX86State *env)
{
    return env->features[FEAT_7_1_EAX] & CPUID_7_1_EAX_ARCH_PERFMON_EXT;
}

static bool has_capabilities(CPUX86State *env)
{
    return env->features[FEAT_1_ECX] & CPUID_EXT_PDCM;
}

uint64_t pmu_capabilities(CPUX86State *env)
{
    if (!has_capabilities(env)) {
        return 0;
    }
    return PMU_CAP_FULL_WIDTH | pebs_perf_capabilities(env) |
           (pmu_has_metrics(env) ? PMU_CAP_METRICS : 0);
}

static uint64_t global_ctrl_bits(CPUX86State *env)
{
    return pmu_all_counters(env) |
           (pmu_has_metrics(env) ? PMU_GLOBAL_METRICS : 0);
}

static uint64_t status_bits(CPUX86State *env)
{
    return global_ctrl_bits(env) | PMU_STATUS_ARCH_PEBS | PMU_STATUS_LBR_FRZ |
           PMU_STATUS_CTR_FRZ | PMU_STATUS_ASCI | PMU_STATUS_UNCORE |
           PMU_STATUS_DS_BUFFER;
}

static uint64_t event_select_bits(CPUX86State *env)
{
    uint64_t bits = PMU_EVTSEL_SELECT | PMU_EVTSEL_UMASK | PMU_EVTSEL_USR |
                    PMU_EVTSEL_OS | PMU_EVTSEL_EDGE | PMU_EVTSEL_PC |
                    PMU_EVTSEL_INT | PMU_EVTSEL_EN | PMU_EVTSEL_INV |
                    PMU_EVTSEL_CMASK;

    /* PMU_EVTSEL_ANY_THREAD is what CPUID calls deprecated.  */
    if (pmu_capabilities(env) & PMU_CAP_PEBS_BASELINE) {
        bits |= PMU_EVTSEL_ADAPTIVE;
    }
    return bits;
}

static uint64_t fixed_ctrl_bits(CPUX86State *env)
{
    bool adaptive = pmu_capabilities(env) & PMU_CAP_PEBS_BASELINE;
    uint64_t bits = 0;

    for (unsigned i = 0; i < PMU_INTEL_FIXED; i++) {
        bits |= PMU_FIXED_CTRL_OS(i) | PMU_FIXED_CTRL_USR(i) |
                PMU_FIXED_CTRL_INT(i);
        if (adaptive) {
            bits |= PMU_FIXED_CTRL_ADAPTIVE(i);
        }
    }
    return bits;
}

static uint64_t in_use(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t bits = 0;

    for (unsigned i = 0; i < PMU_INTEL_GP; i++) {
        if (pmu->event_select[i] & PMU_EVTSEL_SELECT) {
            bits |= 1ull << i;
        }
        if (pmu->event_select[i] & PMU_EVTSEL_INT) {
            bits |= PMU_INUSE_PMI;
        }
    }
    for (unsigned i = 0; i < PMU_INTEL_FIXED; i++) {
        if (pmu->fixed_ctrl &
            (PMU_FIXED_CTRL_OS(i) | PMU_FIXED_CTRL_USR(i))) {
            bits |= 1ull << (X86_PMU_FIXED + i);
        }
        if (pmu->fixed_ctrl & PMU_FIXED_CTRL_INT(i)) {
            bits |= PMU_INUSE_PMI;
        }
    }
    return bits;
}

/* Bits of MISC_ENABLE that tell what there is, and which WRMSR leaves alone */
static uint64_t misc_enable(CPUX86State *env)
{
    uint64_t bits = PMU_MISC_ENABLE_EMON | PMU_MISC_ENABLE_NO_BTS;

    if (!pebs_perf_capabilities(env)) {
        bits |= PMU_MISC_ENABLE_NO_PEBS;
    }
    return bits;
}

/*
 * Version 6 has four consecutive registers for each counter: true if @msr is
 * one of them; which counter and which register.
 */
static bool decode_v6(CPUX86State *env, uint32_t msr, unsigned *counter,
                      unsigned *reg)
{
    unsigned n;

    if (!pmu_v6(env)) {
        return false;
    }
    if (msr >= MSR_PMC_FIXED_V6) {
        n = (msr - MSR_PMC_FIXED_V6) / PMU_V6_STEP;
        *counter = X86_PMU_FIXED + n;
        *reg = (msr - MSR_PMC_FIXED_V6) % PMU_V6_STEP;
        return n < PMU_INTEL_FIXED;
    }
    if (msr >= MSR_PMC_GP_V6) {
        n = (msr - MSR_PMC_GP_V6) / PMU_V6_STEP;
        *counter = n;
        *reg = (msr - MSR_PMC_GP_V6) % PMU_V6_STEP;
        return n < PMU_INTEL_GP;
    }
    return false;
}

X86PMUAccess pmu_intel_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    X86PMUState *pmu = &env->pmu;
    X86PMUAccess result = pebs_rdmsr(env, msr, val);
    unsigned counter, reg;

    if (result != PMU_NOT_MINE) {
        return result;
    }
    if (decode_v6(env, msr, &counter, &reg)) {
        if (reg == PMU_V6_CTR) {
            *val = *pmu_counter(env, counter);
            return PMU_DONE;
        }
        if (reg == PMU_V6_CFG_A && counter < X86_PMU_FIXED) {
            *val = pmu->event_select[counter];
            return PMU_DONE;
        }
        return PMU_GP;
    }

    switch (msr) {
    case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + PMU_INTEL_GP - 1:
        *val = pmu->gp[msr - MSR_P6_PERFCTR0];
        return PMU_DONE;
    case MSR_PMC_FULL ... MSR_PMC_FULL + PMU_INTEL_GP - 1:
        if (!(pmu_capabilities(env) & PMU_CAP_FULL_WIDTH)) {
            return PMU_GP;
        }
        *val = pmu->gp[msr - MSR_PMC_FULL];
        return PMU_DONE;
    case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + PMU_INTEL_GP - 1:
        *val = pmu->event_select[msr - MSR_P6_EVNTSEL0];
        return PMU_DONE;
    case MSR_CORE_PERF_FIXED_CTR0 ...
         MSR_CORE_PERF_FIXED_CTR0 + PMU_INTEL_FIXED - 1:
        *val = pmu->fixed[msr - MSR_CORE_PERF_FIXED_CTR0];
        return PMU_DONE;
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        *val = pmu->fixed_ctrl;
        return PMU_DONE;
    case MSR_CORE_PERF_GLOBAL_CTRL:
        *val = pmu->global_ctrl;
        return PMU_DONE;
    case MSR_PERF_METRICS:
        if (!pmu_has_metrics(env)) {
            return PMU_NOT_MINE;
        }
        *val = pmu_metrics(env);
        return PMU_DONE;
    case MSR_CORE_PERF_GLOBAL_STATUS:
        *val = pmu->global_status;
        return PMU_DONE;
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
    case MSR_PERF_GLOBAL_STATUS_SET:
        *val = 0;
        return PMU_DONE;
    case MSR_PERF_GLOBAL_INUSE:
        *val = in_use(env);
        return PMU_DONE;
    case MSR_IA32_PERF_CAPABILITIES:
        if (!has_capabilities(env)) {
            return PMU_GP;
        }
        *val = pmu_capabilities(env);
        return PMU_DONE;
    case MSR_DEBUGCTL:
        *val = pmu->debug_ctl;
        return PMU_DONE;
    case MSR_IA32_MISC_ENABLE:
        *val = env->msr_ia32_misc_enable | misc_enable(env);
        return PMU_DONE;
    }
    return PMU_NOT_MINE;
}

static X86PMUAccess write_if(uint64_t *reg, uint64_t val, uint64_t valid)
{
    if (val & ~valid) {
        return PMU_GP;
    }
    *reg = val;
    return PMU_DONE;
}

X86PMUAccess pmu_intel_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    X86PMUState *pmu = &env->pmu;
    X86PMUAccess result = pebs_wrmsr(env, msr, val);
    unsigned counter, reg;

    if (result != PMU_NOT_MINE) {
        return result;
    }
    if (decode_v6(env, msr, &counter, &reg)) {
        if (reg == PMU_V6_CTR) {
            return write_if(pmu_counter(env, counter), val, PMU_MASK);
        }
        if (reg == PMU_V6_CFG_A && counter < X86_PMU_FIXED) {
            return write_if(&pmu->event_select[counter], val,
                            event_select_bits(env));
        }
        return PMU_GP;
    }

    switch (msr) {
    case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + PMU_INTEL_GP - 1:
        /* The original registers have 32 bits, which are sign-extended.  */
        pmu->gp[msr - MSR_P6_PERFCTR0] = (int32_t)val & PMU_MASK;
        return PMU_DONE;
    case MSR_PMC_FULL ... MSR_PMC_FULL + PMU_INTEL_GP - 1:
        if (!(pmu_capabilities(env) & PMU_CAP_FULL_WIDTH)) {
            return PMU_GP;
        }
        return write_if(&pmu->gp[msr - MSR_PMC_FULL], val, PMU_MASK);
    case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + PMU_INTEL_GP - 1:
        return write_if(&pmu->event_select[msr - MSR_P6_EVNTSEL0], val,
                        event_select_bits(env));
    case MSR_CORE_PERF_FIXED_CTR0 ...
         MSR_CORE_PERF_FIXED_CTR0 + PMU_INTEL_FIXED - 1:
        return write_if(&pmu->fixed[msr - MSR_CORE_PERF_FIXED_CTR0], val,
                        PMU_MASK);
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        return write_if(&pmu->fixed_ctrl, val, fixed_ctrl_bits(env));
    case MSR_CORE_PERF_GLOBAL_CTRL:
        /* From now on they may follow the slots, or not any more.  */
        pmu_metrics_set(env, pmu_metrics(env));
        return write_if(&pmu->global_ctrl, val, global_ctrl_bits(env));
    case MSR_PERF_METRICS:
        if (!pmu_has_metrics(env)) {
            return PMU_NOT_MINE;
        }
        pmu_metrics_set(env, val);
        return PMU_DONE;
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
        if (val & ~(status_bits(env) | PMU_STATUS_COND_CHGD)) {
            return PMU_GP;
        }
        pmu->global_status &= ~val;
        pmu->pmi_held = pmu->pmi_held &&
                        (pmu->global_status & ~PMU_STATUS_FROZEN);
        return PMU_DONE;
    case MSR_PERF_GLOBAL_STATUS_SET:
        if (val & ~status_bits(env)) {
            return PMU_GP;
        }
        pmu->global_status |= val;
        return PMU_DONE;
    case MSR_CORE_PERF_GLOBAL_STATUS:
    case MSR_PERF_GLOBAL_INUSE:
    case MSR_IA32_PERF_CAPABILITIES:
        return PMU_GP;
    case MSR_DEBUGCTL:
        return write_if(&pmu->debug_ctl, val, PMU_DEBUGCTL_VALID);
    case MSR_IA32_MISC_ENABLE:
        env->msr_ia32_misc_enable = val & ~misc_enable(env);
        return PMU_DONE;
    }
    return PMU_NOT_MINE;
}
