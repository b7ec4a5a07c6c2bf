// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow stacks of user mode: when there are any, and what CALL, RET, far
 * transfers and events do to them and to SSP.
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

/* SSP and the return address of its caller. */
CODE(do_entry, "rdsspq %rax\nmovq %rax, (%rdi)\nmovq (%rsp), %rax\nmovq %rax, 8(%rdi)\n"
	       "movq $-1, %rax\nrdsspd %eax\nmovq %rax, 16(%rdi)\nret");

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

/* ---- far transfers -------------------------------------------------------------- */

/* A far CALL, and back by far RET, or by IRET if rdi[2] is set. SSP: rdi[0], rdi[1]. */
CODE(do_far,
	"movq %rdi, %rsi\n"
	"leaq 1f(%rip), %rax\n"
	"movq %rax, 64(%rsi)\n"
	"movw %cs, 72(%rsi)\n"
	"rex.w lcall *64(%rsi)\n"
	"far_return:\n"
	"rdsspq %rax\n"
	"movq %rax, 8(%rsi)\n"
	"ret\n"
	"1: rdsspq %rax\n"
	"movq %rax, (%rsi)\n"
	"cmpq $0, 16(%rsi)\n"
	"jne 2f\n"
	"lretq\n"
	"2: popq %rax\n"
	"popq %rcx\n"
	"movq %rsp, %rdx\n"
	"movl %ss, %edi\n"
	"pushq %rdi\n"
	"pushq %rdx\n"
	"pushfq\n"
	"pushq %rcx\n"
	"pushq %rax\n"
	"iretq\n"
	".globl far_return");
extern char far_return[];

/* A return without a frame for it. */
CODE(do_bad_lret,
	"movl %cs, %eax\n"
	"pushq %rax\n"
	"leaq 1f(%rip), %rax\n"
	"pushq %rax\n"
	"bad_lret: lretq\n"
	"1: ud2\n"
	".globl bad_lret");
extern char bad_lret[];

static void check_far(void)
{
	static const char *const by[] = { "RET", "IRET" };

	for (int i = 0; i < 2; i++) {
		io[2] = i;
		ok(is(run(do_far, TOP), RETURNED), "far CALL, far %s", by[i]);
		ok(io[0] == TOP - 32 && io[1] == TOP - 8, "they move SSP by 24 and back");
		ok(peek(TOP - 16) == USER_CS && peek(TOP - 24) == (uint64_t)far_return &&
		   peek(TOP - 32) == TOP - 8, "the frame has CS, the address and SSP");

		poke(TOP - 16, -1ull);
		io[2] = i;
		ok(is(run(do_far, TOP - 4), RETURNED), "the same with SSP %% 8 == 4");
		ok(io[0] == TOP - 40 && io[1] == TOP - 12, "the frame is aligned");
		ok((uint32_t)peek(TOP - 16) == 0, "the gap has a zero");
		ok(peek(TOP - 24) == USER_CS && peek(TOP - 32) == (uint64_t)far_return &&
		   peek(TOP - 40) == TOP - 12, "the frame has the unaligned SSP");
	}
	ok(is(run(do_bad_lret, TOP - 24), VECTOR_CP, CP_FAR, bad_lret), "far RET without a frame: #CP");
	ok(is(run(do_bad_lret, TOP - 20), VECTOR_CP, CP_FAR, bad_lret), "and with an unaligned SSP");
	ok(rdmsr(MSR_PL3_SSP) == TOP - 28, "they leave SSP alone");
}

/* ---- 32-bit code ---------------------------------------------------------------- */

#define COMPAT_CS	0x3b
#define FOUR_GIB	(1ull << 32)

/*
 * Into 32-bit code by a far JMP or, if the word at rdi + 60 is set, by a far CALL;
 * the same calls as above, SSP after each, and a far JMP back.
 */
