/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shadow stacks of user mode: the second stack that CALL and RET keep for
 * return addresses, and the instructions that work on it (Intel SDM volume 1,
 * chapter 17; volume 2 for each instruction; volume 3, section 5.6, for the
 * rights of shadow-stack accesses).
 *
 * The register SSP of user mode is pl_ssp[3], the same variable that is the MSR
 * IA32_PL3_SSP.  The processor copies SSP to the MSR whenever it leaves CPL 3
 * and back when it returns, and at CPL 3 nothing can read or write the MSR
 * (RDMSR, WRMSR, XSAVES, XRSTORS need CPL 0), so software cannot tell the two
 * apart.  Only SMM handlers could: a processor saves SSP for them elsewhere.
 *
 * Not modelled: shadow stacks of CPL 0 to 2 (IA32_S_CET is mere storage, RDSSP
 * is a NOP there, and SETSSBSY, CLRSSBSY and the others are #UD), switches of
 * the shadow stack by hardware tasks, and indirect branch tracking.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "exec/exec-all.h"
#include "exec/cpu_ldst.h"
#include "helper-tcg.h"
#include "shstk.h"

/* Error codes of #CP.  */
enum {
    CP_NEAR_RET = 1,
    CP_FAR_RET_IRET = 2,
    CP_RSTORSSP = 4,
};

/*
 * The low bits of a token, the 8-byte entry by which software changes to
 * another shadow stack.  RSTORSSP turns the restore token of the stack it goes
 * to into a previous-SSP token.  SAVEPREVSSP takes that, and leaves a restore
 * token on the stack it came from.  The rest of a token is an SSP.
 */
enum {
    TOKEN_64BIT = 1 << 0,
    TOKEN_PREVIOUS_SSP = 1 << 1,
    TOKEN_FLAGS = TOKEN_64BIT | TOKEN_PREVIOUS_SSP,
};

/* The frame of a far transfer, 8 bytes each: offsets from SSP.  */
enum {
    FRAME_SSP = 0,
    FRAME_LIP = 8,
    FRAME_CS = 16,
    FRAME_SIZE = 24,
};

/* Without 64-bit mode, SSP is 32 bits wide.  */
static uint64_t ssp_add(CPUX86State *env, int64_t offset)
{
    uint64_t ssp = env->pl_ssp[3] + offset;

    return env->hflags & HF_CS64_MASK ? ssp : (uint32_t)ssp;
}

static void prepare_store(CPUX86State *env, X86Access *access, uint64_t addr,
                          int size, uintptr_t ra)
{
    access_prepare_mmu(access, env, addr, size, MMU_DATA_STORE,
                       MMU_USERSS_IDX, ra);
}

static uint64_t load_entry(CPUX86State *env, uint64_t addr, int size,
                           uintptr_t ra)
{
    return size == 8 ? cpu_ldq_mmuidx_ra(env, addr, MMU_USERSS_IDX, ra)
                     : cpu_ldl_mmuidx_ra(env, addr, MMU_USERSS_IDX, ra);
}

static void store_entry(CPUX86State *env, uint64_t addr, uint64_t val,
                        int size, uintptr_t ra)
{
    if (size == 8) {
        cpu_stq_mmuidx_ra(env, addr, val, MMU_USERSS_IDX, ra);
    } else {
        cpu_stl_mmuidx_ra(env, addr, val, MMU_USERSS_IDX, ra);
    }
}

/*
 * A near CALL writes to two stacks, and must not have written to one if the
 * other faults.  So this comes first and faults in place of the second write.
 */
void helper_shstk_prepare_call(CPUX86State *env, uint32_t size)
{
    X86Access access;

    prepare_store(env, &access, ssp_add(env, -(int)size), size, GETPC());
}

void helper_shstk_call(CPUX86State *env, target_ulong next_eip, uint32_t size)
{
    uint64_t ssp = ssp_add(env, -(int)size);

    store_entry(env, ssp, next_eip, size, GETPC());
    env->pl_ssp[3] = ssp;
}

/* @eip is what has been popped off the stack, zero-extended.  */
void helper_shstk_ret(CPUX86State *env, target_ulong eip, uint32_t size)
{
    uint64_t ssp = ssp_add(env, 0);

    if (load_entry(env, ssp, size, GETPC()) != eip) {
        raise_exception_err_ra(env, EXCP15_CP, CP_NEAR_RET, GETPC());
    }
    env->pl_ssp[3] = ssp_add(env, size);
}

target_ulong helper_rdssp(CPUX86State *env)
{
    return ssp_add(env, 0);
}

/* Reads the first and the last entry to drop, and so skips no guard page.  */
void helper_incssp(CPUX86State *env, target_ulong count, uint32_t size)
{
    int range = (uint8_t)count * (int)size;

    load_entry(env, ssp_add(env, 0), size, GETPC());
    if (range) {
        load_entry(env, ssp_add(env, range - size), size, GETPC());
    }
    env->pl_ssp[3] = ssp_add(env, range);
}

static void write_user_shadow_stack(CPUX86State *env, target_ulong addr,
                                    target_ulong val, uint32_t size,
                                    uintptr_t ra)
{
    if (addr & (size - 1)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    store_entry(env, addr, val, size, ra);
}

void helper_wrss(CPUX86State *env, target_ulong addr, target_ulong val,
                 uint32_t size)
{
    if (!(env->u_cet & MSR_CET_WR_SHSTK_EN)) {
        raise_exception_ra(env, EXCP06_ILLOP, GETPC());
    }
    write_user_shadow_stack(env, addr, val, size, GETPC());
}

void helper_wruss(CPUX86State *env, target_ulong addr, target_ulong val,
                  uint32_t size)
{
    if (!(env->cr[4] & CR4_CET_MASK)) {
        raise_exception_ra(env, EXCP06_ILLOP, GETPC());
    }
    if ((env->hflags & HF_CPL_MASK) != 0) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, GETPC());
    }
    write_user_shadow_stack(env, addr, val, size, GETPC());
}

