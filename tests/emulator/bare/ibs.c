// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction-based sampling of AMD's, execution sampling: registers, what is counted,
 * which instruction is the sample, and its interrupt through the extended LVT. All of
 * that is in AMD's APM, volume 2, chapters "Debug and Performance Resources" and
 * "Advanced Programmable Interrupt Controller".
 *
 * cpu: max,vendor=AuthenticAMD,family=25,model=17,pmu=on,ibs=on
 * cpu: max,vendor=AuthenticAMD,family=25,model=17,pmu=on
 */

#include "pmu.h"

enum {
	IBS_OP_CTL = 0xc0011033, IBS_OP_RIP, IBS_OP_DATA, IBS_OP_DATA2, IBS_OP_DATA3,
	IBS_DC_LIN_AD, IBS_DC_PHYS_AD, IBS_CTL,
	APIC_VERSION = 0x30 / 4, APIC_ESR = 0x280 / 4, APIC_EXT_FEATURE = 0x400 / 4,
	APIC_EXT_CONTROL = 0x410 / 4, APIC_EXT_LVT0 = 0x500 / 4,
};

#define OP_EN		(1ull << 17)
#define OP_VAL		(1ull << 18)
#define OP_CNT_CTL	(1ull << 19)
#define OP_CUR(n)	((uint64_t)(n) << 32)
#define OP_CUR_OF(v)	((v) >> 32 & 0x7ffffff)

#define LVT(n)		(APIC_EXT_LVT0 + (n) * 4)

static volatile int nmis;
static uint64_t nmi_rip, nmi_ctl;

static void note_interrupt(struct regs *r)
{
	nmis++;
	nmi_rip = r->rip;
	nmi_ctl = rdmsr(IBS_OP_CTL);
}

/* IbsOpMaxCnt for a count that 16 divides, below 1 << 27 */
static uint64_t op_max(uint64_t n)
{
	return (n >> 4 & 0xffff) | (n & 0x7f00000);
}

static void prepare(void)
{
	wrmsr(IBS_OP_CTL, 0);
	wrmsr(IBS_OP_RIP, 0);
	apic[LVT(0)] = APIC_LVT_NMI;
	nmis = 0;
}

extern const char ibs_first_nop[];

/* WRMSR itself is not counted; 4000 instructions follow it. */
static void __attribute__((noinline)) run(uint64_t ctl)
{
	asm volatile("wrmsr\n"
		     ".global ibs_first_nop\n"
		     "ibs_first_nop: .rept 4000; nop; .endr"
		     : : "c"(IBS_OP_CTL), "a"((uint32_t)ctl), "d"((uint32_t)(ctl >> 32)) : "memory");
}

static void __attribute__((noinline)) loop(uint64_t ctl, uint32_t times)
{
	asm volatile("wrmsr\n"
		     "1: decl %%ebx\n"
		     "jnz 1b"
		     : "+b"(times)
		     : "c"(IBS_OP_CTL), "a"((uint32_t)ctl), "d"((uint32_t)(ctl >> 32)) : "memory", "cc");
}

static void absent(void)
{
	uint32_t esr;

	ok(!(cpuid(0x80000001, 0).ecx & (1 << 3)), "CPUID: no extended APIC space");
	ok(cpuid(0x8000001b, 0).eax == 0, "CPUID: nothing to sample");
	ok(!(apic[APIC_VERSION] >> 31), "the APIC's version has no bit 31");
	apic[APIC_ESR] = 0;
	(void)apic[LVT(0)];
	apic[APIC_ESR] = 0;
	esr = apic[APIC_ESR];
	ok(esr & 0x80, "0x500 is an illegal address: ESR 0x%x", esr);
	wrmsr(IBS_OP_CTL, OP_EN | OP_CNT_CTL | op_max(160));
	for (volatile int i = 0; i < 1000; i++)
		;
	ok(!(rdmsr(IBS_OP_CTL) & OP_VAL), "nothing is sampled");
}

