/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of the XSAVE feature set: which components each one moves,
 * where they lie in the XSAVE area, and when it faults (Intel SDM volume 1,
 * chapter 13).
 *
 * XSAVEOPT, XSAVEC and XSAVES leave out components in their initial
 * configuration (the init optimization).  The modified optimization is not
 * modelled: what was restored from the same area is saved again even if it did
 * not change, which the SDM permits and software cannot tell from the other.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "tcg-cpu.h"
#include "helper-tcg.h"
#include "xstate.h"

#define XO(field)  offsetof(X86XSaveArea, field)

/* The legacy region and the header, which no XSAVE area lacks.  */
#define XSAVE_MIN_SIZE  XO(avx_state)

/* Bits in @mask, lowest first.  */
#define FOR_EACH_COMPONENT(bit, mask)                                   \
    for (uint64_t left_ = (mask);                                       \
         left_ && (bit = ctz64(left_), true);                           \
         left_ &= left_ - 1)

/* Offset of component @bit; @xcomp_bv is 0 for the standard format.  */
static uint32_t component_offset(int bit, uint64_t xcomp_bv)
{
    const ExtSaveArea *esa = &x86_ext_save_areas[bit];
    uint32_t offset;

    if (bit <= XSTATE_SSE_BIT || !(xcomp_bv & XCOMP_BV_COMPACTED)) {
        return esa->offset;
    }
    offset = xsave_area_size(xcomp_bv & MAKE_64BIT_MASK(0, bit), true);
    return esa->ecx & ESA_FEATURE_ALIGN64_MASK ? ROUND_UP(offset, 64) : offset;
}

/* Size of the area up to the last of @components.  */
static uint32_t area_size(uint64_t components, uint64_t xcomp_bv)
{
    uint32_t size = XSAVE_MIN_SIZE;
    int bit;

    FOR_EACH_COMPONENT(bit, components) {
        if (bit > XSTATE_SSE_BIT) {
            size = MAX(size, component_offset(bit, xcomp_bv) +
                             x86_ext_save_areas[bit].size);
        }
    }
    return size;
}

static void check_xsave(CPUX86State *env, target_ulong ptr, uintptr_t ra)
{
    /* The OS must have enabled XSAVE.  */
    if (!(env->cr[4] & CR4_OSXSAVE_MASK)) {
        raise_exception_ra(env, EXCP06_ILLOP, ra);
    }

    /* The operand must be 64 byte aligned.  */
    if (ptr & 63) {
        raise_exception_ra(env, EXCP0D_GPF, ra);
    }
}

/* The same for the instructions of later CPUs, at @cpl or below.  */
static void check_xsave_cpl(CPUX86State *env, target_ulong ptr, int cpl,
                            uintptr_t ra)
{
    if (!(env->cr[4] & CR4_OSXSAVE_MASK)) {
        raise_exception_ra(env, EXCP06_ILLOP, ra);
    }
    if (env->cr[0] & CR0_TS_MASK) {
        raise_exception_ra(env, EXCP07_PREX, ra);
    }
    if ((env->hflags & HF_CPL_MASK) > cpl) {
        raise_exception_ra(env, EXCP0D_GPF, ra);
    }
    check_xsave(env, ptr, ra);
}

static void save_components(X86Access *ac, target_ulong ptr,
                            uint64_t components, uint64_t xcomp_bv)
{
    int bit;

    FOR_EACH_COMPONENT(bit, components) {
        xstate_save(ac, bit, ptr + component_offset(bit, xcomp_bv));
    }
}

/* Save the components in @opt and account for those in @rfbm.  */
static void save_standard(X86Access *ac, target_ulong ptr, uint64_t rfbm,
                          uint64_t inuse, uint64_t opt)
{
    uint64_t old_bv;

    if (rfbm & XSTATE_SSE_MASK) {
        /* Note that saving MXCSR is not suppressed by XSAVEOPT.  */
        mxcsr_save(ac, ptr);
    }
    save_components(ac, ptr, opt, 0);

    old_bv = access_ldq(ac, ptr + XO(header.xstate_bv));
    access_stq(ac, ptr + XO(header.xstate_bv),
               (old_bv & ~rfbm) | (inuse & rfbm));
}

