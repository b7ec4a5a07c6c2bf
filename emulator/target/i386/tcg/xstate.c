/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state components that the XSAVE feature set manages, one entry each
 * (Intel SDM volume 1, chapter 13).
 */

#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "cpu.h"
#include "exec/cputlb.h"
#include "tcg-cpu.h"
#include "helper-tcg.h"
#include "cet.h"
#include "xstate.h"

static void save_x87(const XStateComponent *c, X86Access *ac, target_ulong ptr)
{
    x87_save(ac, ptr);
}

static void restore_x87(const XStateComponent *c, X86Access *ac,
                        target_ulong ptr)
{
    x87_restore(ac, ptr);
}

static void init_x87(const XStateComponent *c, CPUX86State *env)
{
    x87_init(env);
}

static bool x87_in_use(const XStateComponent *c, CPUX86State *env)
{
    if (env->fpuc != X87_FCW_INIT || env->fpus || env->fpstt) {
        return true;
    }
    for (int i = 0; i < 8; i++) {
        const floatx80 *reg = &env->fpregs[i].d;

        if (!env->fptags[i] || reg->low || reg->high) {
            return true;
        }
    }
    return false;
}

/*
 * How many of the 16 registers there are.  Outside 64-bit mode registers 8 to
 * 31 are out of reach: nothing saves, loads or asks about them.
 */
static int nb_vector_regs(const XStateComponent *c, CPUX86State *env)
{
    if (env->hflags & HF_CS64_MASK) {
        return 16;
    }
    return c->first_reg == 0 ? 8 : 0;
}

static void save_vector(const XStateComponent *c, X86Access *ac,
                        target_ulong ptr)
{
    for (int i = 0; i < nb_vector_regs(c, ac->env); i++) {
        const ZMMReg *reg = &ac->env->xmm_regs[c->first_reg + i];

        for (int j = 0; j < c->words; j++, ptr += 8) {
            access_stq(ac, ptr, reg->ZMM_Q(c->first_word + j));
        }
    }
}

static void restore_vector(const XStateComponent *c, X86Access *ac,
                           target_ulong ptr)
{
    for (int i = 0; i < nb_vector_regs(c, ac->env); i++) {
        ZMMReg *reg = &ac->env->xmm_regs[c->first_reg + i];

        for (int j = 0; j < c->words; j++, ptr += 8) {
            reg->ZMM_Q(c->first_word + j) = access_ldq(ac, ptr);
        }
    }
}

static void init_vector(const XStateComponent *c, CPUX86State *env)
{
    for (int i = 0; i < nb_vector_regs(c, env); i++) {
        ZMMReg *reg = &env->xmm_regs[c->first_reg + i];

        for (int j = 0; j < c->words; j++) {
            reg->ZMM_Q(c->first_word + j) = 0;
        }
    }
}

static bool vector_in_use(const XStateComponent *c, CPUX86State *env)
{
    for (int i = 0; i < nb_vector_regs(c, env); i++) {
        const ZMMReg *reg = &env->xmm_regs[c->first_reg + i];

        for (int j = 0; j < c->words; j++) {
            if (reg->ZMM_Q(c->first_word + j)) {
                return true;
            }
        }
    }
    return false;
}

/* The XMM registers lie in the legacy region, MXCSR elsewhere in it.  */
static void save_sse(const XStateComponent *c, X86Access *ac, target_ulong ptr)
{
    save_vector(c, ac, ptr + offsetof(X86LegacyXSaveArea, xmm_regs));
}

static void restore_sse(const XStateComponent *c, X86Access *ac,
                        target_ulong ptr)
{
    restore_vector(c, ac, ptr + offsetof(X86LegacyXSaveArea, xmm_regs));
}

static uint64_t *env_words(const XStateComponent *c, CPUX86State *env)
{
    return (void *)env + c->env_offset;
}

static void save_words(const XStateComponent *c, X86Access *ac,
                       target_ulong ptr)
{
    const uint64_t *words = env_words(c, ac->env);

    for (int i = 0; i < c->words; i++) {
        access_stq(ac, ptr + i * 8, words[i]);
    }
}

static void restore_words(const XStateComponent *c, X86Access *ac,
                          target_ulong ptr)
{
    uint64_t *words = env_words(c, ac->env);

    for (int i = 0; i < c->words; i++) {
        words[i] = access_ldq(ac, ptr + i * 8);
    }
}

static void init_words(const XStateComponent *c, CPUX86State *env)
{
    memset(env_words(c, env), 0, c->words * 8);
}

static bool words_in_use(const XStateComponent *c, CPUX86State *env)
{
    return !buffer_is_zero(env_words(c, env), c->words * 8);
}

static void restore_bndregs(const XStateComponent *c, X86Access *ac,
                            target_ulong ptr)
{
    restore_words(c, ac, ptr);
    ac->env->hflags |= HF_MPX_IU_MASK;
}

static void init_bndregs(const XStateComponent *c, CPUX86State *env)
{
    init_words(c, env);
    env->hflags &= ~HF_MPX_IU_MASK;
}

static bool bndregs_in_use(const XStateComponent *c, CPUX86State *env)
{
    return env->hflags & HF_MPX_IU_MASK;
}

/* FIXME: Extend highest implemented bit of linear address.  */
static void restore_bndcsr(const XStateComponent *c, X86Access *ac,
                           target_ulong ptr)
{
    restore_words(c, ac, ptr);
    cpu_sync_bndcs_hflags(ac->env);
}

static void init_bndcsr(const XStateComponent *c, CPUX86State *env)
{
    init_words(c, env);
    cpu_sync_bndcs_hflags(env);
}

