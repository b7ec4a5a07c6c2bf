// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow stacks of user mode: when there are any, what near CALL and RET do to
 * them and to SSP, and how SSP survives the kernel.
 *
 * cpu: max
 * cpu: max,shstk=on
 * cpu: max,shstk=on,la57=off
 */

#include "shstk.h"

/* ---- while there are none ------------------------------------------------------- */

CODE(do_rdssp, "movq $-1, %rax\nrdsspq %rax\nmovq %rax, (%rdi)\n"
	       "movq $-1, %rax\nrdsspd %eax\nmovq %rax, 8(%rdi)\nret");
CODE(do_setssbsy, ".byte 0xf3, 0x0f, 0x01, 0xe8\nret");
CODE(do_clrssbsy, "movq (%rdi), %rax\n.byte 0xf3, 0x0f, 0xae, 0x30\nret");
CODE(do_endbr, ".byte 0xf3, 0x0f, 0x1e, 0xfa\nret");

static void check_off(const char *when, bool user, bool cr4_cet)
{
	struct trap (*run_it)(void (*)(void *), void *) = user ? try_user : try;
	static void (*const ud[])(void *) = {
		do_incssp, do_saveprevssp, do_rstorssp, do_wrss, do_setssbsy, do_clrssbsy,
	};
	static const char *const names[] = {
		"INCSSP", "SAVEPREVSSP", "RSTORSSP", "WRSS", "SETSSBSY", "CLRSSBSY",
	};

	io[0] = (uint64_t)MIDDLE;
	for (unsigned int i = 0; i < sizeof(ud) / sizeof(*ud); i++)
		ok(is(run_it(ud[i], io), VECTOR_UD, 0, NULL), "%s: %s is undefined", when, names[i]);
	ok(is(run_it(do_rdssp, io), RETURNED) && io[0] == -1ull && io[1] == -1ull,
	   "%s: RDSSP does nothing", when);
	ok(is(run_it(do_endbr, io), RETURNED), "%s: ENDBR64 does nothing", when);
	io[0] = (uint64_t)MIDDLE;
	if (!cr4_cet)
		ok(is(run_it(do_wruss, io), VECTOR_UD, 0, NULL), "%s: WRUSS is undefined", when);
	else if (user)
		ok(is(run_it(do_wruss, io), VECTOR_GP, 0, NULL), "%s: WRUSS is privileged", when);
}

static void set_cr4(void *value)
{
	write_cr4((uint64_t)value);
}

static void set_cr0(void *value)
{
	write_cr0((uint64_t)value);
}

static void check_control(void)
{
	uint64_t cr0 = read_cr0(), cr4 = read_cr4();

	write_cr0(cr0 & ~CR0_WP);
	ok(is(try(set_cr4, (void *)(cr4 | CR4_CET)), VECTOR_GP, 0, NULL),
	   "CR4.CET cannot be set without CR0.WP");
	write_cr0(cr0);
	ok(is(try(set_cr4, (void *)(cr4 | CR4_CET)), RETURNED) && read_cr4() & CR4_CET,
	   "CR4.CET can be set with it");
	ok(is(try(set_cr0, (void *)(cr0 & ~CR0_WP)), VECTOR_GP, 0, NULL) && read_cr0() & CR0_WP,
	   "CR0.WP cannot be cleared with CR4.CET");
	ok(try_wrmsr(MSR_U_CET, ENDBR_EN).vector == VECTOR_GP, "branch tracking cannot be enabled");
	ok(try_wrmsr(MSR_PL3_SSP, TOP - 2).vector == VECTOR_GP, "SSP is a multiple of 4");
	ok(try_wrmsr(MSR_PL3_SSP, 1ull << 62).vector == VECTOR_GP, "SSP is canonical");
}

/* ---- CALL and RET --------------------------------------------------------------- */