static void do_xsave(CPUX86State *env, target_ulong ptr, uint64_t rfbm,
                     uint64_t inuse, uint64_t opt, uintptr_t ra)
{
    X86Access ac;

    check_xsave(env, ptr, ra);

    /* Never save anything not enabled by XCR0.  */
    rfbm &= env->xcr0;
    opt &= rfbm;

    access_prepare(&ac, env, ptr, area_size(opt, 0), MMU_DATA_STORE, ra);
    save_standard(&ac, ptr, rfbm, inuse, opt);
}

void helper_xsave(CPUX86State *env, target_ulong ptr, uint64_t rfbm)
{
    do_xsave(env, ptr, rfbm, xstate_in_use(env), rfbm, GETPC());
}

void helper_xsaveopt(CPUX86State *env, target_ulong ptr, uint64_t rfbm)
{
    uint64_t inuse = xstate_in_use(env);

    do_xsave(env, ptr, rfbm, inuse, inuse, GETPC());
}

/* XSAVEC and XSAVES; @rfbm has enabled components only.  */
static void save_compacted(CPUX86State *env, target_ulong ptr, uint64_t rfbm,
                           uintptr_t ra)
{
    uint64_t xcomp_bv = rfbm | XCOMP_BV_COMPACTED;
    uint64_t inuse = xstate_in_use(env);
    uint64_t saved;
    X86Access ac;

    /* XINUSE is about the XMM registers; here MXCSR counts with them.  */
    update_mxcsr_from_sse_status(env);
    if (env->mxcsr != MXCSR_INIT) {
        inuse |= XSTATE_SSE_MASK;
    }
    saved = rfbm & inuse;

    access_prepare(&ac, env, ptr, area_size(saved, xcomp_bv),
                   MMU_DATA_STORE, ra);
    if (saved & XSTATE_SSE_MASK) {
        mxcsr_save(&ac, ptr);
    }
    save_components(&ac, ptr, saved, xcomp_bv);
    access_stq(&ac, ptr + XO(header.xstate_bv), saved);
    access_stq(&ac, ptr + XO(header.xcomp_bv), xcomp_bv);
}

void helper_xsavec(CPUX86State *env, target_ulong ptr, uint64_t rfbm)
{
    check_xsave_cpl(env, ptr, 3, GETPC());
    save_compacted(env, ptr, rfbm & env->xcr0, GETPC());
}

void helper_xsaves(CPUX86State *env, target_ulong ptr, uint64_t rfbm)
{
    check_xsave_cpl(env, ptr, 0, GETPC());
    save_compacted(env, ptr, rfbm & (env->xcr0 | env->xss), GETPC());
}

typedef struct AreaHeader {
    uint64_t xstate_bv;
    uint64_t xcomp_bv;
} AreaHeader;

/* Read the header; false if it is not valid with @enabled components.  */
static bool read_header(X86Access *ac, target_ulong ptr, uint64_t enabled,
                        AreaHeader *h)
{
    uint64_t components;

    h->xstate_bv = access_ldq(ac, ptr + XO(header.xstate_bv));
    h->xcomp_bv = access_ldq(ac, ptr + XO(header.xcomp_bv));

    if (!(h->xcomp_bv & XCOMP_BV_COMPACTED) || !has_compacted_xsave(ac->env)) {
        /* In the standard format, bytes 23:8 of the header must be zero.  */
        return !h->xcomp_bv && !access_ldq(ac, ptr + XO(header.reserve0)) &&
               !(h->xstate_bv & ~enabled);
    }

    for (int i = XO(header.reserve0); i < XSAVE_MIN_SIZE; i += 8) {
        if (access_ldq(ac, ptr + i)) {
            return false;
        }
    }
    components = h->xcomp_bv & ~XCOMP_BV_COMPACTED;
    return !(components & ~enabled) && !(h->xstate_bv & ~components);
}

/*
 * Whether the images in @components can be loaded.  This is asked for all
 * before any is loaded: an instruction that faults leaves the state alone.
 */