static void save_cet_u(const XStateComponent *c, X86Access *ac,
                       target_ulong ptr)
{
    access_stq(ac, ptr + offsetof(XSaveCETU, u_cet), ac->env->u_cet);
    access_stq(ac, ptr + offsetof(XSaveCETU, pl3_ssp), ac->env->pl_ssp[3]);
}

static void restore_cet_u(const XStateComponent *c, X86Access *ac,
                          target_ulong ptr)
{
    ac->env->u_cet = access_ldq(ac, ptr + offsetof(XSaveCETU, u_cet));
    ac->env->pl_ssp[3] = access_ldq(ac, ptr + offsetof(XSaveCETU, pl3_ssp));
    cpu_sync_shstk_hflag(ac->env);
}

static void init_cet_u(const XStateComponent *c, CPUX86State *env)
{
    env->u_cet = 0;
    env->pl_ssp[3] = 0;
    cpu_sync_shstk_hflag(env);
}

static bool cet_u_in_use(const XStateComponent *c, CPUX86State *env)
{
    return env->u_cet || env->pl_ssp[3];
}

/* As WRMSR would check them.  */
static bool cet_u_loadable(const XStateComponent *c, X86Access *ac,
                           target_ulong ptr)
{
    return cet_control_valid(ac->env,
                             access_ldq(ac, ptr + offsetof(XSaveCETU, u_cet)))
        && cet_ssp_valid(ac->env,
                         access_ldq(ac, ptr + offsetof(XSaveCETU, pl3_ssp)));
}

static void set_pkru(CPUX86State *env, uint32_t pkru)
{
    if (env->pkru != pkru) {
        env->pkru = pkru;
        tlb_flush(env_cpu(env));
    }
}

static void save_pkru(const XStateComponent *c, X86Access *ac,
                      target_ulong ptr)
{
    access_stq(ac, ptr, ac->env->pkru);
}

static void restore_pkru(const XStateComponent *c, X86Access *ac,
                         target_ulong ptr)
{
    set_pkru(ac->env, access_ldq(ac, ptr));
}

static void init_pkru(const XStateComponent *c, CPUX86State *env)
{
    set_pkru(env, 0);
}

#define WORDS_OF(field) \
    .env_offset = offsetof(CPUX86State, field), \
    .words = sizeof_field(CPUX86State, field) / 8

const XStateComponent x86_xstate[XSAVE_STATE_AREA_COUNT] = {
    [XSTATE_FP_BIT] = {
        .save = save_x87, .restore = restore_x87, .init = init_x87,
        .in_use = x87_in_use,
    },
    [XSTATE_SSE_BIT] = {
        .save = save_sse, .restore = restore_sse, .init = init_vector,
        .in_use = vector_in_use,
        .first_word = 0, .words = 2,
    },
    [XSTATE_YMM_BIT] = {
        .save = save_vector, .restore = restore_vector, .init = init_vector,
        .in_use = vector_in_use,
        .first_word = 2, .words = 2,
    },
    [XSTATE_BNDREGS_BIT] = {
        .save = save_words, .restore = restore_bndregs, .init = init_bndregs,
        .in_use = bndregs_in_use,
        WORDS_OF(bnd_regs),
    },
    [XSTATE_BNDCSR_BIT] = {
        .save = save_words, .restore = restore_bndcsr, .init = init_bndcsr,
        .in_use = words_in_use,
        WORDS_OF(bndcs_regs),
    },
    [XSTATE_OPMASK_BIT] = {
        .save = save_words, .restore = restore_words, .init = init_words,
        .in_use = words_in_use,
        WORDS_OF(opmask_regs),
    },
    [XSTATE_ZMM_Hi256_BIT] = {
        .save = save_vector, .restore = restore_vector, .init = init_vector,
        .in_use = vector_in_use,
        .first_word = 4, .words = 4,
    },
    [XSTATE_Hi16_ZMM_BIT] = {
        .save = save_vector, .restore = restore_vector, .init = init_vector,
        .in_use = vector_in_use,
        .first_reg = 16, .first_word = 0, .words = 8,
    },
    /* Always in use, as on Intel's CPUs: no processor leaves it unsaved.  */
    [XSTATE_PKRU_BIT] = {
        .save = save_pkru, .restore = restore_pkru, .init = init_pkru,
    },
    [XSTATE_CET_U_BIT] = {
        .save = save_cet_u, .restore = restore_cet_u, .init = init_cet_u,
        .in_use = cet_u_in_use, .loadable = cet_u_loadable,
    },
    /* In every mode, unlike the vector registers.  */
    [XSTATE_APX_BIT] = {
        .save = save_words, .restore = restore_words, .init = init_words,
        .in_use = words_in_use,
        WORDS_OF(egprs),
    },
};

uint64_t xstate_in_use(CPUX86State *env)
{
    /*
     * It is always correct to say "in use".  For these, CPUs without the
     * compacted format always have, and go on to do so.
     */
    uint64_t untracked = has_compacted_xsave(env) ? 0 :
        XSTATE_FP_MASK | XSTATE_SSE_MASK | XSTATE_YMM_MASK | XSTATE_BNDCSR_MASK;
    uint64_t in_use = 0;

    for (int i = 0; i < ARRAY_SIZE(x86_xstate); i++) {
        const XStateComponent *c = &x86_xstate[i];
        uint64_t mask = 1ULL << i;

        if (c->save &&
            (!c->in_use || (untracked & mask) || c->in_use(c, env))) {
            in_use |= mask;
        }
    }
    return in_use;
}