/* Every form of CALL and RET; SSP after each into io[]. */
CODE(do_calls,
	"movq %rdi, %rsi\n"
	"call 2f\n"
	"calls_1:\n"
	"leaq 2f(%rip), %rax\n"
	"call *%rax\n"
	"calls_2:\n"
	"pushq %rax\n"
	"call *(%rsp)\n"
	"calls_3:\n"
	"popq %rax\n"
	"subq $24, %rsp\n"
	"call 3f\n"
	"calls_4:\n"
	"call 1f\n"		/* the next instruction: not on the shadow stack */
	"1: popq %rax\n"
	"rdsspq %rax\n"
	"movq %rax, (%rsi)\n"
	"ret\n"
	"2: rdsspq %rax\n"
	"movq %rax, (%rsi)\n"
	"movq (%rax), %rcx\n"
	"movq %rcx, 8(%rsi)\n"
	"addq $16, %rsi\n"
	"leaq 2b(%rip), %rax\n"
	"ret\n"
	"3: movq $0x123, %rax\n"
	"rdsspq %rax\n"
	"movq %rax, (%rsi)\n"
	"movq (%rax), %rcx\n"
	"movq %rcx, 8(%rsi)\n"
	"addq $16, %rsi\n"
	"ret $24\n"
	".globl calls_1, calls_2, calls_3, calls_4");
extern char calls_1[], calls_2[], calls_3[], calls_4[];

/* rdi[0] calls deep; the entries of all levels stay behind in memory. */
CODE(do_nest,
	"movq (%rdi), %rcx\n"
	"1: decq %rcx\n"
	"jz 2f\n"
	"call 1b\n"
	"nested:\n"
	"ret\n"
	"2: rdsspq %rax\n"
	"movq %rax, 8(%rdi)\n"
	"ret\n"
	".globl nested");
extern char nested[];

/* A changed return address. */
CODE(do_bad_ret,
	"movq (%rsp), %rax\n"
	"movq %rax, (%rdi)\n"
	"leaq 1f(%rip), %rax\n"
	"movq %rax, (%rsp)\n"
	"movq %rsp, 8(%rdi)\n"
	"bad_ret: ret\n"
	"1: ud2\n"
	".globl bad_ret");
extern char bad_ret[];

static void mend_return(struct regs *r)
{
	see(r);
	*(uint64_t *)r->rsp = io[0];
}

static void check_near(void)
{
	const uint64_t depth = 300;
	char *const places[] = { calls_1, calls_2, calls_3, calls_4 };
	bool good;

	ok(is(run(do_entry, TOP), RETURNED), "a function called at CPL 3 returns");
	ok(io[0] == TOP - 8, "RDSSPQ: CALL has moved SSP by 8");
	ok(io[2] == (uint32_t)io[0], "RDSSPD: the lower half, the rest is zeros");
	ok(peek(TOP - 8) == io[1], "CALL has pushed the return address");
	ok(rdmsr(MSR_PL3_SSP) == TOP, "RET has moved SSP back");

	ok(is(run(do_calls, TOP), RETURNED), "all forms of CALL and RET pair up");
	for (int i = 0; i < 4; i++)
		ok(io[2 * i] == TOP - 16 && io[2 * i + 1] == (uint64_t)places[i],
		   "CALL number %d: its entry is 0x%lx", i + 1, io[2 * i + 1]);
	ok(io[8] == TOP - 8, "a CALL of the next instruction leaves SSP alone");

	io[0] = depth;
	ok(is(run(do_nest, TOP), RETURNED) && io[1] == TOP - 8 * depth, "%lu nested calls", depth);
	good = true;
	for (uint64_t i = 2; i <= depth; i++)
		good &= peek(TOP - 8 * i) == (uint64_t)nested;
	ok(good, "each level has its entry");

	ok(is(run(do_bad_ret, TOP), VECTOR_CP, CP_NEAR, bad_ret), "RET to another address: #CP");
	on_vector(VECTOR_CP, mend_return);
	seen = 0;
	ok(is(run(do_bad_ret, TOP), RETURNED) && seen == 1 && rdmsr(MSR_PL3_SSP) == TOP,
	   "the RET can be restarted once its stack is mended");
	ok(seen_regs.rsp == io[1] && seen_ssp == TOP - 8, "until then it has moved neither stack");
	on_vector(VECTOR_CP, NULL);

	enable(SH_STK_EN, TOP);
	check_off("at CPL 0", false, true);
	ok(rdmsr(MSR_PL3_SSP) == TOP, "at CPL 0, CALL and RET leave SSP alone");
}