static bool components_loadable(X86Access *ac, target_ulong ptr,
                                uint64_t components, const AreaHeader *h)
{
    int bit;

    /* The standard format takes any MXCSR; that is how it always was here.  */
    if ((h->xcomp_bv & XCOMP_BV_COMPACTED) && (components & XSTATE_SSE_MASK) &&
        (access_ldl(ac, ptr + XO(legacy.mxcsr)) & MXCSR_RESERVED)) {
        return false;
    }
    FOR_EACH_COMPONENT(bit, components) {
        const XStateComponent *c = &x86_xstate[bit];

        if (c->loadable &&
            !c->loadable(c, ac, ptr + component_offset(bit, h->xcomp_bv))) {
            return false;
        }
    }
    return true;
}

static void restore_components(X86Access *ac, target_ulong ptr, uint64_t rfbm,
                               const AreaHeader *h)
{
    int bit;

    if (rfbm & XSTATE_SSE_MASK) {
        /*
         * In the standard format MXCSR comes from memory whether or not the
         * XSTATE_BV bit is set; in the compacted one it goes with SSE.
         */
        if (!(h->xcomp_bv & XCOMP_BV_COMPACTED) ||
            (h->xstate_bv & XSTATE_SSE_MASK)) {
            mxcsr_restore(ac, ptr);
        } else {
            cpu_set_mxcsr(ac->env, MXCSR_INIT);
        }
    }
    FOR_EACH_COMPONENT(bit, rfbm) {
        if (h->xstate_bv & (1ULL << bit)) {
            xstate_restore(ac, bit, ptr + component_offset(bit, h->xcomp_bv));
        } else {
            xstate_init(ac->env, bit);
        }
    }
}

/*
 * With the property "x-xrstor-late-fault", what XRSTOR loads before it takes a
 * page fault: the components that lie before the first one of which a part is
 * missing.  Hardware may do that; software must not rely on either.
 */
static void restore_before_fault(CPUX86State *env, target_ulong ptr,
                                 uint32_t size, uint64_t rfbm,
                                 const AreaHeader *h, uintptr_t ra)
{
    uint32_t head = -(ptr | TARGET_PAGE_MASK);
    X86Access ac;
    void *host;
    int bit;

    if (size <= head ||
        !(probe_access_flags(env, ptr + head, size - head, MMU_DATA_LOAD,
                             cpu_mmu_index(env_cpu(env), false), true, &host,
                             ra) & TLB_INVALID_MASK)) {
        return;
    }
    FOR_EACH_COMPONENT(bit, rfbm & h->xstate_bv) {
        if (area_size(1ull << bit, h->xcomp_bv) > head) {
            rfbm &= (1ull << bit) - 1;
            break;
        }
    }
    access_prepare(&ac, env, ptr, MIN(size, head), MMU_DATA_LOAD, ra);
    if (components_loadable(&ac, ptr, rfbm & h->xstate_bv, h)) {
        restore_components(&ac, ptr, rfbm, h);
    }
}

static void do_xrstor(CPUX86State *env, target_ulong ptr, uint64_t rfbm,
                      uint64_t enabled, bool supervisor, uintptr_t ra)
{
    AreaHeader header;
    X86Access ac;
    uint32_t size;

    /* Begin with just the minimum size to validate the header. */
    access_prepare(&ac, env, ptr, XSAVE_MIN_SIZE, MMU_DATA_LOAD, ra);
    if (!read_header(&ac, ptr, enabled, &header) ||
        (supervisor && !(header.xcomp_bv & XCOMP_BV_COMPACTED))) {
        raise_exception_ra(env, EXCP0D_GPF, ra);
    }

    rfbm &= enabled;
    size = area_size(rfbm & header.xstate_bv, header.xcomp_bv);
    if (size > XSAVE_MIN_SIZE) {
        if (env_archcpu(env)->xrstor_late_fault) {
            restore_before_fault(env, ptr, size, rfbm, &header, ra);
        }
        /* TODO: See if existing page probe has covered extra size. */
        access_prepare(&ac, env, ptr, size, MMU_DATA_LOAD, ra);
    }
    if (!components_loadable(&ac, ptr, rfbm & header.xstate_bv, &header)) {
        raise_exception_ra(env, EXCP0D_GPF, ra);
    }

    restore_components(&ac, ptr, rfbm, &header);
}

void helper_xrstor(CPUX86State *env, target_ulong ptr, uint64_t rfbm)
{
    check_xsave(env, ptr, GETPC());
    do_xrstor(env, ptr, rfbm, env->xcr0, false, GETPC());
}

