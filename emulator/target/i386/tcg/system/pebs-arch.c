/*
 * Architectural PEBS: its MSRs, what CPUID tells of it, and records in the
 * physical buffer of IA32_PEBS_BASE.
 *
 * A record consists of groups, and may be split between any two of them.  Each
 * fragment begins with a header that names the groups in it; all but the last
 * are marked as continued.  The longest record that is possible here has less
 * than 3 KiB, so nothing but the property "x-pebs-fragment" makes us split one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "cpu.h"
#include "tcg/xstate.h"
#include "pebs.h"

static void put_basic(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    pebs_put_event(env, r, event);
    /* Retire latency, which is marked as invalid, and two reserved words.  */
    pebs_put_zeros(r, 3);
}

static void put_aux(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    PEBSMemory memory = pebs_memory(env, event->counters);

    pebs_put(r, memory.address);
    pebs_put_zeros(r, PEBS_AUX_RESERVED_WORDS);
    pebs_put(r, memory.source);
    pebs_put(r, memory.latency);
    /* There are no transactions.  */
    pebs_put(r, 0);
}

/* The shadow stack that CALL would push on; 0 if it would push on none */
static uint64_t shadow_stack_pointer(CPUX86State *env)
{
    unsigned cpl = env->hflags & HF_CPL_MASK;
    uint64_t control = cpl == 3 ? env->u_cet : env->s_cet;

    if (!(env->cr[4] & CR4_CET_MASK) || !(control & MSR_CET_SH_STK_EN)) {
        return 0;
    }
    return env->pl_ssp[cpl];
}

static void put_gpr(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    pebs_put_gprs(env, r);
    pebs_put(r, shadow_stack_pointer(env));
    pebs_put(r, 0);
}

static void put_xmm(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    pebs_put_vectors(env, r, 0, 15, 0, 2);
}

static void put_ymmh(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    pebs_put_vectors(env, r, 0, 15, 2, 4);
}

static void put_egprs(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    for (unsigned i = 0; i < ARRAY_SIZE(env->egprs); i++) {
        pebs_put(r, env->egprs[i]);
    }
}

static void put_opmask(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    for (unsigned i = 0; i < ARRAY_SIZE(env->opmask_regs); i++) {
        pebs_put(r, env->opmask_regs[i]);
    }
}

static void put_zmmh(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    pebs_put_vectors(env, r, 0, 15, 4, 8);
}

static void put_h16zmm(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    pebs_put_vectors(env, r, 16, 31, 0, 8);
}

static void put_counters(CPUX86State *env, PEBSRecord *r,
                         const PEBSEvent *event)
{
    pebs_put_counters(env, r, event->snapshot, false);
}

typedef struct PEBSGroup {
    uint64_t bits;              /* in CFG_C and in headers */
    uint64_t component;         /* of XSAVE; such groups follow an XER header */
    FeatureWord word;           /* there is no such group without these bits */
    uint64_t features;
    void (*put)(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event);
} PEBSGroup;

/* In the order of a record */
static const PEBSGroup groups[] = {
    {
        .bits = PEBS_HEADER_BASIC,
        .put = put_basic,
    }, {
        .bits = PEBS_CFG_C_AUX,
        .put = put_aux,
    }, {
        .bits = PEBS_CFG_C_GPR,
        .put = put_gpr,
    }, {
        .bits = PEBS_CFG_C_XMM,
        .component = XSTATE_SSE_MASK,
        .put = put_xmm,
    }, {
        .bits = PEBS_CFG_C_YMMH,
        .component = XSTATE_YMM_MASK,
        .word = FEAT_1_ECX,
        .features = CPUID_EXT_AVX,
        .put = put_ymmh,
    }, {
        .bits = PEBS_CFG_C_EGPRS,
        .component = XSTATE_APX_MASK,
        .word = FEAT_7_1_EDX,
        .features = CPUID_7_1_EDX_APXF,
        .put = put_egprs,
    }, {
        .bits = PEBS_CFG_C_OPMASK,
        .component = XSTATE_OPMASK_MASK,
        .word = FEAT_7_0_EBX,
        .features = CPUID_7_0_EBX_AVX512F,
        .put = put_opmask,
    }, {
        .bits = PEBS_CFG_C_ZMMH,
        .component = XSTATE_ZMM_Hi256_MASK,
        .word = FEAT_7_0_EBX,
        .features = CPUID_7_0_EBX_AVX512F,
        .put = put_zmmh,
    }, {
        .bits = PEBS_CFG_C_H16ZMM,
        .component = XSTATE_Hi16_ZMM_MASK,
        .word = FEAT_7_0_EBX,
        .features = CPUID_7_0_EBX_AVX512F,
        .put = put_h16zmm,
    }, {
        .bits = PEBS_CFG_C_CNTR_GP | PEBS_CFG_C_CNTR_FIXED,
        .put = put_counters,
    },
};

