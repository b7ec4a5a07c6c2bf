/*
 * Which instructions are looked at for their loads and stores, while some
 * counter asks for these: one in so many, in the rings of such counters; and
 * those that instruction-based sampling tags.
 *
 * It is armed, as if it made a counter overflow.  What it accesses is noted by
 * code of gen_pmu_access(), which those TBs have that were asked for with one
 * instruction.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/translation-block.h"
#include "tcg/tcg.h"
#include "pmu.h"

/* A prime, so that a loop has all of its instructions looked at in the end */
#define INSNS_PER_LOOK  1009

void pmu_select_reset(CPUX86State *env)
{
    env->pmu.until_selected = INSNS_PER_LOOK;
}

void pmu_select_for(CPUX86State *env, X86PMUUnit unit, unsigned rings)
{
    if (unit == PMU_LOADS || unit == PMU_STORES) {
        env->pmu.select_rings |= rings;
    }
}

bool pmu_select(CPUX86State *env, int ring, uint64_t insns)
{
    X86PMUState *pmu = &env->pmu;

    if (!(pmu->select_rings & (1 << ring))) {
        return false;
    }
    pmu->until_selected -= insns;
    if (pmu->until_selected > 0) {
        return false;
    }
    pmu->until_selected = INSNS_PER_LOOK;
    return true;
}

/* Is somebody going to ask what the next instruction accesses?  */
static bool notes_access(CPUX86State *env, int ring)
{
    X86PMUState *pmu = &env->pmu;

    return ((pmu->select_rings & (1 << ring)) && pmu->until_selected == 1) ||
           ibs_tags_next(env);
}

bool pmu_may_arm(CPUX86State *env, int ring, uint32_t insns,
                 uintptr_t retaddr)
{
    if (insns != 1) {
        return false;
    }
    if (!notes_access(env, ring)) {
        return true;
    }
    /* A TB that has ended after one instruction by itself notes nothing.  */
    return (tb_cflags(tcg_tb_lookup(retaddr)) & CF_COUNT_MASK) == 1;
}

void pmu_select_arm(CPUX86State *env)
{
    memset(env->pmu.access, 0, sizeof(env->pmu.access));
}
