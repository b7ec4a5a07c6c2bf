/*
 * PEBS, the processor's own recording of state when a counter overflows: what
 * its two flavours have in common, and the layout of their registers and
 * records.
 *
 * - Adaptive PEBS (PEBS formats 4 to 6) is described in Intel's SDM, volume 3,
 *   chapter "Performance Monitoring", sections on adaptive PEBS and the debug
 *   store (DS) area.  Records go to linear addresses.
 * - Architectural PEBS is described in Intel's "Architecture Instruction Set
 *   Extensions and Future Features", chapter on architectural PEBS.  Records go
 *   to physical addresses.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef I386_TCG_SYSTEM_PEBS_H
#define I386_TCG_SYSTEM_PEBS_H

#include "pmu.h"

/* IA32_PERF_CAPABILITIES.PEBS_FMT, and the property "pebs-fmt" */
enum {
    PEBS_FMT_NONE           = 0,
    PEBS_FMT_ADAPTIVE       = 4,
    PEBS_FMT_FIXED_SLOTS    = 5,    /* reset values of fixed counters moved */
    PEBS_FMT_COUNTERS       = 6,    /* records can hold counters */
    PEBS_FMT_ARCH           = 15,
};

#define PEBS_CAP_TRAP           (1ull << 6)
#define PEBS_CAP_ARCH_REG       (1ull << 7)
#define PEBS_CAP_FMT_SHIFT      8
#define PEBS_CAP_BASELINE       PMU_CAP_PEBS_BASELINE

/* Registers that cpu.h has no name for */
enum {
    MSR_PEBS_ENABLE         = 0x3f1,
    MSR_PEBS_DATA_CFG       = 0x3f2,
    MSR_PEBS_BASE           = 0x3f4,
    MSR_PEBS_INDEX          = 0x3f5,
    MSR_PEBS_LD_LAT         = 0x3f6,
    MSR_DS_AREA             = 0x600,
};

/*
 * Adaptive PEBS.
 */

/* MSR_PEBS_DATA_CFG; a record's first word repeats the lower half of it.  */
#define PEBS_CFG_MEMINFO        (1ull << 0)
#define PEBS_CFG_GPR            (1ull << 1)
#define PEBS_CFG_XMM            (1ull << 2)
#define PEBS_CFG_LBR            (1ull << 3)
#define PEBS_CFG_COUNTERS       (1ull << 4)
#define PEBS_CFG_METRICS        (1ull << 5)
#define PEBS_CFG_LBR_SHIFT      24      /* number of LBR entries less 1 */
#define PEBS_CFG_LBR_LENGTH     5
#define PEBS_CFG_GP_SHIFT       32      /* which counters are recorded */
#define PEBS_CFG_GP_LENGTH      16
#define PEBS_CFG_FIXED_SHIFT    48
#define PEBS_CFG_FIXED_LENGTH   8

#define PEBS_FORMAT_LENGTH      32
#define PEBS_FORMAT_SIZE_SHIFT  48

/* What the bit mask of metrics says if they follow: both words do */
#define PEBS_COUNTERS_METRICS   3

/* Words of groups that are recorded as zeros */
#define PEBS_LBR_WORDS          3

/* Offsets in the DS area */
#define DS_PEBS_BUFFER          0x20
#define DS_PEBS_INDEX           0x28
#define DS_PEBS_MAXIMUM         0x30
#define DS_PEBS_THRESHOLD       0x38
#define DS_PEBS_RESET           0x40
/* Which of the reset values belongs to the first fixed counter */
#define DS_RESET_FIXED_FMT4     8
#define DS_RESET_FIXED          32

/*
 * Architectural PEBS.
 */

/* IA32_PEBS_BASE: a page's address; the buffer has 2 ** SIZE pages.  */
#define PEBS_BASE_SIZE_LENGTH   4
#define PEBS_BASE_PAGE_SHIFT    12

/* IA32_PEBS_INDEX; WR and THRESH count units of 16 bytes.  */
#define PEBS_INDEX_WR_SHIFT     4
#define PEBS_INDEX_FULL         (1ull << 31)
#define PEBS_INDEX_EN           (1ull << 32)
#define PEBS_INDEX_THRESH_SHIFT 36
#define PEBS_INDEX_LENGTH       23
#define PEBS_INDEX_UNIT         16

/*
 * IA32_PMC_GPx_CFG_C and IA32_PMC_FXx_CFG_C; the groups have the same bits in a
 * record's header, and bits 63:32 in sub-leaf 4 of CPUID leaf 0x23.
 * Bit 51 is not in public documents that we know; it is the obvious gap.
 */