static void registers(void)
{
	uint64_t all = OP_CUR(0x7ffffff) | 0x7f00000 | OP_CNT_CTL | OP_VAL | OP_EN | 0xffff;
	int bad = 0;

	ok(cpuid(0x80000001, 0).ecx & (1 << 3), "CPUID: extended APIC space");
	ok(cpuid(0x8000001b, 0).eax == 0xdd, "CPUID: op sampling, its counts: 0x%x",
	   cpuid(0x8000001b, 0).eax);
	ok(rdmsr(IBS_CTL) == 0x100, "LVT entry 0: 0x%lx", rdmsr(IBS_CTL));
	ok(try_wrmsr(IBS_CTL, 0).vector == VECTOR_GP, "which cannot be written");
	wrmsr(IBS_OP_CTL, ~0ull);
	ok(rdmsr(IBS_OP_CTL) == all, "bits of the control register: 0x%lx", rdmsr(IBS_OP_CTL));
	wrmsr(IBS_OP_CTL, 0);
	for (uint32_t i = IBS_OP_RIP; i <= IBS_DC_PHYS_AD; i++) {
		wrmsr(i, 0x123456789abcull * i);
		bad += rdmsr(i) != 0x123456789abcull * i;
	}
	ok(!bad, "the others keep what is written: %d wrong", bad);

	ok(apic[APIC_VERSION] >> 31, "the APIC's version has bit 31");
	ok(apic[APIC_EXT_FEATURE] == 4 << 16, "four entries: 0x%x", apic[APIC_EXT_FEATURE]);
	ok(apic[APIC_EXT_CONTROL] == 0, "nothing to control");
	bad = 0;
	for (int i = 0; i < 4; i++) {
		bad += apic[LVT(i)] != APIC_LVT_MASKED;
		apic[LVT(i)] = ~0u;
		bad += apic[LVT(i)] != 0x107ff;
		apic[LVT(i)] = APIC_LVT_MASKED;
	}
	ok(!bad, "they are masked, and take vector, type and mask: %d wrong", bad);
}

static void counting(void)
{
	uint64_t v;

	prepare();
	loop(OP_EN | OP_CNT_CTL | op_max(0x7fffff0), 1000);
	v = rdmsr(IBS_OP_CTL);
	ok(OP_CUR_OF(v) > 2000 && OP_CUR_OF(v) < 2020, "ops of 1000 loops: %ld", OP_CUR_OF(v));
	prepare();
	loop(OP_EN | op_max(0x7fffff0), 1000);
	v = rdmsr(IBS_OP_CTL);
	ok(OP_CUR_OF(v) > 4000 && OP_CUR_OF(v) < 4040, "cycles: %ld", OP_CUR_OF(v));
	prepare();
	loop(OP_EN | OP_CNT_CTL | op_max(0x7fffff0) | OP_CUR(100000), 1000);
	v = rdmsr(IBS_OP_CTL);
	ok(OP_CUR_OF(v) > 102000 && OP_CUR_OF(v) < 102020, "the count is written, too: %ld",
	   OP_CUR_OF(v));
	wrmsr(IBS_OP_CTL, v & ~OP_EN);
	loop(v & ~OP_EN, 1000);
	ok(rdmsr(IBS_OP_CTL) == (v & ~OP_EN), "and stays while disabled");
	prepare();
	loop(OP_EN | OP_CNT_CTL, 1000);
	ok(rdmsr(IBS_OP_CTL) == (OP_EN | OP_CNT_CTL), "a maximum of 0 is none");
	ok(nmis == 0, "no interrupt so far: %d", nmis);
}

