/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of Control-flow Enforcement Technology: their MSRs and the
 * values that each may hold (Intel SDM volume 1, chapter 17 and volume 4).
 */

#ifndef X86_TCG_CET_H
#define X86_TCG_CET_H

/* What WRMSR, and XRSTORS alike, load without a fault.  */
bool cet_control_valid(CPUX86State *env, uint64_t val);
bool cet_ssp_valid(CPUX86State *env, uint64_t val);

/* Whether CR0 and CR4 may have these values together.  */
static inline bool cet_cr_valid(target_ulong cr0, target_ulong cr4)
{
    return !(cr4 & CR4_CET_MASK) || (cr0 & CR0_WP_MASK);
}

/* @msr is one of MSR_IA32_U_CET ... MSR_IA32_INT_SSP_TAB.  */
bool cet_write_msr(CPUX86State *env, uint32_t msr, uint64_t val);
uint64_t cet_read_msr(CPUX86State *env, uint32_t msr);

#endif
