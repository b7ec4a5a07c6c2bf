// SPDX-License-Identifier: GPL-2.0
/*
 * General purpose registers of a sample: what most architectures need, so that
 * only those that differ define it themselves.
 */
#include <linux/perf_event.h>
#include <linux/perf_regs.h>
#include <linux/sched.h>

/**
 * perf_reg_abi - register ABI of a task
 * @task: the task that a sample is about
 *
 * This one is for architectures whose tasks all have the width of the kernel.
 *
 * Context: any, NMI included.
 * Return: PERF_SAMPLE_REGS_ABI_32 or PERF_SAMPLE_REGS_ABI_64.
 */
u64 __weak perf_reg_abi(struct task_struct *task)
{
	return IS_ENABLED(CONFIG_64BIT) ? PERF_SAMPLE_REGS_ABI_64 :
					  PERF_SAMPLE_REGS_ABI_32;
}

/**
 * perf_get_regs_user - find current's user registers while it is in the kernel
 * @regs_user: where to put the registers and their ABI
 * @regs: registers of the interrupted context, in kernel mode
 *
 * This one is for architectures that have all of pt_regs saved on any entry to
 * the kernel.
 *
 * Context: any, NMI included. Only for a current that has a user mode.
 */
void __weak perf_get_regs_user(struct perf_regs *regs_user, struct pt_regs *regs)
{
	regs_user->regs = task_pt_regs(current);
	regs_user->abi = perf_reg_abi(current);
}