/* Bits 63:32 of CFG_C that are not reserved, less PEBS_CFG_C_EN */
static uint64_t capabilities(CPUX86State *env)
{
    uint64_t bits = PEBS_CFG_C_ALLOW;

    for (unsigned i = 0; i < ARRAY_SIZE(groups); i++) {
        const PEBSGroup *g = &groups[i];

        if ((env->features[g->word] & g->features) == g->features) {
            bits |= g->bits;
        }
    }
    return bits & ~PEBS_HEADER_BASIC;
}

void pebs_arch_cpuid(CPUX86State *env, uint32_t subleaf, uint32_t *eax,
                     uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    uint64_t counters = pmu_all_counters(env);

    switch (subleaf) {
    case 0:
        *eax |= 1u << PEBS_SUBLEAF_CAPS | 1u << PEBS_SUBLEAF_COUNTERS;
        break;
    case PEBS_SUBLEAF_CAPS:
        *ebx = capabilities(env) >> 32;
        break;
    case PEBS_SUBLEAF_COUNTERS:
        /* GP and fixed counters with PEBS, and those that are precise too.  */
        *eax = *ebx = extract64(counters, 0, X86_PMU_FIXED);
        *ecx = *edx = counters >> X86_PMU_FIXED;
        break;
    }
}

static uint64_t *counter_config(CPUX86State *env, unsigned counter)
{
    X86PEBSState *pebs = &env->pmu.pebs;

    if (counter >= X86_PMU_FIXED) {
        return &pebs->fixed_config[counter - X86_PMU_FIXED];
    }
    return &pebs->gp_config[counter];
}

/* The register that an MSR number means, NULL if none; its writable bits */
static uint64_t *find_msr(CPUX86State *env, uint32_t msr, uint64_t *bits)
{
    X86PEBSState *pebs = &env->pmu.pebs;
    unsigned first, counter;

    switch (msr) {
    case MSR_PEBS_BASE:
        *bits = MAKE_64BIT_MASK(0, PEBS_BASE_SIZE_LENGTH) |
                MAKE_64BIT_MASK(PEBS_BASE_PAGE_SHIFT,
                                env_archcpu(env)->phys_bits -
                                PEBS_BASE_PAGE_SHIFT);
        return &pebs->base;
    case MSR_PEBS_INDEX:
        *bits = MAKE_64BIT_MASK(PEBS_INDEX_WR_SHIFT, PEBS_INDEX_LENGTH) |
                PEBS_INDEX_FULL | PEBS_INDEX_EN |
                MAKE_64BIT_MASK(PEBS_INDEX_THRESH_SHIFT, PEBS_INDEX_LENGTH);
        return &pebs->index;
    case MSR_PMC_GP_V6 ... MSR_PMC_GP_V6 + PMU_V6_STEP * PMU_INTEL_GP - 1:
        first = MSR_PMC_GP_V6;
        counter = 0;
        break;
    case MSR_PMC_FIXED_V6 ...
         MSR_PMC_FIXED_V6 + PMU_V6_STEP * PMU_INTEL_FIXED - 1:
        first = MSR_PMC_FIXED_V6;
        counter = X86_PMU_FIXED;
        break;
    default:
        return NULL;
    }
    if ((msr - first) % PMU_V6_STEP != PMU_V6_CFG_C) {
        return NULL;
    }
    *bits = PEBS_CFG_C_RELOAD | PEBS_CFG_C_EN | capabilities(env);
    return counter_config(env, counter + (msr - first) / PMU_V6_STEP);
}