CODE(do_compat,
	"movq %rdi, %rsi\n"
	"leaq compat(%rip), %rax\n"
	"movl %eax, 64(%rsi)\n"
	"movw $0x3b, 68(%rsi)\n"
	"cmpl $0, 60(%rsi)\n"
	"jne to_compat_call\n"
	"to_compat: ljmpl *64(%rsi)\n"
	"to_compat_call: lcall *64(%rsi)\n"
	".globl to_compat, to_compat_call\n"
	".code32\n"
	"compat:\n"
	"movl $0x1b, %eax\n"
	"movl %eax, %ds\n"
	"rdsspd %eax\n"
	"movl %eax, (%esi)\n"
	"call 1f\n"
	"compat_near:\n"
	"rdsspd %eax\n"
	"movl %eax, 4(%esi)\n"
	"call 2f\n"
	"2: popl %eax\n"
	"rdsspd %eax\n"
	"movl %eax, 8(%esi)\n"
	"movl $3f, 64(%esi)\n"
	"movw %cs, 68(%esi)\n"
	"lcall *64(%esi)\n"
	"compat_far:\n"
	"rdsspd %eax\n"
	"movl %eax, 16(%esi)\n"
	"ljmp $0x23, $4f\n"
	"1: rdsspd %eax\n"
	"movl %eax, 20(%esi)\n"
	"movl (%eax), %eax\n"
	"movl %eax, 24(%esi)\n"
	"ret\n"
	"3: rdsspd %eax\n"
	"movl %eax, 12(%esi)\n"
	"lret\n"
	".globl compat_near, compat_far\n"
	".code64\n"
	"4: ret");
extern char to_compat[], to_compat_call[], compat[], compat_near[], compat_far[];

CODE(do_int3, "rdsspq %rax\nmovq %rax, (%rdi)\nint3\nrdsspq %rax\nmovq %rax, 8(%rdi)\nret");
/* At CPL 0: IRET into that. */
CODE(do_iret_compat,
	"pushq $0x1b\n"
	"pushq %rsp\n"
	"pushfq\n"
	"pushq $0x3b\n"
	"leaq compat(%rip), %rax\n"
	"pushq %rax\n"
	"iret_compat: iretq\n"
	".globl iret_compat");
extern char iret_compat[];

static void return_to_compat(struct regs *r)
{
	r->cs = COMPAT_CS;
	r->rip = (uint64_t)compat;
	r->rsi = (uint64_t)io;
}

static void check_compat(void)
{
	extern uint64_t gdt[];
	static uint64_t larger_gdt[8];
	static const uint64_t compat_code = 0x00cffb000000ffff;
	struct __attribute__((packed)) {
		uint16_t limit;
		uint64_t base;
	} gdtr = { sizeof(larger_gdt) - 1, (uint64_t)larger_gdt };
	uint32_t *words = (uint32_t *)io;
	uint64_t *pml4 = (uint64_t *)(read_cr3() & ~0xfffull);
	uint64_t *pdpt = (uint64_t *)(pml4[0] & ~0xfffull);

	memcpy(larger_gdt, gdt, 7 * sizeof(*gdt));
	larger_gdt[COMPAT_CS / 8] = compat_code;
	asm volatile("lgdt %0" : : "m"(gdtr));

	words[15] = 0;
	ok(is(run(do_compat, TOP), RETURNED), "32-bit code: calls and returns pair up");
	ok(words[0] == (uint32_t)TOP - 8, "a far JMP leaves SSP alone");
	ok(words[5] == (uint32_t)TOP - 12 && words[1] == (uint32_t)TOP - 8, "near CALL and RET move it by 4");
	ok(words[2] == (uint32_t)TOP - 8, "a CALL of the next instruction does not");
	ok(words[3] == (uint32_t)TOP - 32 && words[4] == (uint32_t)TOP - 8, "far CALL and RET move it by 24");
	ok(peek(TOP - 16) == COMPAT_CS && peek(TOP - 24) == (uint64_t)compat_far &&
	   peek(TOP - 32) == TOP - 8, "the frame has CS, the address and SSP");
	ok(rdmsr(MSR_PL3_SSP) == TOP, "SSP is back");

	/* The same memory again, 4 GiB higher. */
	pdpt[4] = pdpt[0];
	ok(is(run(do_entry, FOUR_GIB + TOP), RETURNED) && io[0] == FOUR_GIB + TOP - 8,
	   "a shadow stack above 4 GiB");
	words[15] = 0;
	ok(is(run(do_compat, FOUR_GIB + TOP), VECTOR_GP, 0, to_compat),
	   "no far JMP to 32-bit code with it");
	words[15] = 1;
	ok(is(run(do_compat, FOUR_GIB + TOP), VECTOR_GP, 0, to_compat_call), "no far CALL");
	ok(rdmsr(MSR_PL3_SSP) == FOUR_GIB + TOP - 8, "both leave SSP alone");
	ok(is(try(do_iret_compat, NULL), VECTOR_GP, 0, iret_compat), "no IRET");
	on_vector(VECTOR_BP, return_to_compat);
	words[15] = 0;
	ok(is(run(do_int3, TOP), RETURNED) && words[0] == (uint32_t)TOP - 8, "but with a lower one");
	on_vector(VECTOR_BP, NULL);
	pdpt[4] = 0;
	write_cr3(read_cr3());
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
	check_far();
	check_compat();
	check_rings();
	return 0;
}
