/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the user FPU state of current is, for code that can interrupt any other:
 * the rules at struct fpu, as functions. An answer is good for as long as the
 * interrupted code does not go on.
 */
#ifndef _ASM_X86_FPU_USER_STATE_H
#define _ASM_X86_FPU_USER_STATE_H

#include <linux/sched.h>
#include <linux/smp.h>

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>

#ifdef CONFIG_X86_FPU_NMI_STATE

enum fpu_user_place {
	FPU_USER_NOWHERE,	/* being replaced, or the task has none */
	FPU_USER_IN_REGS,
	FPU_USER_IN_MEMORY,
};

/**
 * fpu_find_user_state - find the user state of current
 * @fpstate: gets the state if that is in memory
 *
 * Context: any, NMI included, with preemption disabled.
 */
static inline enum fpu_user_place fpu_find_user_state(const struct fpstate **fpstate)
{
	struct fpstate *task_fpstate;
	struct fpu *fpu;

	if (current->flags & (PF_KTHREAD | PF_USER_WORKER))
		return FPU_USER_NOWHERE;

	fpu = x86_task_fpu(current);
	if (READ_ONCE(fpu->in_flux))
		return FPU_USER_NOWHERE;

	task_fpstate = READ_ONCE(fpu->__task_fpstate);
	if (!task_fpstate) {
		if (!test_thread_flag(TIF_NEED_FPU_LOAD))
			return FPU_USER_IN_REGS;
		task_fpstate = READ_ONCE(fpu->fpstate);
	}
	*fpstate = task_fpstate;

	return FPU_USER_IN_MEMORY;
}

/**
 * fpu_kernel_left_user_regs - what does the kernel's use of the FPU leave alone?
 *
 * Context: any, NMI included, with preemption disabled.
 * Return: true if the kernel uses the registers, and the user state of current
 * is in those that it has not written yet.
 */
static inline bool fpu_kernel_left_user_regs(void)
{
	struct fpu *fpu;

	if (this_cpu_read(kernel_fpu_allowed) ||
	    current->flags & (PF_KTHREAD | PF_USER_WORKER))
		return false;

	fpu = x86_task_fpu(current);

	return this_cpu_read(fpu_fpregs_last_owner) == fpu &&
	       fpu->last_cpu == smp_processor_id() &&
	       !READ_ONCE(fpu->in_flux) && !READ_ONCE(fpu->__task_fpstate);
}

#endif /* CONFIG_X86_FPU_NMI_STATE */

#endif /* _ASM_X86_FPU_USER_STATE_H */
