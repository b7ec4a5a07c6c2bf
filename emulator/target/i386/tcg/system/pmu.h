/*
 * What the parts of the emulated PMU know of each other: registers of Intel
 * and AMD, counting, and how PEBS takes part in it.
 *
 * Addresses and layouts of the registers are those of Intel's SDM, volumes 3
 * (chapter "Performance Monitoring") and 4, and of AMD's APM, volume 2
 * (chapter "Debug and Performance Resources").
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef I386_TCG_SYSTEM_PMU_H
#define I386_TCG_SYSTEM_PMU_H

#define PMU_WIDTH               48
#define PMU_MASK                MAKE_64BIT_MASK(0, PMU_WIDTH)

#define PMU_INTEL_GP            8
#define PMU_INTEL_FIXED         4
#define PMU_AMD_GP              6
#define PMU_AMD_LEGACY_GP       4

/* IA32_PERFEVTSELx, and what AMD's PERF_CTLx has in common with it */
#define PMU_EVTSEL_SELECT       0x00000000000000ffull
#define PMU_EVTSEL_UMASK        0x000000000000ff00ull
#define PMU_EVTSEL_USR          (1ull << 16)
#define PMU_EVTSEL_OS           (1ull << 17)
#define PMU_EVTSEL_EDGE         (1ull << 18)
#define PMU_EVTSEL_PC           (1ull << 19)
#define PMU_EVTSEL_INT          (1ull << 20)
#define PMU_EVTSEL_ANY_THREAD   (1ull << 21)
#define PMU_EVTSEL_EN           (1ull << 22)
#define PMU_EVTSEL_INV          (1ull << 23)
#define PMU_EVTSEL_CMASK        0x00000000ff000000ull
#define PMU_EVTSEL_ADAPTIVE     (1ull << 34)    /* Intel */
#define PMU_EVTSEL_SELECT_HI    0x0000000f00000000ull   /* AMD */
#define PMU_EVTSEL_GUEST_ONLY   (1ull << 40)    /* AMD */
#define PMU_EVTSEL_HOST_ONLY    (1ull << 41)    /* AMD */

/* IA32_FIXED_CTR_CTRL: four bits per counter, and one from bit 32 */
#define PMU_FIXED_CTRL_OS(i)        (1ull << (4 * (i)))
#define PMU_FIXED_CTRL_USR(i)       (2ull << (4 * (i)))
#define PMU_FIXED_CTRL_ANY(i)       (4ull << (4 * (i)))
#define PMU_FIXED_CTRL_INT(i)       (8ull << (4 * (i)))
#define PMU_FIXED_CTRL_ADAPTIVE(i)  (1ull << (32 + 4 * (i)))

/* IA32_PERF_GLOBAL_STATUS and its kin */
#define PMU_STATUS_ARCH_PEBS    (1ull << 54)
#define PMU_STATUS_LBR_FRZ      (1ull << 58)
#define PMU_STATUS_CTR_FRZ      (1ull << 59)
#define PMU_STATUS_ASCI         (1ull << 60)
#define PMU_STATUS_UNCORE       (1ull << 61)
#define PMU_STATUS_DS_BUFFER    (1ull << 62)
#define PMU_STATUS_COND_CHGD    (1ull << 63)
/* Those bits that say what has stopped, not what has overflowed */
#define PMU_STATUS_FROZEN       (PMU_STATUS_LBR_FRZ | PMU_STATUS_CTR_FRZ | \
                                 PMU_STATUS_ASCI)
#define PMU_INUSE_PMI           (1ull << 63)

/* IA32_PERF_GLOBAL_CTRL, and in GLOBAL_STATUS the overflow of them */
#define PMU_GLOBAL_METRICS      (1ull << 48)

#define PMU_DEBUGCTL_FREEZE     (1ull << 12)
/* LBR, BTF, TR..BTS_OFF_USR, FREEZE_LBRS, UNCORE_PMI, FREEZE_IN_SMM, RTM */
#define PMU_DEBUGCTL_VALID      (0xefc3ull | PMU_DEBUGCTL_FREEZE)

