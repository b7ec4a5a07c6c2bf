/*
 * Counting: how the retired instructions and branches of a vCPU become values
 * of its performance counters, and when a counter overflows.
 *
 * Generated code only decrements countdowns (see X86PMUState) and calls in here
 * when one of them ran out.  That is when a counter is about to overflow, or
 * when the vCPU changed its ring while some counter counts in both: the
 * countdown of the other ring is then kept at 0.  What was executed is folded
 * into the counters, and the countdowns start anew.
 *
 * A counter overflows between two instructions.  The TB that would run past
 * that point is left before its first instruction; one that ends before the
 * overflowing instruction takes its place, and then one of that instruction
 * alone, which is said to be armed.  Nothing, not even an interrupt, may come
 * between it and the start of the next TB, where the overflow is settled.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "exec/translation-block.h"
#include "system/cpu-timers.h"
#include "tcg/helper-tcg.h"
#include "pmu.h"

/* Countdown for want of anything that happens earlier */
#define FAR_AWAY    (1 << 30)

bool x86_tcg_pmu;

bool pmu_is_amd(CPUX86State *env)
{
    return IS_AMD_CPU(env);
}

uint64_t pmu_all_counters(CPUX86State *env)
{
    if (pmu_is_amd(env)) {
        return MAKE_64BIT_MASK(0, PMU_AMD_GP);
    }
    return MAKE_64BIT_MASK(0, PMU_INTEL_GP) |
           MAKE_64BIT_MASK(X86_PMU_FIXED, PMU_INTEL_FIXED);
}

uint64_t *pmu_counter(CPUX86State *env, unsigned counter)
{
    if (counter == X86_PMU_IBS) {
        return &env->pmu.ibs.count;
    }
    return counter >= X86_PMU_FIXED ? &env->pmu.fixed[counter - X86_PMU_FIXED]
                                    : &env->pmu.gp[counter];
}

/* Rings as a bit mask; 0 if the counter does not run.  */
static unsigned rings_of(CPUX86State *env, unsigned counter)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t config;
    bool os, usr;

    if (!(pmu->global_ctrl & (1ull << counter)) ||
        (pmu->global_status & PMU_STATUS_CTR_FRZ)) {
        return 0;
    }
    if (counter >= X86_PMU_FIXED) {
        os = pmu->fixed_ctrl & PMU_FIXED_CTRL_OS(counter - X86_PMU_FIXED);
        usr = pmu->fixed_ctrl & PMU_FIXED_CTRL_USR(counter - X86_PMU_FIXED);
    } else {
        config = pmu->event_select[counter];
        if (!(config & PMU_EVTSEL_EN)) {
            return 0;
        }
        if (pmu_is_amd(env)) {
            bool guest = config & PMU_EVTSEL_GUEST_ONLY;
            bool host = config & PMU_EVTSEL_HOST_ONLY;

            /*
             * Both bits are as good as none.  Either alone needs SVM to be
             * enabled; and guests of the guest are not told from their host.
             */
            if (guest != host && (guest || !(env->efer & MSR_EFER_SVME))) {
                return 0;
            }
        }
        os = config & PMU_EVTSEL_OS;
        usr = config & PMU_EVTSEL_USR;
    }
    return os << X86_PMU_OS | usr << X86_PMU_USER;
}

static bool interrupts(CPUX86State *env, unsigned counter)
{
    X86PMUState *pmu = &env->pmu;

    if (counter >= X86_PMU_FIXED) {
        return pmu->fixed_ctrl & PMU_FIXED_CTRL_INT(counter - X86_PMU_FIXED);
    }
    return pmu->event_select[counter] & PMU_EVTSEL_INT;
}

