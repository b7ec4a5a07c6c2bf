// SPDX-License-Identifier: GPL-2.0-only
/*
 * EFLAGS.RF, which a fault leaves in its frame and IRET brings back: it lasts for
 * one instruction, so the frame of a trap by that instruction does not have it
 * (Intel SDM volume 3, section 19.3.1.1). The kernel's sigreturn test sees this
 * when a page fault comes just before its INT3.
 *
 * cpu: max
 */

#include "bare.h"

#define RFLAGS_RF	(1ull << 16)

static volatile uint64_t seen;

static void keep_flags(struct regs *regs)
{
	seen = regs->rflags;
}

/* IRET with RF set to @insn, which traps. */
#define RETURN_TO(insn)						\
	asm volatile("movq %%rsp, %%rax\n\t"			\
		     "movl %%ss, %%ecx\n\t"			\
		     "pushq %%rcx\n\t"				\
		     "pushq %%rax\n\t"				\
		     "pushfq\n\t"				\
		     "orq %0, (%%rsp)\n\t"			\
		     "movl %%cs, %%ecx\n\t"			\
		     "pushq %%rcx\n\t"				\
		     "leaq 1f(%%rip), %%rcx\n\t"		\
		     "pushq %%rcx\n\t"				\
		     "iretq\n"					\
		     "1:\t" insn				\
		     : : "i"(RFLAGS_RF) : "rax", "rcx", "memory", "cc")

int main(void)
{
	on_vector(VECTOR_BP, keep_flags);

	seen = RFLAGS_RF;
	RETURN_TO("int3");
	ok(!(seen & RFLAGS_RF), "INT3: flags %lx", (unsigned long)seen);

	seen = RFLAGS_RF;
	RETURN_TO("int $3");
	ok(!(seen & RFLAGS_RF), "INT 3: flags %lx", (unsigned long)seen);

	seen = RFLAGS_RF;
	RETURN_TO("nop; int3");
	ok(!(seen & RFLAGS_RF), "INT3 after another: flags %lx", (unsigned long)seen);
	return 0;
}
