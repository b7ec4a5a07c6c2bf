/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state components that the XSAVE feature set manages, one entry each
 * (Intel SDM volume 1, chapter 13).  How a component looks in memory and in
 * CPUX86State is known here; where it lies in an XSAVE area, and which ones an
 * instruction touches, is not.
 */

#ifndef X86_TCG_XSTATE_H
#define X86_TCG_XSTATE_H

#include "access.h"

typedef struct XStateComponent XStateComponent;

struct XStateComponent {
    /* @ptr is where the component starts; that of x87 and SSE, the area.  */
    void (*save)(const XStateComponent *c, X86Access *ac, target_ulong ptr);
    void (*restore)(const XStateComponent *c, X86Access *ac, target_ulong ptr);
    /* Put the registers into their initial configuration.  */
    void (*init)(const XStateComponent *c, CPUX86State *env);
    /* Whether they are not in it.  NULL: they always count as in use.  */
    bool (*in_use)(const XStateComponent *c, CPUX86State *env);

    /* Whether the image may be loaded; if not, #GP.  NULL: any image may.  */
    bool (*loadable)(const XStateComponent *c, X86Access *ac,
                     target_ulong ptr);

    /* Vector registers: words [first_word, first_word + words) of each.  */
    uint8_t first_reg;
    uint8_t first_word;
    uint8_t words;
    /* Other registers: so many words from this offset in CPUX86State.  */
    size_t env_offset;
};

/* By bit of XCR0 and IA32_XSS; save is NULL where there is no component.  */
extern const XStateComponent x86_xstate[XSAVE_STATE_AREA_COUNT];

static inline void xstate_save(X86Access *ac, int bit, target_ulong ptr)
{
    x86_xstate[bit].save(&x86_xstate[bit], ac, ptr);
}

static inline void xstate_restore(X86Access *ac, int bit, target_ulong ptr)
{
    x86_xstate[bit].restore(&x86_xstate[bit], ac, ptr);
}

static inline void xstate_init(CPUX86State *env, int bit)
{
    x86_xstate[bit].init(&x86_xstate[bit], env);
}

/*
 * XINUSE, of all components whether enabled or not.  It is found by looking at
 * the registers, so that a component counts as unused once it has its initial
 * values, however it got them.
 */
uint64_t xstate_in_use(CPUX86State *env);

/* Whether the CPU has the compacted format, by XSAVEC or by XSAVES.  */
static inline bool has_compacted_xsave(CPUX86State *env)
{
    return env->features[FEAT_XSAVE] &
           (CPUID_XSAVE_XSAVEC | CPUID_XSAVE_XSAVES);
}

/* xsave.c: write IA32_XSS; false if that faults.  */
bool xss_write_msr(CPUX86State *env, uint64_t val);

/* fpu_helper.c: the parts that FXSAVE and FXRSTOR share.  */
void x87_save(X86Access *ac, target_ulong ptr);
void x87_restore(X86Access *ac, target_ulong ptr);
void x87_init(CPUX86State *env);
void mxcsr_save(X86Access *ac, target_ulong ptr);
void mxcsr_restore(X86Access *ac, target_ulong ptr);

#define X87_FCW_INIT    0x37f
#define MXCSR_INIT      0x1f80
#define MXCSR_RESERVED  0xffff0000u

#endif