static void samples(void)
{
	int bad = 0, n = 0;

	for (int after = 16; after < 4000; after += after < 400 ? 16 : 16 * 23) {
		prepare();
		run(OP_EN | OP_CNT_CTL | op_max(after));
		bad += nmis != 1 || nmi_rip != (uintptr_t)ibs_first_nop + after ||
			rdmsr(IBS_OP_RIP) != (uintptr_t)ibs_first_nop + after - 1 ||
			nmi_ctl != (OP_EN | OP_VAL | OP_CNT_CTL | op_max(after));
		n++;
	}
	ok(!bad, "of ops the one at the maximum is the sample: %d of %d wrong", bad, n);
	bad = n = 0;
	for (int after = 16; after < 8000; after += after < 400 ? 16 : 16 * 23) {
		prepare();
		run(OP_EN | op_max(after));
		bad += nmis != 1 || rdmsr(IBS_OP_RIP) != (uintptr_t)ibs_first_nop + after / 2 - 1;
		n++;
	}
	ok(!bad, "of cycles as well: %d of %d wrong", bad, n);
	bad = n = 0;
	for (int before = 1; before < 64; before++) {
		prepare();
		run(OP_EN | OP_CNT_CTL | op_max(1600) | OP_CUR(1600 - before));
		bad += nmis != 1 || rdmsr(IBS_OP_RIP) != (uintptr_t)ibs_first_nop + before - 1;
		n++;
	}
	ok(!bad, "from any count: %d of %d wrong", bad, n);

	prepare();
	run(OP_EN | OP_CNT_CTL | op_max(160));
	ok(nmis == 1, "no second one before IbsOpVal is cleared: %d", nmis);
	ok(rdmsr(IBS_OP_CTL) == (OP_EN | OP_VAL | OP_CNT_CTL | op_max(160)), "the count is 0 again");
	wrmsr(IBS_OP_CTL, OP_EN | OP_CNT_CTL | op_max(160));
	loop(OP_EN | OP_CNT_CTL | op_max(160), 1000);
	ok(nmis == 2, "but then: %d", nmis);
	ok(!(rdmsr(IBS_OP_DATA) >> 38 & 1), "IBS_OP_DATA says that the RIP is valid");

	prepare();
	apic[LVT(0)] = APIC_LVT_NMI | APIC_LVT_MASKED;
	run(OP_EN | OP_CNT_CTL | op_max(160));
	ok(nmis == 0 && (rdmsr(IBS_OP_CTL) & OP_VAL), "no interrupt if the entry is masked: %d", nmis);
	apic[LVT(0)] = APIC_LVT_NMI;
	ok(nmis == 0, "nor when it is unmasked later");
	ok(apic[LVT(0)] == APIC_LVT_NMI, "delivery masks nothing");
}

static void user(void *arg)
{
	for (volatile int i = 0; i < 10000; i++)
		;
}

static void rings(void)
{
	int vector;

	prepare();
	wrmsr(IBS_OP_CTL, OP_EN | OP_CNT_CTL | op_max(20000));
	vector = try_user(user, NULL).vector;
	ok(vector == -1 && nmis == 1, "user mode counts: %d", nmis);
	ok(rdmsr(IBS_OP_RIP) >= (uintptr_t)user && rdmsr(IBS_OP_RIP) < (uintptr_t)user + 100,
	   "and is sampled at %lx, in %lx", rdmsr(IBS_OP_RIP), (uint64_t)(uintptr_t)user);
}

/* ---- loads and stores ------------------------------------------------------------ */

struct access {
	uint64_t ip, load, store;
};

extern const struct access ibs_table[], ibs_table_end[];
void ibs_code(uint64_t ctl);
uint64_t ibs_cells[8];
uint64_t ibs_stack[2], ibs_target;