void helper_xrstors(CPUX86State *env, target_ulong ptr, uint64_t rfbm)
{
    check_xsave_cpl(env, ptr, 0, GETPC());
    do_xrstor(env, ptr, rfbm, env->xcr0 | env->xss, true, GETPC());
}

#if defined(CONFIG_USER_ONLY)
/* Signal frames: @host is the area, and the caller has checked @rfbm.  */
void cpu_x86_xsave(CPUX86State *env, void *host, size_t len, uint64_t rfbm)
{
    X86Access ac = {
        .haddr1 = host,
        .size = area_size(rfbm, 0),
        .env = env,
    };

    assert((rfbm & ~env->xcr0) == 0);
    assert(ac.size <= len);
    save_standard(&ac, 0, rfbm, xstate_in_use(env), rfbm);
}

bool cpu_x86_xrstor(CPUX86State *env, void *host, size_t len, uint64_t rfbm)
{
    X86Access ac = {
        .haddr1 = host,
        .size = area_size(rfbm, 0),
        .env = env,
    };
    AreaHeader header;

    assert((rfbm & ~env->xcr0) == 0);
    assert(ac.size <= len);
    if (!read_header(&ac, 0, env->xcr0, &header)) {
        return false;
    }
    restore_components(&ac, 0, rfbm, &header);
    return true;
}
#endif

uint64_t helper_xgetbv(CPUX86State *env, uint32_t ecx)
{
    if (!(env->cr[4] & CR4_OSXSAVE_MASK)) {
        raise_exception_ra(env, EXCP06_ILLOP, GETPC());
    }

    switch (ecx) {
    case 0:
        return env->xcr0;
    case 1:
        if (env->features[FEAT_XSAVE] & CPUID_XSAVE_XGETBV1) {
            return env->xcr0 & xstate_in_use(env);
        }
        break;
    }
    raise_exception_ra(env, EXCP0D_GPF, GETPC());
}

static bool xcr0_valid(CPUX86State *env, uint64_t xcr0)
{
    uint64_t implemented =
        (env->features[FEAT_XSAVE_XCR0_HI] << 32) |
        env->features[FEAT_XSAVE_XCR0_LO];
    uint64_t mpx = xcr0 & (XSTATE_BNDREGS_MASK | XSTATE_BNDCSR_MASK);
    uint64_t avx512 = xcr0 & XSTATE_AVX512_MASK;

    if (xcr0 & ~implemented) {
        return false;
    }
    /* The FPU may not be disabled.  */
    if (!(xcr0 & XSTATE_FP_MASK)) {
        return false;
    }
    /* SSE can be disabled, but only if AVX is disabled too.  */
    if ((xcr0 & XSTATE_YMM_MASK) && !(xcr0 & XSTATE_SSE_MASK)) {
        return false;
    }
    /* AVX-512 and MPX are enabled as a whole or not at all.  */
    if (avx512 &&
        (avx512 != XSTATE_AVX512_MASK || !(xcr0 & XSTATE_YMM_MASK))) {
        return false;
    }
    return mpx == 0 || mpx == (XSTATE_BNDREGS_MASK | XSTATE_BNDCSR_MASK);
}

void helper_xsetbv(CPUX86State *env, uint32_t ecx, uint64_t mask)
{
    if (!(env->cr[4] & CR4_OSXSAVE_MASK)) {
        raise_exception_ra(env, EXCP06_ILLOP, GETPC());
    }

    /* There is no extended control register but XCR0.  */
    if (ecx != 0 || !xcr0_valid(env, mask)) {
        raise_exception_ra(env, EXCP0D_GPF, GETPC());
    }

    env->xcr0 = mask;
    cpu_sync_bndcs_hflags(env);
    cpu_sync_avx_hflag(env);
}

bool xss_write_msr(CPUX86State *env, uint64_t val)
{
    uint64_t implemented =
        (env->features[FEAT_XSAVE_XSS_HI] << 32) |
        env->features[FEAT_XSAVE_XSS_LO];

    if (!(env->features[FEAT_XSAVE] & CPUID_XSAVE_XSAVES)) {
        /* The MSR does not exist; writes to such are ignored so far.  */
        return true;
    }
    if (val & ~implemented) {
        return false;
    }
    env->xss = val;
    return true;
}