/* Decode the MSRs.  */
static void configure(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t counters = pmu_all_counters(env);

    pmu->nr_running = 0;
    pmu->select_rings = 0;
    while (counters) {
        unsigned counter = ctz64(counters);
        unsigned rings = rings_of(env, counter);

        counters &= counters - 1;
        if (rings) {
            const X86PMUEvent *event = pmu_event(env, counter);

            if (event->unit != PMU_NOTHING) {
                pmu->running[pmu->nr_running++] = (X86PMURunning) {
                    .counter = counter,
                    .rings = rings,
                    .unit = event->unit,
                    .weight = event->weight,
                };
            }
            pmu_select_for(env, event->unit, rings);
        }
    }
    pmu->nr_running += ibs_running(env, &pmu->running[pmu->nr_running]);
}

static void fold_ring(CPUX86State *env, int ring)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t insns = pmu->insns_start[ring] - pmu->insns_left[ring];
    uint64_t branches = pmu->branches_start[ring] - pmu->branches_left[ring];
    uint64_t before = pmu->branches[ring];
    bool selected = pmu_select(env, ring, insns);
    uint64_t done[PMU_UNITS] = {
        [PMU_INSNS] = insns,
        [PMU_BRANCHES] = branches,
        [PMU_MISSES] = (before + branches) / PMU_BRANCHES_PER_MISS -
                       before / PMU_BRANCHES_PER_MISS,
        [PMU_LOADS] = selected && pmu->access[X86_PMU_LOAD].done &&
                      pebs_wants_load(env),
        [PMU_STORES] = selected && pmu->access[X86_PMU_STORE].done,
    };

    pmu->insns_start[ring] = pmu->insns_left[ring];
    pmu->branches_start[ring] = pmu->branches_left[ring];
    pmu->branches[ring] += branches;
    for (unsigned i = 0; i < pmu->nr_running; i++) {
        X86PMURunning *r = &pmu->running[i];
        uint64_t *val = pmu_counter(env, r->counter);

        if (r->rings & (1 << ring)) {
            *val += done[r->unit] * r->weight;
            if (*val & ~PMU_MASK) {
                *val &= PMU_MASK;
                pmu->overflowed |= 1ull << r->counter;
            }
        }
    }
}

/* Bring the counters up to date.  */
static void fold(CPUX86State *env)
{
    fold_ring(env, X86_PMU_OS);
    fold_ring(env, X86_PMU_USER);
}

/* Start the countdowns of a ring: how much can it execute undisturbed?  */
static void start_ring(CPUX86State *env, int ring, bool at_once)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t insns = FAR_AWAY, branches = FAR_AWAY;

    for (unsigned i = 0; i < pmu->nr_running; i++) {
        X86PMURunning *r = &pmu->running[i];
        uint64_t ticks = PMU_MASK + 1 - *pmu_counter(env, r->counter);

        if (!(r->rings & (1 << ring))) {
            continue;
        }
        switch (r->unit) {
        case PMU_INSNS:
            insns = MIN(insns, DIV_ROUND_UP(ticks, r->weight));
            break;
        case PMU_BRANCHES:
            branches = MIN(branches, ticks);
            break;
        case PMU_MISSES:
            branches = MIN(branches, ticks * PMU_BRANCHES_PER_MISS -
                           pmu->branches[ring] % PMU_BRANCHES_PER_MISS);
            break;
        }
    }
    if (pmu->select_rings & (1 << ring)) {
        insns = MIN(insns, pmu->until_selected);
    }
    if (at_once) {
        insns = 0;
    }
    pmu->insns_left[ring] = pmu->insns_start[ring] = insns;
    pmu->branches_left[ring] = pmu->branches_start[ring] = branches;
}

static void start(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    int ring = x86_pmu_ring(env->hflags);
    /* There is something to do as soon as the next TB starts.  */
    bool at_once = pmu->overflowed || pmu->armed;
    bool both = pmu->select_rings == (1 << X86_PMU_OS | 1 << X86_PMU_USER);

    for (unsigned i = 0; i < pmu->nr_running; i++) {
        both |= pmu->running[i].rings == (1 << X86_PMU_OS | 1 << X86_PMU_USER);
    }
    start_ring(env, ring, at_once);
    start_ring(env, !ring, at_once || both);
}

/*
 * Make known which counters overflowed.  The vCPU is between two instructions,
 * and its state is synchronized.
 */
