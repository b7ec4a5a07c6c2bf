/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A virtual machine of a worker, for KVM: a guest of a few instructions that has
 * a pattern of its own in the vector registers.
 */
#ifndef SIMD_REGS_VM_H
#define SIMD_REGS_VM_H

#include "simd_regs_live.h"

/* The guest's pattern: a family that no worker has */
#define SIMD_GUEST_SEED		0x7e00

/*
 * Adds the call that enters the guest, which spins and comes back; it stays until
 * exit. 0 or a negative errno, -ENODEV without KVM.
 */
int simd_vm_add(struct simd_call *calls, unsigned int *nr_calls);

#endif /* SIMD_REGS_VM_H */