static uint64_t token_mode(CPUX86State *env)
{
    return env->hflags & HF_CS64_MASK ? TOKEN_64BIT : 0;
}

/* A restore token is below what it points to, apart from a gap of 4 bytes.  */
static bool restore_token_valid(CPUX86State *env, uint64_t token, uint64_t addr)
{
    uint64_t ssp = token & ~TOKEN_64BIT;

    return (token & TOKEN_FLAGS) == token_mode(env) &&
           (token_mode(env) || token <= UINT32_MAX) &&
           QEMU_ALIGN_DOWN(ssp - 8, 8) == addr;
}

static uint64_t cmpxchg_entry(CPUX86State *env, uint64_t addr, uint64_t old,
                              uint64_t new, uintptr_t ra)
{
#ifdef CONFIG_ATOMIC64
    MemOpIdx oi = make_memop_idx(MO_LEUQ, MMU_USERSS_IDX);

    return cpu_atomic_cmpxchgq_le_mmu(env, addr, old, new, oi, ra);
#else
    /* No host has a 64-bit guest and lacks these.  */
    g_assert_not_reached();
#endif
}

void helper_rstorssp(CPUX86State *env, target_ulong addr)
{
    uint64_t previous = ssp_add(env, 0) | token_mode(env) | TOKEN_PREVIOUS_SSP;
    uint64_t token, seen;
    X86Access access;

    if (addr & 7) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, GETPC());
    }
    /* The processor reads the token with the intention to write.  */
    prepare_store(env, &access, addr, 8, GETPC());
    token = load_entry(env, addr, 8, GETPC());
    do {
        if (!restore_token_valid(env, token, addr)) {
            raise_exception_err_ra(env, EXCP15_CP, CP_RSTORSSP, GETPC());
        }
        seen = token;
        token = cmpxchg_entry(env, addr, seen, previous, GETPC());
    } while (token != seen);

    env->pl_ssp[3] = addr;
    /* CF tells SAVEPREVSSP that there is a gap behind the token.  */
    CC_SRC = token & 4 ? CC_C : 0;
    CC_OP = CC_OP_EFLAGS;
}