static void settle(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t overflowed = pmu->overflowed;
    uint64_t recorded = 0;
    bool pmi = false;

    pmu->overflowed = 0;
    if (ibs_overflow(env, &overflowed)) {
        configure(env);
    }
    while (overflowed) {
        unsigned counter = ctz64(overflowed);
        uint64_t bit = 1ull << counter;

        overflowed &= ~bit;
        if (pebs_takes(env, counter)) {
            recorded |= bit;
        } else if (!(pmu->global_status & bit)) {
            pmu->global_status |= bit;
            pmi |= interrupts(env, counter);
        }
    }
    if (recorded) {
        pmi |= pebs_overflow(env, recorded, pmu->event_ip);
    }
    if (!pmi) {
        return;
    }
    if (pmu->debug_ctl & PMU_DEBUGCTL_FREEZE) {
        pmu->global_status |= PMU_STATUS_CTR_FRZ;
        configure(env);
    }
    pmu_interrupt(env);
}

/* Have the next TB execute @insns instructions at most.  */
static void limit_next_tb(CPUState *cs, unsigned insns, uint32_t cflags)
{
    cs->cflags_next_tb = cs->tcg_cflags | cflags | insns;
}

/*
 * The instruction that is next, or was last, overflows a counter: when it has
 * retired, come back here before anything else, through the next TB.
 */
static void come_back(CPUState *cs)
{
    limit_next_tb(cs, 1, CF_NOIRQ);
    if (icount_enabled()) {
        /*
         * Through the main loop at once: a TB that the current one is linked
         * to might find the budget spent, and that has another TB made next.
         */
        qatomic_set(&cs->neg.icount_decr.u16.high, -1);
    }
}

/* The only instruction of the current TB overflows a counter, or is selected */
static void arm(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;

    pmu->armed = true;
    pmu->event_ip = env->eip;
    pmu_select_arm(env);
    /* It may be one that changes the ring.  */
    start_ring(env, !x86_pmu_ring(env->hflags), true);
    come_back(env_cpu(env));
}

/* A TB of @insns instructions starts, and insns_left[] has run out.  */
void helper_pmu_tb(CPUX86State *env, uint32_t insns)
{
    CPUState *cs = env_cpu(env);
    X86PMUState *pmu = &env->pmu;
    int ring = x86_pmu_ring(env->hflags);
    int32_t left;
    bool leave;

    /* Nothing of this TB was executed yet.  */
    pmu->insns_left[ring] += insns;
    fold(env);

    /*
     * If the armed instruction did not retire, because of a fault, or as it was
     * not atomic, or is a string instruction that begins a further round, then
     * leave nonetheless: this TB ignores interrupts and the budget of -icount.
     * Not in the exclusive context, to get past here, nor after a watchpoint.
     */
    leave = pmu->overflowed || (pmu->armed && !cs->watchpoint_hit &&
                                !cpu_in_exclusive_context(cs));
    pmu->armed = false;
    start(env);

    left = pmu->insns_left[ring];
    if (leave) {
        cs->cflags_next_tb = -1;
    } else if (insns < left || pmu_may_arm(env, ring, insns, GETPC())) {
        if (insns == left) {
            arm(env);
        }
        pmu->insns_left[ring] -= insns;
        return;
    } else {
        limit_next_tb(cs, MAX(left - 1, 1), 0);
    }

    /* Restoring gives back what the TB has taken.  */
    pmu->insns_left[ring] -= insns;
    cpu_restore_state(cs, GETPC());
    pmu_forget_watchpoint(cs);
    if (pmu->overflowed) {
        /* As between any two TBs; interrupts may be raised now.  */
        cs->neg.can_do_io = true;
        settle(env);
        start(env);
    }
    cpu_loop_exit_noexc(cs);
}

/*
 * The branch at @eip, the last instruction of its TB, has retired and let
 * branches_left[] run out.
 */
void helper_pmu_branch(CPUX86State *env, target_ulong eip)
{
    fold(env);
    if (env->pmu.overflowed) {
        env->pmu.event_ip = eip;
        come_back(env_cpu(env));
    }
    start(env);
}