#define PMU_MISC_ENABLE_EMON        (1ull << 7)
#define PMU_MISC_ENABLE_NO_BTS      (1ull << 11)
#define PMU_MISC_ENABLE_NO_PEBS     (1ull << 12)

#define PMU_CAP_FULL_WIDTH      (1ull << 13)
#define PMU_CAP_PEBS_BASELINE   (1ull << 14)
#define PMU_CAP_METRICS         (1ull << 15)

#define PMU_RDPMC_FIXED         (1u << 30)
#define PMU_RDPMC_METRICS       (1u << 29)

/* Registers that cpu.h has no name for */
enum {
    MSR_DEBUGCTL                = 0x1d9,
    MSR_PERF_METRICS            = 0x329,
    MSR_PERF_GLOBAL_STATUS_SET  = 0x391,
    MSR_PERF_GLOBAL_INUSE       = 0x392,
    MSR_PMC_FULL                = 0x4c1,
    /* Perfmon version 6: four registers per counter */
    MSR_PMC_GP_V6               = 0x1900,
    MSR_PMC_FIXED_V6            = 0x1980,
    PMU_V6_STEP                 = 4,
    PMU_V6_CTR                  = 0,
    PMU_V6_CFG_A                = 1,
    PMU_V6_CFG_B                = 2,
    PMU_V6_CFG_C                = 3,

    MSR_AMD_GLOBAL_STATUS       = 0xc0000300,
    MSR_AMD_GLOBAL_CTL          = 0xc0000301,
    MSR_AMD_GLOBAL_STATUS_CLR   = 0xc0000302,
    MSR_AMD_GLOBAL_STATUS_SET   = 0xc0000303,
    MSR_AMD_LEGACY_CTL          = 0xc0010000,
    MSR_AMD_LEGACY_CTR          = 0xc0010004,
    MSR_AMD_CTL                 = 0xc0010200,
    MSR_AMD_CTR                 = 0xc0010201,

    MSR_IBS_OP_CTL              = 0xc0011033,
    MSR_IBS_OP_RIP              = 0xc0011034,
    MSR_IBS_OP_DATA             = 0xc0011035,
    MSR_IBS_OP_DATA2            = 0xc0011036,
    MSR_IBS_OP_DATA3            = 0xc0011037,
    MSR_IBS_DC_LIN_AD           = 0xc0011038,
    MSR_IBS_DC_PHYS_AD          = 0xc0011039,
    MSR_IBS_CTL                 = 0xc001103a,
};

/* What generated code counts; all events are multiples of one of them.  */
typedef enum X86PMUUnit {
    PMU_NOTHING,
    PMU_INSNS,
    PMU_BRANCHES,
    PMU_MISSES,                 /* every sixteenth of PMU_BRANCHES */
    PMU_LOADS,                  /* by those instructions that are looked at */
    PMU_STORES,
    PMU_UNITS,
} X86PMUUnit;

#define PMU_BRANCHES_PER_MISS   16

typedef struct X86PMUEvent {
    uint16_t select;
    uint8_t umask;
    X86PMUUnit unit;
    uint8_t weight;
} X86PMUEvent;

/* pmu-interrupt.c: interrupt as soon as LVTPC is not masked.  */
void pmu_interrupt(CPUX86State *env);

/*
 * An access that has hit a watchpoint is to be executed again, by itself, which
 * raises #DB.  If an interrupt comes before that, whose handler may take the
 * watchpoint away, the access hits it once more instead.
 */
static inline void pmu_forget_watchpoint(CPUState *cs)
{
    if (!(cs->interrupt_request & CPU_INTERRUPT_DEBUG)) {
        cs->watchpoint_hit = NULL;
    }
}

/* pmu-events.c: what a counter counts.  Never NULL.  */
const X86PMUEvent *pmu_event(CPUX86State *env, unsigned counter);

typedef enum X86PMUAccess {
    PMU_NOT_MINE,               /* there is no such register here */
    PMU_DONE,
    PMU_GP,                     /* #GP, and nothing has changed */
} X86PMUAccess;

/* pmu-intel.c and pmu-amd.c; the counters are up to date.  */
X86PMUAccess pmu_intel_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
X86PMUAccess pmu_intel_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);
X86PMUAccess pmu_amd_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
X86PMUAccess pmu_amd_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);