asm("	.macro	op load store\n"
    "	.section .rodata\n"
    "	.quad	661f, \\load, \\store\n"
    "	.text\n"
    "661:\n"
    "	.endm\n"
    "	.section .rodata\n"
    "	.balign	8\n"
    "	.globl	ibs_table, ibs_table_end, ibs_code\n"
    "ibs_table:\n"
    "	.text\n"
    "ibs_code:\n"
    "	movl	%edi, %eax\n"
    "	movq	%rdi, %rdx\n"
    "	shrq	$32, %rdx\n"
    "	movl	$0xc0011033, %ecx\n"
    "	movq	$2f, ibs_target\n"
    "	wrmsr\n"
    "	op	0, 0\n"
    "	nop\n"
    "	op	ibs_cells, 0\n"
    "	movq	ibs_cells, %rax\n"
    "	op	0, ibs_cells + 8\n"
    "	movq	%rax, ibs_cells + 8\n"
    "	op	0, 0\n"
    "	movq	%rsp, %rdx\n"
    "	op	0, 0\n"
    "	leaq	ibs_stack + 8, %rsp\n"
    "	op	ibs_cells + 16, ibs_cells + 16\n"
    "	addq	$1, ibs_cells + 16\n"
    "	op	0, ibs_stack\n"
    "	pushq	%rax\n"
    "	op	ibs_stack, 0\n"
    "	popq	%rax\n"
    "	op	0, 0\n"
    "	movq	%rdx, %rsp\n"
    "	op	ibs_cells + 33, 0\n"
    "	cmpb	$0, ibs_cells + 33\n"
    "	op	0, ibs_cells + 48\n"
    "	movups	%xmm0, ibs_cells + 48\n"
    "	op	0, 0\n"
    "	jmp	1f\n"
    /* One that is alone in its block of code. */
    "1:	op	ibs_target, 0\n"
    "	jmp	*ibs_target\n"
    "2:	op	ibs_cells + 24, 0\n"
    "	movl	ibs_cells + 24, %eax\n"
    "	op	0, 0\n"
    "	nop\n"
    "	ret\n"
    "	.section .rodata\n"
    "ibs_table_end:\n"
    "	.text\n");

static void memory(void)
{
	int n = ibs_table_end - ibs_table, bad = 0, loads = 0, stores = 0;

	for (int i = 0; i < n; i++) {
		const struct access *a = &ibs_table[i];
		uint64_t address = a->load ? a->load : a->store, data3;

		prepare();
		ibs_code(OP_EN | OP_CNT_CTL | op_max(1600) | OP_CUR(1600 - i - 1));
		data3 = rdmsr(IBS_OP_DATA3);
		loads += data3 & 1;
		stores += data3 >> 1 & 1;
		if (nmis == 1 && rdmsr(IBS_OP_RIP) == a->ip &&
		    (data3 & 1) == !!a->load && (data3 >> 1 & 1) == !!a->store &&
		    (!address || ((data3 >> 17 & 3) == 3 && rdmsr(IBS_DC_LIN_AD) == address &&
				  rdmsr(IBS_DC_PHYS_AD) == address)))
			continue;
		bad++;
		note("%d: rip %lx of %lx, data3 %lx, at %lx of %lx, %d NMIs", i, rdmsr(IBS_OP_RIP),
		     a->ip, data3, rdmsr(IBS_DC_LIN_AD), address, nmis);
	}
	ok(!bad, "what it accesses: %d of %d wrong, %d loads, %d stores", bad, n, loads, stores);
	prepare();
	ibs_code(OP_EN | OP_CNT_CTL | op_max(1600) | OP_CUR(1600 - 2));
	ok((rdmsr(IBS_OP_DATA3) >> 7 & 1) && rdmsr(IBS_OP_DATA3) >> 32 == 64 &&
	   !(rdmsr(IBS_OP_DATA3) >> 20 & 1) && rdmsr(IBS_OP_DATA2) == 0 &&
	   rdmsr(IBS_OP_DATA) == 64 << 16, "a load hits in L2 after 64 cycles: 0x%lx, 0x%lx",
	   rdmsr(IBS_OP_DATA3), rdmsr(IBS_OP_DATA));
}

int main(void)
{
	on_vector(VECTOR_NMI, note_interrupt);
	if (!(cpuid(0x80000001, 0).ecx & (1 << 10))) {
		absent();
		return 0;
	}
	registers();
	counting();
	samples();
	rings();
	memory();
	return 0;
}
