/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shadow stacks of x86: a task turns its own on and off.
 */
#ifndef SIMD_REGS_SHADOW_STACK_H
#define SIMD_REGS_SHADOW_STACK_H

#include <asm/prctl.h>
#include <sys/syscall.h>

/*
 * @op is ARCH_SHSTK_ENABLE or ARCH_SHSTK_DISABLE. A shadow stack that is new is
 * empty: whoever is in a function then must not return from it, hence no function
 * for the system call either.
 */
static __always_inline long simd_shadow_stack(long op)
{
	long ret;

	asm volatile("syscall" : "=a" (ret)
		     : "a" (SYS_arch_prctl), "D" (op), "S" (ARCH_SHSTK_SHSTK)
		     : "rcx", "r11", "memory");
	return ret;
}

#endif /* SIMD_REGS_SHADOW_STACK_H */
