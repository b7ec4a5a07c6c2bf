// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow stacks of user mode: what CALL, RET and the instructions made for them
 * do to SSP and to memory, when they fault and with which error code.
 *
 * cpu: max
 * cpu: max,shstk=on
 * cpu: max,shstk=on,la57=off
 */

#include "bare.h"
#include "layout.h"

#define CR0_WP		(1ull << 16)
#define CR4_CET		(1ull << 23)
#define CPUID_7_ECX_SHSTK (1u << 7)

#define MSR_EFER	0xc0000080
#define EFER_SCE	1
#define MSR_STAR	0xc0000081
#define MSR_LSTAR	0xc0000082
#define MSR_FMASK	0xc0000084
#define MSR_U_CET	0x6a0
#define MSR_S_CET	0x6a2
#define MSR_PL3_SSP	0x6a7
#define SH_STK_EN	1
#define WR_SHSTK_EN	2
#define ENDBR_EN	4

/* Error codes: of a page fault, and of #CP. */
enum { PF_P = 1, PF_W = 2, PF_U = 4, PF_SS = 0x40 };
enum { CP_NEAR = 1, CP_FAR = 2, CP_RSTORSSP = 4 };

#define RFLAGS_CF	(1 << 0)
#define RFLAGS_IF	(1 << 9)

/* Three pages in a row: TOP, where most shadow stacks begin, ends the last. */
#define WORDS		(PAGE_SIZE / 8)
static uint64_t stacks[3 * WORDS] __attribute__((aligned(PAGE_SIZE)));
#define LOW		(&stacks[0])
#define MIDDLE		(&stacks[WORDS])
#define HIGH		(&stacks[2 * WORDS])
#define TOP		((uint64_t)&stacks[3 * WORDS])

#define MB		(1024ull * 1024)
/* Memory that nothing else uses: in 4 KiB pages, and in pages of 2 MiB. */
#define FAR_AWAY	(32 * MB)
#define LARGE_PAGE	(128 * MB)

/* What the pieces of user code take and leave. */
static uint64_t io[16];

static void set_page(const volatile void *va, uint64_t clear, uint64_t set)
{
	uint64_t *pte = page_entry(va);

	*pte = (*pte & ~clear) | set;
	invlpg(va);
}

static void make_shadow(const volatile void *va)
{
	set_page(va, PTE_RW, PTE_P | PTE_US | PTE_D);
}

static void make_plain(const volatile void *va)
{
	set_page(va, 0, PTE_P | PTE_US | PTE_RW);
}

/* Write to a shadow stack, from outside of the machinery under test. */
static void poke(uint64_t addr, uint64_t value)
{
	void *p = (void *)addr;

	make_plain(p);
	*(volatile uint64_t *)p = value;
	make_shadow(p);
}

static uint64_t peek(uint64_t addr)
{
	return *(volatile uint64_t *)addr;
}

static void enable(uint64_t u_cet, uint64_t ssp)
{
	wrmsr(MSR_U_CET, u_cet);
	wrmsr(MSR_PL3_SSP, ssp);
}

/* Run fn at CPL 3 on a shadow stack that ends at ssp; its caller takes one entry. */
static struct trap run(void (*fn)(void *), uint64_t ssp)
{
	enable(SH_STK_EN | WR_SHSTK_EN, ssp);
	return try_user(fn, io);
}

