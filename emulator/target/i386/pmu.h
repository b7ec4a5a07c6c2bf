/*
 * The performance monitoring unit that TCG emulates: its state in a vCPU, and
 * what the rest of target/i386 may ask of it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef I386_PMU_H
#define I386_PMU_H

#define X86_PMU_GP_MAX      8
#define X86_PMU_FIXED_MAX   4
/* Number of the first fixed counter, also its bit in GLOBAL_CTRL and STATUS */
#define X86_PMU_FIXED       32
/* The fixed counter that PERF_METRICS divides */
#define X86_PMU_FIXED_SLOTS 3
/* Instruction-based sampling counts as if it were this counter.  */
#define X86_PMU_IBS         63

/* What the translator tells apart when it counts: the ring of a TB */
enum {
    X86_PMU_OS,
    X86_PMU_USER,
    X86_PMU_RINGS,
};

/* The accesses to memory that counters can be about */
enum {
    X86_PMU_LOAD,
    X86_PMU_STORE,
    X86_PMU_ACCESSES,
};

/* The ring that the flags of a TB, or of a vCPU, tell */
static inline int x86_pmu_ring(uint32_t hflags)
{
    return (hflags & 3) == 3 ? X86_PMU_USER : X86_PMU_OS;
}

/* One counter that runs at present, decoded from the MSRs */
typedef struct X86PMURunning {
    uint8_t counter;
    uint8_t rings;              /* bit mask of X86_PMU_OS, X86_PMU_USER */
    uint8_t unit;               /* X86PMUUnit */
    uint8_t weight;             /* ticks per unit */
} X86PMURunning;

/* MSRs of PEBS; a vCPU has those of one flavour, if any.  */
typedef struct X86PEBSState {
    /* Adaptive PEBS */
    uint64_t ds_area;
    uint64_t enable;
    uint64_t data_cfg;
    /* PEBS_LD_LAT, which both flavours have */
    uint64_t load_latency;

    /* Architectural PEBS; config is CFG_C */
    uint64_t base;
    uint64_t index;
    uint64_t gp_config[X86_PMU_GP_MAX];
    uint64_t fixed_config[X86_PMU_FIXED_MAX];
} X86PEBSState;

/* MSRs of instruction-based sampling, which AMD's processors have */
typedef struct X86IBSState {
    uint64_t op_ctl;
    uint64_t op_rip;
    uint64_t op_data;
    uint64_t op_data2;
    uint64_t op_data3;
    uint64_t dc_lin_ad;
    uint64_t dc_phys_ad;
    /* Counts up to an overflow while op_ctl has it counting */
    uint64_t count;
} X86IBSState;

typedef struct X86PMUState {
    /*
     * Countdowns that generated code decrements, and where they started.
     * A TB takes the number of all its instructions off insns_left[] before
     * the first of them, and calls helper_pmu_tb() when nothing is left;
     * instructions that did not retire are given back.
     */
    int32_t insns_left[X86_PMU_RINGS];
    int32_t branches_left[X86_PMU_RINGS];
    int32_t insns_start[X86_PMU_RINGS];
    int32_t branches_start[X86_PMU_RINGS];

    /* The next instruction to retire, at event_ip, overflows a counter.  */
    bool armed;
    /* RIP of the instruction that made, or will make, a counter overflow */
    uint64_t event_ip;
    /* Counters that have overflowed, and nobody has been told yet */
    uint64_t overflowed;
    /* An interrupt is due as soon as LVTPC is not masked any more.  */
    bool pmi_held;
    /*
     * One instruction in so many, out of those in these rings, is looked at for
     * its loads and stores.  It is made armed, and translated in a TB of its
     * own, which notes what it accesses.
     */
    int32_t until_selected;
    uint8_t select_rings;
    struct {
        bool done;
        target_ulong addr;
    } access[X86_PMU_ACCESSES];
    /* Branches retired per ring, of which every sixteenth is mispredicted */
    uint64_t branches[X86_PMU_RINGS];

    /* MSRs.  The counters are up to date while the vCPU's MSRs are accessed. */
    uint64_t gp[X86_PMU_GP_MAX];
    uint64_t fixed[X86_PMU_FIXED_MAX];
    uint64_t event_select[X86_PMU_GP_MAX];
    uint64_t fixed_ctrl;
    uint64_t global_ctrl;
    uint64_t global_status;
    uint64_t debug_ctl;
    /* PERF_METRICS as it was when so many slots had been counted */
    uint64_t metrics;
    uint64_t metrics_slots;
    X86PEBSState pebs;
    X86IBSState ibs;

    /* Follows from the MSRs */
    X86PMURunning running[X86_PMU_GP_MAX + X86_PMU_FIXED_MAX + 1];
    unsigned nr_running;
} X86PMUState;

/*
 * True if the vCPUs of this process have the emulated PMU.  It does not change
 * after the first vCPU was realized, so translated code may depend on it.
 */
#if defined CONFIG_USER_ONLY || !defined CONFIG_TCG
#define x86_tcg_pmu false
#else
extern bool x86_tcg_pmu;
#endif

/* Refuses a vCPU whose "pmu" property differs from that of the others.  */
bool x86_pmu_realize(X86CPU *cpu, Error **errp);
void x86_pmu_reset(CPUArchState *env);
/* Bring the MSRs in X86PMUState up to date; the vCPU must not be running.  */
void x86_pmu_pre_save(CPUArchState *env);
void x86_pmu_post_load(CPUArchState *env);

/* Change the contents of a CPUID leaf into what the PMU has to say in it.  */
void x86_pmu_cpuid(CPUArchState *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);
/* The highest leaf that x86_pmu_cpuid() needs the guest to see, per range */
uint32_t x86_pmu_cpuid_level(CPUArchState *env);
uint32_t x86_pmu_cpuid_xlevel(CPUArchState *env);

/*
 * RDMSR and WRMSR: true if the register is one of the PMU's.  Raise #GP, at
 * @retaddr, as hardware does.
 */
bool x86_pmu_rdmsr(CPUArchState *env, uint32_t msr, uint64_t *val,
                   uintptr_t retaddr);
bool x86_pmu_wrmsr(CPUArchState *env, uint32_t msr, uint64_t val,
                   uintptr_t retaddr);

/*
 * Software has written LVTPC and left it unmasked.  With the BQL held, and by
 * the thread of the vCPU.
 */
void x86_pmu_lvtpc_unmasked(CPUArchState *env);

/* The vCPU executed HLT, is at the next instruction, and is going to sleep.  */
void x86_pmu_halt(CPUArchState *env);

#endif /* I386_PMU_H */