X86PMUAccess pebs_arch_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    uint64_t bits;
    uint64_t *reg = find_msr(env, msr, &bits);

    if (!reg) {
        return PMU_NOT_MINE;
    }
    *val = *reg;
    return PMU_DONE;
}

X86PMUAccess pebs_arch_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    uint64_t bits;
    uint64_t *reg = find_msr(env, msr, &bits);

    if (!reg) {
        return PMU_NOT_MINE;
    }
    if (val & ~bits) {
        return PMU_GP;
    }
    *reg = val;
    return PMU_DONE;
}

bool pebs_arch_takes(CPUX86State *env, unsigned counter)
{
    return (env->pmu.pebs.index & PEBS_INDEX_EN) &&
           (*counter_config(env, counter) & PEBS_CFG_C_EN);
}

/* A fragment in the making: where its headers are, and what they will say */
typedef struct PEBSFragment {
    unsigned start;
    unsigned xer;               /* 0 if there is no XER header yet */
    uint64_t format;
    uint64_t components;
} PEBSFragment;

static void begin_fragment(PEBSRecord *r, PEBSFragment *f)
{
    *f = (PEBSFragment) { .start = r->size };
    pebs_put_zeros(r, PEBS_HEADER_WORDS);
}

static void end_fragment(CPUX86State *env, PEBSRecord *r, PEBSFragment *f,
                         uint64_t flags)
{
    /* The write index cannot express anything but whole units.  */
    while (r->size % PEBS_INDEX_UNIT) {
        pebs_put(r, 0);
    }
    if (env->hflags & HF_CS64_MASK) {
        flags |= PEBS_HEADER_MODE64;
    }
    stq_le_p(r->data + f->start, f->format | flags | (r->size - f->start));
    if (f->xer) {
        stq_le_p(r->data + f->xer, f->components);
    }
}

static void compose(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    unsigned limit = env_archcpu(env)->pebs_fragment;
    uint64_t components = xstate_in_use(env) & (env->xcr0 | XSTATE_SSE_MASK);
    PEBSFragment f;

    begin_fragment(r, &f);
    for (unsigned i = 0; i < ARRAY_SIZE(groups); i++) {
        const PEBSGroup *g = &groups[i];
        PEBSRecord part = { };
        bool xer;

        if (!(event->config & g->bits)) {
            continue;
        }
        g->put(env, &part, event);
        xer = g->component && !f.xer;
        if (limit && f.format &&
            r->size - f.start + part.size +
            xer * PEBS_XER_HEADER_WORDS * sizeof(uint64_t) > limit) {
            end_fragment(env, r, &f, PEBS_HEADER_CONTINUED);
            begin_fragment(r, &f);
            xer = g->component;
        }
        if (xer) {
            f.xer = r->size;
            pebs_put_zeros(r, PEBS_XER_HEADER_WORDS);
        }
        f.format |= event->config & g->bits;
        if (g->component & ~components) {
            /* In its initial configuration, which is zeros for all of these */
            memset(part.data, 0, part.size);
        }
        f.components |= g->component & components;
        g_assert(r->size + part.size <= sizeof(r->data));
        memcpy(r->data + r->size, part.data, part.size);
        r->size += part.size;
    }
    end_fragment(env, r, &f, 0);
}