void x86_pmu_halt(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;

    if (pmu->armed) {
        fold(env);
        pmu->armed = false;
        env_cpu(env)->cflags_next_tb = -1;
        settle(env);
        start(env);
    }
}

/*
 * An instruction that reads counters has not retired yet, though it is the last
 * of its TB, which has taken it off insns_left[].
 */
static void fold_until_now(CPUX86State *env)
{
    int ring = x86_pmu_ring(env->hflags);

    env->pmu.insns_left[ring]++;
    fold(env);
    env->pmu.insns_left[ring]--;
}

bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val,
                   uintptr_t retaddr)
{
    X86PMUAccess result;

    if (!x86_tcg_pmu) {
        return false;
    }
    fold_until_now(env);
    result = pmu_is_amd(env) ? pmu_amd_rdmsr(env, msr, val)
                             : pmu_intel_rdmsr(env, msr, val);
    if (result == PMU_GP) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, retaddr);
    }
    return result == PMU_DONE;
}

bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val,
                   uintptr_t retaddr)
{
    X86PMUAccess result;

    if (!x86_tcg_pmu) {
        return false;
    }
    fold_until_now(env);
    result = pmu_is_amd(env) ? pmu_amd_wrmsr(env, msr, val)
                             : pmu_intel_wrmsr(env, msr, val);
    if (result == PMU_GP) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, retaddr);
    }
    if (result == PMU_DONE) {
        if (!env->pmu.armed) {
            env->pmu.event_ip = env->eip;
        }
        /* WRMSR itself is counted as it was begun.  */
        fold(env);
        configure(env);
        start(env);
    }
    return result == PMU_DONE;
}

/* What RDPMC's operand asks for, if there is such a thing */
static bool rdpmc(CPUX86State *env, uint32_t index, uint64_t *val)
{
    uint32_t n = index & ~PMU_RDPMC_FIXED;
    unsigned counter = index & PMU_RDPMC_FIXED ? X86_PMU_FIXED + n : n;

    if (index == PMU_RDPMC_METRICS && pmu_has_metrics(env)) {
        *val = pmu_metrics(env);
        return true;
    }
    if (n >= X86_PMU_FIXED || !(pmu_all_counters(env) & (1ull << counter))) {
        return false;
    }
    *val = *pmu_counter(env, counter);
    return true;
}

void helper_pmu_rdpmc(CPUX86State *env)
{
    uint64_t val;

    if (!(env->cr[4] & CR4_PCE_MASK) && (env->hflags & HF_CPL_MASK)) {
        raise_exception_ra(env, EXCP0D_GPF, GETPC());
    }
    cpu_svm_check_intercept_param(env, SVM_EXIT_RDPMC, 0, GETPC());
    fold_until_now(env);
    if (!rdpmc(env, env->regs[R_ECX], &val)) {
        raise_exception_ra(env, EXCP0D_GPF, GETPC());
    }
    env->regs[R_EAX] = (uint32_t)val;
    env->regs[R_EDX] = val >> 32;
}

bool x86_pmu_realize(X86CPU *cpu, Error **errp)
{
    static bool decided;

    if (decided && x86_tcg_pmu != cpu->enable_pmu) {
        error_setg(errp, "either all CPUs have pmu=on, or none");
        return false;
    }
    decided = true;
    x86_tcg_pmu = cpu->enable_pmu;
    return pmu_metrics_realize(cpu, errp) && pebs_realize(cpu, errp) &&
           ibs_realize(cpu, errp);
}

void x86_pmu_reset(CPUX86State *env)
{
    /* Software that does not know of it need not enable counters globally.  */
    env->pmu.global_ctrl = pmu_all_counters(env) &
                           MAKE_64BIT_MASK(0, X86_PMU_FIXED);
    pmu_select_reset(env);
}

void x86_pmu_pre_save(CPUX86State *env)
{
    fold(env);
    start(env);
}

void x86_pmu_post_load(CPUX86State *env)
{
    configure(env);
    start(env);
}