#define PEBS_CFG_C_RELOAD       0x00000000ffffffffull
#define PEBS_CFG_C_ALLOW        (1ull << 35)    /* others may record this one */
#define PEBS_CFG_C_CNTR_GP      (1ull << 36)
#define PEBS_CFG_C_CNTR_FIXED   (1ull << 37)
#define PEBS_CFG_C_XMM          (1ull << 49)
#define PEBS_CFG_C_YMMH         (1ull << 50)
#define PEBS_CFG_C_EGPRS        (1ull << 51)
#define PEBS_CFG_C_OPMASK       (1ull << 53)
#define PEBS_CFG_C_ZMMH         (1ull << 54)
#define PEBS_CFG_C_H16ZMM       (1ull << 55)
#define PEBS_CFG_C_GPR          (1ull << 61)
#define PEBS_CFG_C_AUX          (1ull << 62)
#define PEBS_CFG_C_EN           (1ull << 63)

/* A header's own bits.  Every fragment of a record has a header.  */
#define PEBS_HEADER_SIZE_LENGTH 16
#define PEBS_HEADER_MODE64      (1ull << 30)
#define PEBS_HEADER_CONTINUED   (1ull << 31)
#define PEBS_HEADER_BASIC       (1ull << 63)

#define PEBS_HEADER_WORDS       2
#define PEBS_XER_HEADER_WORDS   2
#define PEBS_AUX_RESERVED_WORDS 4

/* Sub-leaves of CPUID leaf 0x23 */
#define PEBS_SUBLEAF_CAPS       4
#define PEBS_SUBLEAF_COUNTERS   5

/*
 * Building a record from words, in the order in which they are added.
 */

#define PEBS_RECORD_MAX         4096

typedef struct PEBSRecord {
    unsigned size;
    uint8_t data[PEBS_RECORD_MAX];
} PEBSRecord;

/* What a record is about */
typedef struct PEBSEvent {
    uint64_t counters;          /* that overflowed, as in GLOBAL_STATUS */
    uint64_t ip;                /* of the instruction that did it */
    uint64_t config;            /* which groups to record */
    uint64_t snapshot;          /* counters to be recorded themselves */
} PEBSEvent;

/* What a record says of an access to memory; all zeros for none */
typedef struct PEBSMemory {
    uint64_t address;
    uint64_t source;            /* where the data were found, encoded */
    uint64_t latency;           /* of the instruction, and of the access */
} PEBSMemory;

void pebs_put(PEBSRecord *r, uint64_t word);
void pebs_put_zeros(PEBSRecord *r, unsigned words);
/* Eventing IP, applicable counters, TSC */
void pebs_put_event(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event);
/* RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 ... R15 */
void pebs_put_gprs(CPUX86State *env, PEBSRecord *r);
/* Words @from to @to, exclusively, of vector registers @first to @last */
void pebs_put_vectors(CPUX86State *env, PEBSRecord *r, unsigned first,
                      unsigned last, unsigned from, unsigned to);
/*
 * Bit masks of the counters that follow, and their values; slots and
 * PERF_METRICS too if @metrics
 */
void pebs_put_counters(CPUX86State *env, PEBSRecord *r, uint64_t counters,
                       bool metrics);

/* pebs-memory.c: the access that made one of these counters overflow */
PEBSMemory pebs_memory(CPUX86State *env, uint64_t counters);
X86PMUAccess pebs_memory_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
X86PMUAccess pebs_memory_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);

/* True if the bit was clear, that is if a PMI is due.  */
bool pebs_set_status(CPUX86State *env, uint64_t bit);

/* pebs-ds.c: adaptive PEBS */
bool pebs_ds_takes(CPUX86State *env, unsigned counter);
bool pebs_ds_overflow(CPUX86State *env, uint64_t counters, uint64_t ip);
X86PMUAccess pebs_ds_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
X86PMUAccess pebs_ds_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);

/* pebs-arch.c: architectural PEBS */
bool pebs_arch_takes(CPUX86State *env, unsigned counter);
bool pebs_arch_overflow(CPUX86State *env, uint64_t counters, uint64_t ip);
X86PMUAccess pebs_arch_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
X86PMUAccess pebs_arch_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);
void pebs_arch_cpuid(CPUX86State *env, uint32_t subleaf, uint32_t *eax,
                     uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

#endif /* I386_TCG_SYSTEM_PEBS_H */
