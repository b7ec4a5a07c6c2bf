/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What far transfers of control do to the shadow stack of user mode, for the
 * helpers that execute them.  All of it applies at CPL 3 with shadow stacks
 * enabled, and does nothing otherwise.
 */

#ifndef X86_TCG_SHSTK_H
#define X86_TCG_SHSTK_H

#include "access.h"

/*
 * A far JMP to a code segment.  32-bit code cannot have an SSP above 4 GiB, and
 * the transfer faults in its place; the functions below check that as well.
 */
void shstk_check_target(CPUX86State *env, bool to_64bit, uintptr_t ra);

/* A far frame that is about to be pushed.  */
typedef struct ShadowFrame {
    bool active;
    uint64_t ssp;       /* before the push, saved in the frame */
    uint64_t new_ssp;
    X86Access access;
} ShadowFrame;

/*
 * Far CALL, and events that stay at CPL 3.  Preparing makes all checks and may
 * fault; pushing cannot, so that it can come after the pushes on the stack.
 * @to_64bit: the target is a 64-bit code segment.  @next_eip: where the frame
 * returns to, in the current code segment.
 */
void shstk_prepare_frame(CPUX86State *env, ShadowFrame *frame,
                         bool to_64bit, uintptr_t ra);
void shstk_push_frame(CPUX86State *env, ShadowFrame *frame,
                      target_ulong next_eip);

/*
 * Far RET and IRET to privilege level @pl, at the selector and linear address
 * that have been popped.  Checking may fault, and returns the SSP which
 * shstk_finish_far_return() puts into effect, once nothing can fault any more.
 */
uint64_t shstk_check_far_return(CPUX86State *env, int pl, uint16_t cs,
                                uint64_t linear_ip, bool to_64bit,
                                uintptr_t ra);

static inline void shstk_finish_far_return(CPUX86State *env, int pl,
                                           uint64_t ssp)
{
    if (pl == 3) {
        env->pl_ssp[3] = ssp;
    }
}

#endif
