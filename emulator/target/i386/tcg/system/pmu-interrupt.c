/*
 * The interrupt of the emulated PMU, which goes through the local APIC's LVTPC.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "cpu.h"
#include "hw/i386/apic.h"
#include "pmu.h"

/*
 * Intel's processors mask LVTPC when they deliver.  Software may unmask it
 * after it has let the counters go on, and one that overflows in between must
 * not be lost: its interrupt waits.
 */
void pmu_interrupt(CPUX86State *env)
{
    DeviceState *apic = env_archcpu(env)->apic_state;
    bool masks = !pmu_is_amd(env);

    if (apic) {
        BQL_LOCK_GUARD();
        env->pmu.pmi_held = !apic_deliver_pmi(apic, masks) && masks;
    }
}

void x86_pmu_lvtpc_unmasked(CPUX86State *env)
{
    if (env->pmu.pmi_held) {
        pmu_interrupt(env);
    }
}