/* Version 6, that is CPUID leaf 0x23 */
bool pmu_v6(CPUX86State *env);
/* IA32_PERF_CAPABILITIES; 0 if there is no such register */
uint64_t pmu_capabilities(CPUX86State *env);

bool pmu_is_amd(CPUX86State *env);
/* Bit mask of the counters that there are, as in GLOBAL_CTRL */
uint64_t pmu_all_counters(CPUX86State *env);
/*
 * Counters are numbered as their bits in GLOBAL_CTRL: 0.. GP, 32.. fixed; and
 * there is X86_PMU_IBS.
 */
uint64_t *pmu_counter(CPUX86State *env, unsigned counter);

/*
 * pmu-select.c: instructions that are looked at for their loads and stores.
 */

void pmu_select_reset(CPUX86State *env);
/* A counter that counts this runs in these rings.  */
void pmu_select_for(CPUX86State *env, X86PMUUnit unit, unsigned rings);
/*
 * So many instructions have retired in this ring.  True if the last of them was
 * selected: it was armed, and env->pmu.access is about it.
 */
bool pmu_select(CPUX86State *env, int ring, uint64_t insns);
/*
 * insns_left[] runs out with the current TB, of @insns instructions, at
 * @retaddr: is it one alone, and are its accesses going to be noted if need be?
 */
bool pmu_may_arm(CPUX86State *env, int ring, uint32_t insns,
                 uintptr_t retaddr);
/* It is, and its accesses are going to be noted.  */
void pmu_select_arm(CPUX86State *env);

/*
 * pmu-metrics.c: PERF_METRICS.
 */

/* Check the property "perf-metrics".  */
bool pmu_metrics_realize(X86CPU *cpu, Error **errp);
bool pmu_has_metrics(CPUX86State *env);
/* The register's value; fixed counter 3 is up to date.  */
uint64_t pmu_metrics(CPUX86State *env);
/* These are the fractions of the slots counted so far.  */
void pmu_metrics_set(CPUX86State *env, uint64_t val);

/*
 * pmu-ibs.c: instruction-based sampling.
 */

/* Check the feature "ibs".  */
bool ibs_realize(X86CPU *cpu, Error **errp);
bool ibs_available(CPUX86State *env);
/* EAX of CPUID leaf 0x8000001B */
uint32_t ibs_cpuid(CPUX86State *env);
X86PMUAccess ibs_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
X86PMUAccess ibs_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);
/* False if it does not count at present; otherwise how, in *@r.  */
bool ibs_running(CPUX86State *env, X86PMURunning *r);
/* Does the next instruction to retire make the counter overflow?  */
bool ibs_tags_next(CPUX86State *env);
/*
 * Take X86_PMU_IBS out of the counters that overflowed with the instruction at
 * env->pmu.event_ip.  True if it was there: that instruction is the sample, and
 * nothing counts any more.
 */
bool ibs_overflow(CPUX86State *env, uint64_t *counters);

/*
 * PEBS.
 */

/* Check the properties of PEBS.  */
bool pebs_realize(X86CPU *cpu, Error **errp);
/* Overflow of this counter becomes a record, and not a status bit.  */
bool pebs_takes(CPUX86State *env, unsigned counter);
/* Does a load take as long as those that PEBS_LD_LAT asks for?  */
bool pebs_wants_load(CPUX86State *env);
/*
 * These counters overflowed together: write their record, reload them.  Called
 * between instructions, with all of env synchronized; the instruction at
 * @eventing_ip has retired.  True if that set a bit of env->pmu.global_status
 * which was clear, and asks for a PMI.
 */
bool pebs_overflow(CPUX86State *env, uint64_t counters, uint64_t eventing_ip);
X86PMUAccess pebs_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
X86PMUAccess pebs_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);
/* PEBS's part of IA32_PERF_CAPABILITIES; 0 if there is no PEBS at all */
uint64_t pebs_perf_capabilities(CPUX86State *env);
/* PEBS's part of CPUID leaf 0x23 */
void pebs_cpuid(CPUX86State *env, uint32_t subleaf, uint32_t *eax,
                uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

#endif /* I386_TCG_SYSTEM_PMU_H */