/* ---- leaving CPL 3 and coming back ---------------------------------------------- */

CODE(do_spin, "movl $1000, %ecx\n1: call 2f\nloop 1b\nret\n2: ret");
CODE(do_syscall,
	"rdsspq %rax\nmovq %rax, (%rdi)\nmovq %rdi, %rsi\nsyscall\n"
	"rdsspq %rax\nmovq %rax, 8(%rsi)\nret\n"
	".globl on_syscall\n"
	"on_syscall:\n"
	"call 1f\n"
	"sysretq\n"
	"1: movq $-1, %rax\nrdsspq %rax\nmovq %rax, 16(%rsi)\nret");
extern char on_syscall[];

static void open_interrupts(struct regs *r)
{
	see(r);
	r->rflags |= RFLAGS_IF;
}

static void end_interrupt(struct regs *r)
{
	see(r);
	apic[APIC_EOI] = 0;
	r->rflags &= ~RFLAGS_IF;
}

static void move_ssp(struct regs *r)
{
	see(r);
	wrmsr(MSR_PL3_SSP, seen_ssp - 8);
}

static void check_rings(void)
{
	on_vector(VECTOR_BP, see);
	seen = 0;
	ok(is(run(do_int3, TOP), RETURNED) && seen == 1, "an exception of CPL 3 that returns");
	ok(seen_ssp == TOP - 8 && io[0] == TOP - 8 && io[1] == TOP - 8,
	   "IA32_PL3_SSP is SSP, and IRET gives it back");
	on_vector(VECTOR_BP, move_ssp);
	poke(TOP - 16, peek(TOP - 8));
	ok(is(run(do_int3, TOP), RETURNED) && io[1] == TOP - 16 && rdmsr(MSR_PL3_SSP) == TOP - 8,
	   "what the kernel writes to IA32_PL3_SSP is the SSP to come");

	on_vector(VECTOR_BP, open_interrupts);
	on_vector(0x60, end_interrupt);
	seen = 0;
	apic[APIC_ICR_LOW] = 0x40000 | 0x60;
	ok(is(run(do_int3, TOP), RETURNED) && seen == 2 && seen_regs.vector == 0x60 &&
	   (seen_regs.cs & 3) == 3, "an interrupt arrives at CPL 3");
	ok(seen_ssp == TOP - 8 && io[1] == TOP - 8, "it leaves SSP as it was");
	on_vector(VECTOR_BP, NULL);
	on_vector(0x60, NULL);
	ok(is(run(do_spin, TOP), RETURNED), "1000 calls in a loop");

	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE);
	/* SYSRET: CS is 16, SS is 8 above this selector. */
	wrmsr(MSR_STAR, (uint64_t)(USER_CS - 16) << 48 | (uint64_t)KERNEL_CS << 32);
	wrmsr(MSR_LSTAR, (uint64_t)on_syscall);
	wrmsr(MSR_FMASK, RFLAGS_IF);
	ok(is(run(do_syscall, TOP), RETURNED) && io[0] == TOP - 8 && io[1] == TOP - 8,
	   "SYSCALL and SYSRET keep SSP");
	ok(io[2] == -1ull, "between them there is none");
}

int main(void)
{
	make_plain(MIDDLE);
	check_off("without CR4.CET, at CPL 3", true, false);
	check_off("without CR4.CET, at CPL 0", false, false);
	if (!(cpuid(7, 0).ecx & CPUID_7_ECX_SHSTK))
		return 0;
	check_control();
	enable(0, TOP);
	check_off("disabled", true, true);

	make_shadow(LOW);
	make_shadow(HIGH);
	check_near();
	check_rings();
	return 0;
}
