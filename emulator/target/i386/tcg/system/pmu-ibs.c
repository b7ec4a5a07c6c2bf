/*
 * Instruction-based sampling (IBS) of AMD's processors: execution sampling.
 *
 * A counter of its own counts cycles or dispatched ops up to a maximum that
 * software gives.  The next op is tagged then; when it retires, registers tell
 * what is known of it, and an entry of the extended LVT interrupts.  Nothing
 * counts until software has cleared IbsOpVal.
 *
 * Addresses and layouts of the registers are those of AMD's APM, volume 2,
 * chapter "Debug and Performance Resources", section on instruction-based
 * sampling, and of the Processor Programming References.  Fetch sampling is
 * left out, and CPUID says so.
 *
 * Each instruction is one op here.  The one that is tagged is the one with
 * which the counter reaches its maximum, so it can be told like any other that
 * overflows a counter, and so can the addresses that it accesses.  How long
 * that took, and where the data came from, is always the same, as in records
 * of PEBS.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "cpu.h"
#include "hw/i386/apic.h"
#include "pmu.h"

/* IBS_OP_CTL.  Both counts lack their four lowest bits, or have none.  */
#define OP_MAX_CNT          0x000000000000ffffull   /* bits 19:4 of the count */
#define OP_EN               (1ull << 17)
#define OP_VAL              (1ull << 18)
#define OP_CNT_CTL          (1ull << 19)            /* ops, not cycles */
#define OP_MAX_CNT_EXT      0x0000000007f00000ull   /* bits 26:20 */
#define OP_CUR_CNT_SHIFT    32
#define OP_CUR_CNT_LENGTH   27
#define OP_CTL_VALID        (OP_MAX_CNT | OP_EN | OP_VAL | OP_CNT_CTL | \
                             OP_MAX_CNT_EXT | \
                             MAKE_64BIT_MASK(OP_CUR_CNT_SHIFT, \
                                             OP_CUR_CNT_LENGTH))

/* IBS_CTL: which entry of the extended LVT, and that this is valid */
#define CTL_LVT             0
#define CTL_LVT_VALID       (1ull << 8)

/* CPUID leaf 0x8000001B */
#define CAP_AVAILABLE       (1u << 0)
#define CAP_OP_SAMPLING     (1u << 2)
#define CAP_RDWR_OP_CNT     (1u << 3)
#define CAP_OP_CNT          (1u << 4)
#define CAP_OP_CNT_EXT      (1u << 6)
#define CAP_RIP_INVALID     (1u << 7)   /* IBS_OP_DATA would say so */

/* IBS_OP_DATA: cycles from tag to retirement */
#define DATA_TAG_TO_RET_SHIFT   16

/* IBS_OP_DATA3 */
#define DATA3_LOAD          (1ull << 0)
#define DATA3_STORE         (1ull << 1)
#define DATA3_DC_MISS       (1ull << 7)
#define DATA3_LIN_VALID     (1ull << 17)
#define DATA3_PHYS_VALID    (1ull << 18)
#define DATA3_MISS_LAT_SHIFT    32

enum {
    CYCLES_PER_OP   = 2,        /* as performance counters have it */
    LATENCY         = 64,       /* of an op, and of a hit in L2 */
};

bool ibs_realize(X86CPU *cpu, Error **errp)
{
    if (ibs_available(&cpu->env) &&
        (!cpu->enable_pmu || !IS_AMD_CPU(&cpu->env))) {
        error_setg(errp, "ibs needs pmu=on and an AMD CPU");
        return false;
    }
    return true;
}

bool ibs_available(CPUX86State *env)
{
    return env->features[FEAT_8000_0001_ECX] & CPUID_EXT3_IBS;
}

uint32_t ibs_cpuid(CPUX86State *env)
{
    if (!ibs_available(env)) {
        return 0;
    }
    return CAP_AVAILABLE | CAP_OP_SAMPLING | CAP_RDWR_OP_CNT | CAP_OP_CNT |
           CAP_OP_CNT_EXT | CAP_RIP_INVALID;
}

static uint64_t max_count(X86IBSState *ibs)
{
    return (ibs->op_ctl & OP_MAX_CNT) << 4 | (ibs->op_ctl & OP_MAX_CNT_EXT);
}

static bool is_counting(X86IBSState *ibs)
{
    return (ibs->op_ctl & OP_EN) && !(ibs->op_ctl & OP_VAL) && max_count(ibs);
}

bool ibs_running(CPUX86State *env, X86PMURunning *r)
{
    X86IBSState *ibs = &env->pmu.ibs;

    if (!is_counting(ibs)) {
        return false;
    }
    *r = (X86PMURunning) {
        .counter = X86_PMU_IBS,
        .rings = 1 << X86_PMU_OS | 1 << X86_PMU_USER,
        .unit = PMU_INSNS,
        .weight = ibs->op_ctl & OP_CNT_CTL ? 1 : CYCLES_PER_OP,
    };
    return true;
}

