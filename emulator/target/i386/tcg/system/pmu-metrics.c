/*
 * PERF_METRICS: into which kinds the issue slots divide that fixed counter 3
 * counts, as fractions of 255.
 *
 * The register is described in Intel's SDM, volume 3, chapter "Performance
 * Monitoring", section on performance metrics; what the kinds mean, in Intel's
 * Optimization Reference Manual, on the Top-down method.
 *
 * TCG has no pipeline in which slots could be lost, so the slots of all code
 * divide alike.  No two kinds get the same, so that software which confuses
 * them can be told.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "cpu.h"
#include "pmu.h"

#define FRACTION_BITS   8

/* The first four add up to 255; each of the others is a part of one of these */
static const uint8_t fractions[] = {
    21,                         /* retiring: one slot of an instruction's 12 */
    42,                         /* bad speculation */
    64,                         /* frontend bound */
    128,                        /* backend bound */
    7,                          /* retiring: heavy operations */
    14,                         /* bad speculation: branch mispredictions */
    32,                         /* frontend bound: fetch latency */
    96,                         /* backend bound: memory bound */
};

bool pmu_metrics_realize(X86CPU *cpu, Error **errp)
{
    CPUX86State *env = &cpu->env;

    if (cpu->perf_metrics &&
        (!cpu->enable_pmu || !IS_INTEL_CPU(env) ||
         !(env->features[FEAT_1_ECX] & CPUID_EXT_PDCM))) {
        error_setg(errp, "perf-metrics needs pmu=on, pdcm=on and an Intel CPU");
        return false;
    }
    return true;
}

bool pmu_has_metrics(CPUX86State *env)
{
    return env_archcpu(env)->perf_metrics;
}

uint64_t pmu_metrics(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t slots = pmu->fixed[X86_PMU_FIXED_SLOTS];
    uint64_t before = pmu->metrics_slots;
    uint64_t val = 0;

    if (slots < before) {
        /* The counter has been written to, reloaded, or has wrapped around.  */
        before = 0;
    }
    if (!(pmu->global_ctrl & PMU_GLOBAL_METRICS) || slots == before) {
        return pmu->metrics;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(fractions); i++) {
        uint64_t old = extract64(pmu->metrics, i * FRACTION_BITS,
                                 FRACTION_BITS);
        uint64_t fraction = (old * before + fractions[i] * (slots - before)) /
                            slots;

        val |= fraction << (i * FRACTION_BITS);
    }
    return val;
}

void pmu_metrics_set(CPUX86State *env, uint64_t val)
{
    env->pmu.metrics = val;
    env->pmu.metrics_slots = env->pmu.fixed[X86_PMU_FIXED_SLOTS];
}
