/*
 * PEBS: the way from the PMU to the flavour of PEBS that a vCPU has, and the
 * parts of a record that both flavours share.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "cpu.h"
#include "pebs.h"

static unsigned format(CPUX86State *env)
{
    return env_archcpu(env)->pebs_fmt;
}

bool pebs_realize(X86CPU *cpu, Error **errp)
{
    CPUX86State *env = &cpu->env;

    switch (cpu->pebs_fmt) {
    case PEBS_FMT_NONE:
        return true;
    case PEBS_FMT_ADAPTIVE ... PEBS_FMT_COUNTERS:
    case PEBS_FMT_ARCH:
        break;
    default:
        error_setg(errp, "pebs-fmt is none of 0, %d to %d and %d",
                   PEBS_FMT_ADAPTIVE, PEBS_FMT_COUNTERS, PEBS_FMT_ARCH);
        return false;
    }
    if (!cpu->enable_pmu || !IS_INTEL_CPU(env)) {
        error_setg(errp, "pebs-fmt needs pmu=on and an Intel CPU");
        return false;
    }
    if (!(env->features[FEAT_1_ECX] & CPUID_EXT_PDCM)) {
        error_setg(errp, "pebs-fmt needs pdcm=on");
        return false;
    }
    if (cpu->pebs_fmt == PEBS_FMT_ARCH) {
        if (!pmu_v6(env)) {
            error_setg(errp, "pebs-fmt=%d needs arch-perfmon-ext=on",
                       PEBS_FMT_ARCH);
            return false;
        }
    } else if (!(env->features[FEAT_1_ECX] & CPUID_EXT_DTES64) ||
               !(env->features[FEAT_1_EDX] & CPUID_DTS)) {
        error_setg(errp, "pebs-fmt=%d needs ds=on and dtes64=on",
                   cpu->pebs_fmt);
        return false;
    }
    return true;
}

bool pebs_takes(CPUX86State *env, unsigned counter)
{
    switch (format(env)) {
    case PEBS_FMT_NONE:
        return false;
    case PEBS_FMT_ARCH:
        return pebs_arch_takes(env, counter);
    default:
        return pebs_ds_takes(env, counter);
    }
}

bool pebs_overflow(CPUX86State *env, uint64_t counters, uint64_t eventing_ip)
{
    if (format(env) == PEBS_FMT_ARCH) {
        return pebs_arch_overflow(env, counters, eventing_ip);
    }
    return pebs_ds_overflow(env, counters, eventing_ip);
}

X86PMUAccess pebs_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    X86PMUAccess result = format(env) == PEBS_FMT_NONE
                          ? PMU_NOT_MINE : pebs_memory_rdmsr(env, msr, val);

    if (result != PMU_NOT_MINE) {
        return result;
    }
    switch (format(env)) {
    case PEBS_FMT_NONE:
        return PMU_NOT_MINE;
    case PEBS_FMT_ARCH:
        return pebs_arch_rdmsr(env, msr, val);
    default:
        return pebs_ds_rdmsr(env, msr, val);
    }
}

X86PMUAccess pebs_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    X86PMUAccess result = format(env) == PEBS_FMT_NONE
                          ? PMU_NOT_MINE : pebs_memory_wrmsr(env, msr, val);

    if (result != PMU_NOT_MINE) {
        return result;
    }
    switch (format(env)) {
    case PEBS_FMT_NONE:
        return PMU_NOT_MINE;
    case PEBS_FMT_ARCH:
        return pebs_arch_wrmsr(env, msr, val);
    default:
        return pebs_ds_wrmsr(env, msr, val);
    }
}

uint64_t pebs_perf_capabilities(CPUX86State *env)
{
    uint64_t caps = PEBS_CAP_TRAP | PEBS_CAP_ARCH_REG;

    switch (format(env)) {
    case PEBS_FMT_NONE:
        return 0;
    case PEBS_FMT_ARCH:
        break;
    default:
        caps |= PEBS_CAP_BASELINE;
    }
    return caps | (uint64_t)format(env) << PEBS_CAP_FMT_SHIFT;
}

void pebs_cpuid(CPUX86State *env, uint32_t subleaf, uint32_t *eax,
                uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    if (format(env) == PEBS_FMT_ARCH) {
        pebs_arch_cpuid(env, subleaf, eax, ebx, ecx, edx);
    }
}

bool pebs_set_status(CPUX86State *env, uint64_t bit)
{
    bool was_set = env->pmu.global_status & bit;

    env->pmu.global_status |= bit;
    return !was_set;
}

void pebs_put(PEBSRecord *r, uint64_t word)
{
    g_assert(r->size + sizeof(word) <= sizeof(r->data));
    stq_le_p(r->data + r->size, word);
    r->size += sizeof(word);
}

void pebs_put_zeros(PEBSRecord *r, unsigned words)
{
    while (words--) {
        pebs_put(r, 0);
    }
}

void pebs_put_event(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    pebs_put(r, event->ip);
    pebs_put(r, event->counters);
    /* As RDTSC would give it */
    pebs_put(r, cpu_get_tsc(env) + env->tsc_offset);
}

void pebs_put_gprs(CPUX86State *env, PEBSRecord *r)
{
    pebs_put(r, cpu_compute_eflags(env));
    pebs_put(r, env->segs[R_CS].base + env->eip);
    /* The record has them in the order of their numbers in instructions.  */
    for (unsigned i = 0; i < CPU_NB_REGS64; i++) {
        pebs_put(r, i < CPU_NB_REGS ? env->regs[i] : 0);
    }
}

void pebs_put_vectors(CPUX86State *env, PEBSRecord *r, unsigned first,
                      unsigned last, unsigned from, unsigned to)
{
    for (unsigned i = first; i <= last; i++) {
        for (unsigned word = from; word < to; word++) {
            pebs_put(r, i < ARRAY_SIZE(env->xmm_regs)
                        ? env->xmm_regs[i].ZMM_Q(word) : 0);
        }
    }
}

void pebs_put_counters(CPUX86State *env, PEBSRecord *r, uint64_t counters,
                       bool metrics)
{
    pebs_put(r, counters);
    pebs_put(r, metrics ? PEBS_COUNTERS_METRICS : 0);
    while (counters) {
        pebs_put(r, *pmu_counter(env, ctz64(counters)));
        counters &= counters - 1;
    }
    if (metrics) {
        pebs_put(r, env->pmu.fixed[X86_PMU_FIXED_SLOTS]);
        pebs_put(r, pmu_metrics(env));
    }
}