/* Write the record behind the last one; true if that is the cause of a PMI.  */
static bool output(CPUX86State *env, const PEBSRecord *r)
{
    CPUState *cs = env_cpu(env);
    X86PEBSState *pebs = &env->pmu.pebs;
    MemTxAttrs attrs = cpu_get_mem_attrs(env);
    AddressSpace *as = cpu_addressspace(cs, attrs);
    hwaddr base = pebs->base & ~MAKE_64BIT_MASK(0, PEBS_BASE_PAGE_SHIFT);
    uint64_t size = 1ull << (extract64(pebs->base, 0, PEBS_BASE_SIZE_LENGTH) +
                             PEBS_BASE_PAGE_SHIFT);
    uint64_t wr = extract64(pebs->index, PEBS_INDEX_WR_SHIFT,
                            PEBS_INDEX_LENGTH);
    uint64_t threshold = extract64(pebs->index, PEBS_INDEX_THRESH_SHIFT,
                                   PEBS_INDEX_LENGTH);

    /* The write index cannot tell that the largest buffer is filled.  */
    size = MIN(size, MAKE_64BIT_MASK(0, PEBS_INDEX_LENGTH) * PEBS_INDEX_UNIT);
    if (wr * PEBS_INDEX_UNIT + r->size > size) {
        pebs->index |= PEBS_INDEX_FULL;
    }
    if (!(pebs->index & PEBS_INDEX_FULL)) {
        hwaddr addr = base + wr * PEBS_INDEX_UNIT, xlat, len = r->size;
        MemoryRegion *mr;

        RCU_READ_LOCK_GUARD();
        mr = address_space_translate(as, addr, &xlat, &len, true, attrs);
        if (len < r->size || !memory_access_is_direct(mr, true, attrs)) {
            qemu_log_mask(LOG_GUEST_ERROR, "PEBS: no memory for %u bytes at "
                          "physical address 0x%" HWADDR_PRIx "\n", r->size,
                          addr);
            return false;
        }
        address_space_write(as, addr, attrs, r->data, r->size);
        wr += r->size / PEBS_INDEX_UNIT;
        pebs->index = deposit64(pebs->index, PEBS_INDEX_WR_SHIFT,
                                PEBS_INDEX_LENGTH, wr);
    }
    return wr >= threshold;
}

/* The bits above the register's field are ones; nothing there: no reload.  */
static void reload(CPUX86State *env, unsigned counter)
{
    uint64_t val = *counter_config(env, counter) & PEBS_CFG_C_RELOAD;

    if (val) {
        *pmu_counter(env, counter) = (val | ~PEBS_CFG_C_RELOAD) & PMU_MASK;
    }
}

/* The counters of a snapshot, out of those that let themselves be recorded */
static uint64_t snapshot(CPUX86State *env, uint64_t config)
{
    uint64_t kinds = 0, allowed = 0;

    if (config & PEBS_CFG_C_CNTR_GP) {
        kinds |= MAKE_64BIT_MASK(0, X86_PMU_FIXED);
    }
    if (config & PEBS_CFG_C_CNTR_FIXED) {
        kinds |= MAKE_64BIT_MASK(X86_PMU_FIXED, 32);
    }
    for (uint64_t c = pmu_all_counters(env) & kinds; c; c &= c - 1) {
        if (*counter_config(env, ctz64(c)) & PEBS_CFG_C_ALLOW) {
            allowed |= c & -c;
        }
    }
    return allowed;
}

bool pebs_arch_overflow(CPUX86State *env, uint64_t counters, uint64_t ip)
{
    PEBSEvent event = { .counters = counters, .ip = ip };
    PEBSRecord record = { };
    bool pmi;

    /* One record serves all of them, so it has what any of them asks for.  */
    for (uint64_t c = counters; c; c &= c - 1) {
        event.config |= *counter_config(env, ctz64(c));
    }
    event.snapshot = snapshot(env, event.config);
    /* The record has the counters as they are before they start anew.  */
    compose(env, &record, &event);
    pmi = output(env, &record);
    for (; counters; counters &= counters - 1) {
        reload(env, ctz64(counters));
    }
    return pmi && pebs_set_status(env, PMU_STATUS_ARCH_PEBS);
}