bool ibs_tags_next(CPUX86State *env)
{
    X86PMURunning r;

    return ibs_running(env, &r) &&
           PMU_MASK + 1 - env->pmu.ibs.count <= r.weight;
}

/*
 * ibs->count is what IbsOpCurCnt says, less the maximum: like a performance
 * counter it overflows when the maximum is reached.
 */
static void set_count(X86IBSState *ibs, uint64_t count)
{
    ibs->count = (MIN(count, max_count(ibs) - 1) - max_count(ibs)) & PMU_MASK;
}

static uint64_t get_count(X86IBSState *ibs)
{
    return (ibs->count + max_count(ibs)) & PMU_MASK;
}

static uint64_t *find_msr(X86IBSState *ibs, uint32_t msr)
{
    switch (msr) {
    case MSR_IBS_OP_RIP:
        return &ibs->op_rip;
    case MSR_IBS_OP_DATA:
        return &ibs->op_data;
    case MSR_IBS_OP_DATA2:
        return &ibs->op_data2;
    case MSR_IBS_OP_DATA3:
        return &ibs->op_data3;
    case MSR_IBS_DC_LIN_AD:
        return &ibs->dc_lin_ad;
    case MSR_IBS_DC_PHYS_AD:
        return &ibs->dc_phys_ad;
    }
    return NULL;
}

X86PMUAccess ibs_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    X86IBSState *ibs = &env->pmu.ibs;
    uint64_t *reg = find_msr(ibs, msr);

    if (!ibs_available(env)) {
        return PMU_NOT_MINE;
    }
    if (msr == MSR_IBS_OP_CTL) {
        *val = ibs->op_ctl;
        if (is_counting(ibs)) {
            *val = deposit64(*val, OP_CUR_CNT_SHIFT, OP_CUR_CNT_LENGTH,
                             get_count(ibs));
        }
        return PMU_DONE;
    }
    if (msr == MSR_IBS_CTL) {
        *val = CTL_LVT | CTL_LVT_VALID;
        return PMU_DONE;
    }
    if (!reg) {
        return PMU_NOT_MINE;
    }
    *val = *reg;
    return PMU_DONE;
}

X86PMUAccess ibs_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    X86IBSState *ibs = &env->pmu.ibs;
    uint64_t *reg = find_msr(ibs, msr);

    if (!ibs_available(env)) {
        return PMU_NOT_MINE;
    }
    if (msr == MSR_IBS_OP_CTL) {
        ibs->op_ctl = val & OP_CTL_VALID;
        if (is_counting(ibs)) {
            set_count(ibs, extract64(val, OP_CUR_CNT_SHIFT,
                                     OP_CUR_CNT_LENGTH));
        }
        return PMU_DONE;
    }
    if (msr == MSR_IBS_CTL) {
        return PMU_GP;
    }
    if (!reg) {
        return PMU_NOT_MINE;
    }
    *reg = val;
    return PMU_DONE;
}

static void set_access(CPUX86State *env)
{
    X86IBSState *ibs = &env->pmu.ibs;
    bool load = env->pmu.access[X86_PMU_LOAD].done;
    bool store = env->pmu.access[X86_PMU_STORE].done;
    MemTxAttrs attrs;
    hwaddr page;

    ibs->op_data3 = 0;
    if (!load && !store) {
        return;
    }
    ibs->dc_lin_ad = env->pmu.access[load ? X86_PMU_LOAD
                                          : X86_PMU_STORE].addr;
    ibs->op_data3 = (load ? DATA3_LOAD : 0) | (store ? DATA3_STORE : 0) |
                    DATA3_LIN_VALID;
    if (load) {
        ibs->op_data3 |= DATA3_DC_MISS |
                         (uint64_t)LATENCY << DATA3_MISS_LAT_SHIFT;
    }
    page = x86_cpu_get_phys_page_attrs_debug(env_cpu(env),
                                             ibs->dc_lin_ad & TARGET_PAGE_MASK,
                                             &attrs);
    if (page != -1) {
        ibs->dc_phys_ad = page | (ibs->dc_lin_ad & ~TARGET_PAGE_MASK);
        ibs->op_data3 |= DATA3_PHYS_VALID;
    }
}

bool ibs_overflow(CPUX86State *env, uint64_t *counters)
{
    X86IBSState *ibs = &env->pmu.ibs;
    DeviceState *apic = env_archcpu(env)->apic_state;
    uint64_t bit = 1ull << X86_PMU_IBS;

    if (!(*counters & bit)) {
        return false;
    }
    *counters &= ~bit;
    ibs->op_ctl = deposit64(ibs->op_ctl, OP_CUR_CNT_SHIFT, OP_CUR_CNT_LENGTH,
                            0) | OP_VAL;
    ibs->op_rip = env->segs[R_CS].base + env->pmu.event_ip;
    ibs->op_data = LATENCY << DATA_TAG_TO_RET_SHIFT;
    ibs->op_data2 = 0;
    set_access(env);
    if (apic) {
        BQL_LOCK_GUARD();
        apic_deliver_ext(apic, CTL_LVT);
    }
    return true;
}
