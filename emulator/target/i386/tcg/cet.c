/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of Control-flow Enforcement Technology: their MSRs and the
 * values that each may hold (Intel SDM volume 1, chapter 17 and volume 4).
 *
 * Only shadow stacks are modelled.  All bits of IA32_U_CET and IA32_S_CET that
 * belong to indirect branch tracking are therefore reserved.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "cet.h"

#define CET_CONTROL_BITS    (MSR_CET_SH_STK_EN | MSR_CET_WR_SHSTK_EN)

/* A shadow stack pointer is a multiple of the smallest entry's size.  */
#define CET_SSP_ALIGN_MASK  3

static bool is_canonical(CPUX86State *env, uint64_t addr)
{
    int width = env->cr[4] & CR4_LA57_MASK ? 57 : 48;

    return sextract64(addr, 0, width) == addr;
}

bool cet_control_valid(CPUX86State *env, uint64_t val)
{
    return !(val & ~CET_CONTROL_BITS);
}

bool cet_ssp_valid(CPUX86State *env, uint64_t val)
{
    return is_canonical(env, val) && !(val & CET_SSP_ALIGN_MASK);
}

static bool has_cet(CPUX86State *env)
{
    return env->features[FEAT_7_0_ECX] & CPUID_7_0_ECX_SHSTK;
}

/* Return false if the write faults.  */
bool cet_write_msr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    if (!has_cet(env)) {
        /* The MSR does not exist; writes to such are ignored so far.  */
        return true;
    }

    switch (msr) {
    case MSR_IA32_U_CET:
    case MSR_IA32_S_CET:
        if (!cet_control_valid(env, val)) {
            return false;
        }
        *(msr == MSR_IA32_U_CET ? &env->u_cet : &env->s_cet) = val;
        cpu_sync_shstk_hflag(env);
        break;
    case MSR_IA32_PL0_SSP ... MSR_IA32_PL3_SSP:
        if (!cet_ssp_valid(env, val)) {
            return false;
        }
        env->pl_ssp[msr - MSR_IA32_PL0_SSP] = val;
        break;
    case MSR_IA32_INT_SSP_TAB:
        if (!is_canonical(env, val)) {
            return false;
        }
        env->int_ssp_tab = val;
        break;
    default:
        g_assert_not_reached();
    }
    return true;
}

uint64_t cet_read_msr(CPUX86State *env, uint32_t msr)
{
    if (!has_cet(env)) {
        return 0;
    }

    switch (msr) {
    case MSR_IA32_U_CET:
        return env->u_cet;
    case MSR_IA32_S_CET:
        return env->s_cet;
    case MSR_IA32_PL0_SSP ... MSR_IA32_PL3_SSP:
        return env->pl_ssp[msr - MSR_IA32_PL0_SSP];
    case MSR_IA32_INT_SSP_TAB:
        return env->int_ssp_tab;
    default:
        g_assert_not_reached();
    }
}