#define CODE(name, text)						\
	void name(void *);						\
	asm(".pushsection .text\n.globl " #name "\n" #name ":\n" text "\n.popsection\n")

static bool is(struct trap t, int vector, uint64_t error, const void *rip)
{
	bool good = t.vector == vector && (vector < 0 || (t.error == error && (!rip || t.rip == (uint64_t)rip)));

	if (!good)
		note("vector %d error 0x%lx rip 0x%lx, not vector %d error 0x%lx rip %p; CR2 0x%lx",
		     t.vector, t.error, t.rip, vector, error, rip, read_cr2());
	return good;
}

#define RETURNED	-1, 0, NULL

/* ---- while there are none ------------------------------------------------------- */

CODE(do_rdssp, "movq $-1, %rax\nrdsspq %rax\nmovq %rax, (%rdi)\n"
	       "movq $-1, %rax\nrdsspd %eax\nmovq %rax, 8(%rdi)\nret");
CODE(do_incssp, "movq (%rdi), %rax\nincsspq %rax\nret");
CODE(do_saveprevssp, "saveprevssp\nret");
CODE(do_rstorssp, "movq (%rdi), %rax\nrstorssp (%rax)\nret");
CODE(do_wrss, "movq (%rdi), %rax\nmovq 8(%rdi), %rdx\nwrssq %rdx, (%rax)\nret");
CODE(do_wruss, "movq (%rdi), %rax\nmovq 8(%rdi), %rdx\nwrussq %rdx, (%rax)\nret");
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

static struct regs seen_regs;
static uint64_t seen_ssp, seen_slot;
static unsigned int seen;

static void see(struct regs *r)
{
	seen++;
	seen_regs = *r;
	seen_ssp = rdmsr(MSR_PL3_SSP);
	seen_slot = peek(r->rsp - 8);
}

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

/* ---- leaving CPL 3 and coming back ---------------------------------------------- */

CODE(do_int3, "rdsspq %rax\nmovq %rax, (%rdi)\nint3\nrdsspq %rax\nmovq %rax, 8(%rdi)\nret");
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

/* ---- pages ---------------------------------------------------------------------- */

CODE(do_store, "movq (%rdi), %rax\nmovq 8(%rdi), %rdx\nmovq %rdx, (%rax)\nret");
CODE(do_load, "movq (%rdi), %rax\nmovq (%rax), %rax\nmovq %rax, 8(%rdi)\nret");
CODE(do_wrssd, "movq (%rdi), %rax\nmovq 8(%rdi), %rdx\nwrssd %edx, (%rax)\nret");
CODE(do_wrussd, "movq (%rdi), %rax\nmovq 8(%rdi), %rdx\nwrussd %edx, (%rax)\nret");
CODE(do_nested_call,
	"movq $0x5a5a, %rax\n"
	"movq %rax, -8(%rsp)\n"
	"movq %rsp, (%rdi)\n"
	"nested_call: call 1f\n"
	"ret\n"
	"1: rdsspq %rax\n"
	"movq %rax, 8(%rdi)\n"
	"ret\n"
	".globl nested_call");
extern char nested_call[];

static void mend_page(struct regs *r)
{
	see(r);
	make_shadow((void *)read_cr2());
}

/* The entry of the page directory for an address of the first GiB. */
static uint64_t *directory_entry(uint64_t va)
{
	const uint64_t frame = 0xffffffffff000ull;
	uint64_t *pml4 = (uint64_t *)(read_cr3() & frame);
	uint64_t *pdpt = (uint64_t *)(pml4[0] & frame);
	uint64_t *pd = (uint64_t *)(pdpt[0] & frame);

	return &pd[va / (2 * MB)];
}

static void check_pages(void)
{
	static const struct {
		uint64_t clear, set;
		uint64_t error;		/* of a page fault, without PF_W; 0: none */
		const char *what;
	} rules[] = {
		{ PTE_RW, PTE_D, 0, "read-only, dirty" },
		{ 0, PTE_RW | PTE_D, PF_SS | PF_U | PF_P, "writable, dirty" },
		{ PTE_D, PTE_RW, PF_SS | PF_U | PF_P, "writable, clean" },
		{ PTE_RW | PTE_D, 0, PF_SS | PF_U | PF_P, "read-only, clean" },
		{ PTE_RW | PTE_US, PTE_D, PF_SS | PF_U | PF_P, "read-only, dirty, of the supervisor" },
		{ PTE_RW | PTE_P, PTE_D, PF_SS | PF_U, "not present" },
	};
	uint64_t *pde;

	for (unsigned int i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		uint64_t e = rules[i].error;
		int v = e ? VECTOR_PF : -1;

		make_plain(MIDDLE);
		MIDDLE[0] = (uint64_t)(MIDDLE + 1) | 1;
		set_page(MIDDLE, rules[i].clear, rules[i].set);
		io[0] = (uint64_t)&MIDDLE[8];
		io[1] = 77 + i;
		ok(is(run(do_wrss, TOP), v, e | PF_W, NULL), "%s: WRSS", rules[i].what);
		ok(!e || read_cr2() == io[0], "CR2");
		io[0] = (uint64_t)&MIDDLE[9];
		ok(is(try(do_wruss, io), v, e | PF_W, NULL), "%s: WRUSS", rules[i].what);
		if (e) {
			io[0] = (uint64_t)MIDDLE;
			ok(is(run(do_rstorssp, TOP), v, e | PF_W, NULL), "%s: RSTORSSP", rules[i].what);
			/* SSP is 2 entries below the page: the third is in it. */
			io[0] = 3;
			make_shadow(LOW);
			ok(is(run(do_incssp, (uint64_t)(MIDDLE - 1)), v, e, NULL), "%s: INCSSP",
			   rules[i].what);
		} else {
			ok(MIDDLE[8] == 77 + i && MIDDLE[9] == 77 + i, "%s: both have written", rules[i].what);
		}
	}

	make_shadow(MIDDLE);
	io[0] = (uint64_t)&MIDDLE[10];
	io[1] = 1;
	ok(is(run(do_store, TOP), VECTOR_PF, PF_P | PF_W | PF_U, NULL), "MOV to a shadow stack at CPL 3");
	ok(is(try(do_store, io), VECTOR_PF, PF_P | PF_W, NULL), "MOV to a shadow stack at CPL 0");
	ok(is(run(do_load, TOP), RETURNED), "MOV from a shadow stack");

	/* Read-only by the directory: no shadow stack. */
	pde = directory_entry(FAR_AWAY);
	set_page((void *)FAR_AWAY, PTE_RW, PTE_D);
	io[0] = FAR_AWAY;
	ok(is(run(do_wrss, TOP), RETURNED), "an ordinary one elsewhere");
	*pde &= ~PTE_RW;
	invlpg((void *)FAR_AWAY);
	ok(is(run(do_wrss, TOP), VECTOR_PF, PF_SS | PF_U | PF_W | PF_P, NULL),
	   "read-only in the directory, too");
	*pde |= PTE_RW;
	invlpg((void *)FAR_AWAY);

	pde = directory_entry(LARGE_PAGE);
	*pde |= PTE_D;
	io[0] = LARGE_PAGE + 0x1000;
	io[1] = 99;
	invlpg((void *)LARGE_PAGE);
	ok(is(run(do_wrss, TOP), VECTOR_PF, PF_SS | PF_U | PF_W | PF_P, NULL), "2 MiB, writable");
	*pde &= ~PTE_RW;
	invlpg((void *)LARGE_PAGE);
	ok(is(run(do_wrss, TOP), RETURNED) && peek(LARGE_PAGE + 0x1000) == 99, "2 MiB, read-only and dirty");
	*pde |= PTE_RW;
	invlpg((void *)LARGE_PAGE);

	/* A CALL whose shadow stack has a page fault leaves nothing behind. */
	make_plain(MIDDLE);
	on_vector(VECTOR_PF, mend_page);
	seen = 0;
	ok(is(run(do_nested_call, (uint64_t)(HIGH + 1)), RETURNED) && seen == 1, "a CALL is restarted");
	ok(seen_regs.rip == (uint64_t)nested_call && seen_regs.error == (PF_SS | PF_U | PF_W | PF_P) &&
	   read_cr2() == (uint64_t)(HIGH - 1), "its page fault");
	ok(seen_regs.rsp == io[0] && seen_slot == 0x5a5a, "it had not written to the stack");
	ok(seen_ssp == (uint64_t)HIGH, "nor moved SSP");
	ok(io[1] == (uint64_t)(HIGH - 1) && rdmsr(MSR_PL3_SSP) == (uint64_t)(HIGH + 1),
	   "the second time it did both");
	on_vector(VECTOR_PF, NULL);
}

/* ---- the instructions ----------------------------------------------------------- */

/* INCSSP by rdi[0], then SSP to rdi[1]. RET would find another entry than its own. */
CODE(do_incsspq,
	"movq (%rdi), %rax\nincsspq %rax\nrdsspq %rdx\nmovq %rdx, 8(%rdi)\n"
	"int $0x80");
CODE(do_incsspd,
	"movq (%rdi), %rax\nincsspd %eax\nrdsspq %rdx\nmovq %rdx, 8(%rdi)\n"
	"int $0x80");

static void check_write(void)
{
	make_shadow(MIDDLE);
	poke((uint64_t)MIDDLE, 0);
	io[0] = (uint64_t)MIDDLE;
	io[1] = 0x1122334455667788;
	enable(SH_STK_EN, TOP);
	ok(is(try_user(do_wrss, io), VECTOR_UD, 0, NULL), "WRSS without WR_SHSTK_EN");
	ok(is(run(do_wrssd, TOP), RETURNED) && MIDDLE[0] == 0x55667788, "WRSSD writes 4 bytes");
	ok(is(run(do_wrss, TOP), RETURNED) && MIDDLE[0] == io[1], "WRSSQ writes 8");
	io[0] += 4;
	ok(is(run(do_wrss, TOP), VECTOR_GP, 0, NULL), "WRSSQ aligns to 8");
	ok(is(run(do_wrssd, TOP), RETURNED), "WRSSD aligns to 4");
	io[0] += 2;
	ok(is(run(do_wrssd, TOP), VECTOR_GP, 0, NULL), "and to no less");

	enable(0, TOP);
	io[0] = (uint64_t)MIDDLE;
	io[1] = 0x99aabbccddeeff00;
	ok(is(try(do_wruss, io), RETURNED) && MIDDLE[0] == io[1],
	   "WRUSSQ at CPL 0 does not need IA32_U_CET");
	io[1] = 0x12345678;
	ok(is(try(do_wrussd, io), RETURNED) && MIDDLE[0] == 0x99aabbcc12345678, "WRUSSD");
	io[0] += 4;
	ok(is(try(do_wruss, io), VECTOR_GP, 0, NULL), "WRUSSQ aligns to 8");
	ok(is(run(do_wruss, TOP), VECTOR_GP, 0, NULL), "WRUSS at CPL 3");
}

static void check_inc(void)
{
	const uint64_t base = (uint64_t)(HIGH + 64);

	for (uint64_t n = 0; n < 256; n += 51) {
		io[0] = 0xabcd00 + n;
		ok(is(run(do_incsspq, base), RETURNED) && io[1] == base - 8 + 8 * n,
		   "INCSSPQ of %lu takes 8 bits of the count", n);
		ok(is(run(do_incsspd, base), RETURNED) && io[1] == base - 8 + 4 * n, "INCSSPD");
	}
	io[0] = 4;
	make_plain(stacks + 3 * WORDS);
	ok(is(run(do_incsspq, TOP - 16), VECTOR_PF, PF_SS | PF_U | PF_P, NULL) && read_cr2() == TOP,
	   "INCSSP reads the last entry that it drops");
	ok(rdmsr(MSR_PL3_SSP) == TOP - 24, "or leaves SSP alone");
	io[0] = 3;
	ok(is(run(do_incsspq, TOP - 16), RETURNED) && io[1] == TOP, "it can drop all");
}

/* To the stack at rdi[0] and back; SSP after each step, the flags after RSTORSSP. */
CODE(do_switch,
	"rdsspq %rcx\n"
	"movq %rcx, 8(%rdi)\n"
	"movq (%rdi), %rax\n"
	"xorl %edx, %edx\n"
	"cmpq $1, %rdx\n"		/* CF, SF, AF */
	"rstorssp (%rax)\n"
	"pushfq\n"
	"popq %rdx\n"
	"movq %rdx, 16(%rdi)\n"
	"rdsspq %rax\n"
	"movq %rax, 24(%rdi)\n"
	"movq (%rax), %rdx\n"
	"movq %rdx, 32(%rdi)\n"
	"pushq 16(%rdi)\n"
	"popfq\n"
	"switch_save: saveprevssp\n"
	"rdsspq %rax\n"
	"movq %rax, 40(%rdi)\n"
	"movq -8(%rcx), %rdx\n"
	"movq %rdx, 48(%rdi)\n"
	"call 1f\n"
	"leaq -8(%rcx), %rax\n"
	"rstorssp (%rax)\n"
	"saveprevssp\n"
	"rdsspq %rax\n"
	"movq %rax, 56(%rdi)\n"
	"ret\n"
	"1: ret\n"
	".globl switch_save");
extern char switch_save[];
CODE(do_drop_and_save, "movl $1, %eax\nincsspq %rax\nclc\nsaveprevssp\nret");

static void check_switch(void)
{
	const uint64_t token = (uint64_t)(MIDDLE + 100), old = TOP - 8;
	const struct {
		uint64_t value;
		const char *what;
	} bad[] = {
		{ token + 8, "of 32-bit mode" },
		{ (token + 8) | 3, "for SAVEPREVSSP" },
		{ (token + 16) | 1, "for another place" },
		{ token | 1, "for the place below" },
		{ 0, "of zero" },
	};

	make_shadow(MIDDLE);
	poke(token, (token + 8) | 1);
	io[0] = token;
	ok(is(run(do_switch, TOP), RETURNED), "to another stack and back");
	ok(io[3] == token && io[4] == (old | 3), "RSTORSSP: SSP and the token of the previous one");
	ok((io[2] & 0x8d5) == 0, "RSTORSSP clears the flags");
	ok(io[5] == token + 8 && io[6] == (old | 1), "SAVEPREVSSP: SSP and a token on the other stack");
	ok(io[7] == old && rdmsr(MSR_PL3_SSP) == TOP, "SSP is back");
	ok(peek(token) == ((token + 8) | 1), "and there is a token to go there again");

	poke(token, (token + 12) | 1);
	poke(token + 8, 0xffffffff00000000);
	io[0] = token;
	ok(is(run(do_switch, TOP), RETURNED), "to a stack that ends at 4 modulo 8");
	ok((io[2] & 0x8d5) == RFLAGS_CF && io[5] == token + 12, "CF tells of the gap");
	ok(peek(token) == ((token + 12) | 1) && (uint32_t)peek(token + 8) == 0,
	   "its token is aligned, with a gap of zero");

	poke(token, (token + 12) | 1);
	poke(token + 8, 0xffffffff00000001);
	io[0] = token;
	ok(is(run(do_switch, TOP), VECTOR_GP, 0, switch_save), "SAVEPREVSSP: the gap is not zero");
	ok(rdmsr(MSR_PL3_SSP) == token, "it has not moved SSP");
	poke(TOP - 8, old | 1);
	ok(is(run(do_drop_and_save, TOP - 8), VECTOR_GP, 0, NULL), "SAVEPREVSSP with a restore token");
	ok(is(run(do_saveprevssp, TOP - 4), VECTOR_GP, 0, NULL), "SAVEPREVSSP with an unaligned SSP");

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		poke(token, bad[i].value);
		io[0] = token;
		ok(is(run(do_rstorssp, TOP), VECTOR_CP, CP_RSTORSSP, NULL), "RSTORSSP: a token %s", bad[i].what);
		ok(rdmsr(MSR_PL3_SSP) == old && peek(token) == bad[i].value, "it changes nothing");
	}
	io[0] = token + 4;
	ok(is(run(do_rstorssp, TOP), VECTOR_GP, 0, NULL), "RSTORSSP: an unaligned token");
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
	check_rings();
	check_write();
	check_inc();
	check_switch();
	check_pages();
	return 0;
}