void helper_saveprevssp(CPUX86State *env)
{
    uint64_t ssp = ssp_add(env, 0);
    bool gap = cpu_cc_compute_all(env) & CC_C;
    uint64_t token, old_ssp, new_token;
    X86Access access;

    if (ssp & 7) {
        goto fault;
    }
    token = load_entry(env, ssp, 8, GETPC());
    if (gap && load_entry(env, ssp + 8, 4, GETPC()) != 0) {
        goto fault;
    }
    if (!(token & TOKEN_PREVIOUS_SSP) ||
        (!token_mode(env) && token > UINT32_MAX)) {
        goto fault;
    }

    old_ssp = token & ~(uint64_t)TOKEN_FLAGS;
    new_token = QEMU_ALIGN_DOWN(old_ssp, 8) - 8;
    prepare_store(env, &access, new_token, old_ssp - new_token, GETPC());
    /* As in a frame, a gap above the token gets a zero.  */
    access_stl(&access, old_ssp - 4, 0);
    access_stq(&access, new_token, old_ssp | token_mode(env));
    env->pl_ssp[3] = ssp_add(env, gap ? 12 : 8);
    return;

fault:
    raise_exception_err_ra(env, EXCP0D_GPF, 0, GETPC());
}

static void check_ssp_width(CPUX86State *env, uint64_t ssp, bool to_64bit,
                            uintptr_t ra)
{
    if (!to_64bit && ssp > UINT32_MAX) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
}

void shstk_check_target(CPUX86State *env, bool to_64bit, uintptr_t ra)
{
    if (env->hflags & HF_SHSTK_MASK) {
        check_ssp_width(env, ssp_add(env, 0), to_64bit, ra);
    }
}

void shstk_prepare_frame(CPUX86State *env, ShadowFrame *frame,
                         bool to_64bit, uintptr_t ra)
{
    frame->active = env->hflags & HF_SHSTK_MASK;
    if (!frame->active) {
        return;
    }
    frame->ssp = ssp_add(env, 0);
    check_ssp_width(env, frame->ssp, to_64bit, ra);
    /* Frames are aligned to 8 bytes; in the gap, if any, there is a zero.  */
    frame->new_ssp = QEMU_ALIGN_DOWN(frame->ssp, 8) - FRAME_SIZE;
    prepare_store(env, &frame->access, frame->new_ssp,
                  frame->ssp - frame->new_ssp, ra);
}

void shstk_push_frame(CPUX86State *env, ShadowFrame *frame,
                      target_ulong next_eip)
{
    uint64_t lip = next_eip;
    uint64_t bottom = frame->new_ssp;

    if (!frame->active) {
        return;
    }
    if (!(env->hflags & HF_CS64_MASK)) {
        lip = (uint32_t)(env->segs[R_CS].base + next_eip);
    }
    access_stl(&frame->access, frame->ssp - 4, 0);
    access_stq(&frame->access, bottom + FRAME_CS, env->segs[R_CS].selector);
    access_stq(&frame->access, bottom + FRAME_LIP, lip);
    access_stq(&frame->access, bottom + FRAME_SSP, frame->ssp);
    env->pl_ssp[3] = bottom;
}

/* Pop a frame and compare it with the popped part of the stack.  */
static uint64_t check_frame(CPUX86State *env, uint16_t cs, uint64_t linear_ip,
                            uintptr_t ra)
{
    uint64_t ssp = ssp_add(env, 0);
    uint64_t frame_cs, frame_lip, frame_ssp;

    if (ssp & 7) {
        goto mismatch;
    }
    frame_cs = load_entry(env, ssp + FRAME_CS, 8, ra);
    frame_lip = load_entry(env, ssp + FRAME_LIP, 8, ra);
    frame_ssp = load_entry(env, ssp + FRAME_SSP, 8, ra);
    if (frame_cs != cs || frame_lip != linear_ip || (frame_ssp & 3)) {
        goto mismatch;
    }
    return frame_ssp;

mismatch:
    raise_exception_err_ra(env, EXCP15_CP, CP_FAR_RET_IRET, ra);
}

uint64_t shstk_check_far_return(CPUX86State *env, int pl, uint16_t cs,
                                uint64_t linear_ip, bool to_64bit,
                                uintptr_t ra)
{
    uint64_t ssp = env->pl_ssp[3];

    if (pl != 3 || !(env->cr[4] & CR4_CET_MASK) ||
        !(env->u_cet & MSR_CET_SH_STK_EN)) {
        return ssp;
    }
    if (env->hflags & HF_SHSTK_MASK) {
        ssp = check_frame(env, cs, linear_ip, ra);
    }
    check_ssp_width(env, ssp, to_64bit, ra);
    return ssp;
}
