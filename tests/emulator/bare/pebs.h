/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of both flavours of PEBS need: instructions whose effect on the
 * registers is known one by one, a pattern in every register, and PMIs that are
 * written down.
 *
 * The sled is SLED times the same instruction, which adds 1 to R15 and does
 * nothing else. Behind the k-th of them RIP is steps + k * STEP_SIZE and R15 is
 * R15_START + k: so a record tells which of them it was taken after.
 */
#ifndef BARE_PEBS_H
#define BARE_PEBS_H

#include "bare.h"

#define MSR_GP_COUNTER		0x4c1	/* full width */
#define MSR_EVENT_SELECT	0x186
#define MSR_FIXED_COUNTER	0x309
#define MSR_PERF_CAPABILITIES	0x345
#define MSR_FIXED_CTRL		0x38d
#define MSR_GLOBAL_STATUS	0x38e
#define MSR_GLOBAL_CTRL		0x38f
#define MSR_GLOBAL_RESET	0x390

/* Instructions retired, not interrupting; in one ring. */
#define COUNT_USER		(0x0000c0ull | 1 << 16 | 1 << 22)
#define COUNT_KERNEL		(0x0000c0ull | 1 << 17 | 1 << 22)
#define COUNTER_MASK		0xffffffffffffull
/* The number of the first fixed counter, in GLOBAL_CTRL and elsewhere. */
#define FIXED			32

#define SLED			64
#define STEP_SIZE		4
/*
 * Instructions that count before the sled's first: at CPL 0 those behind the
 * WRMSR that starts the counters; at CPL 3 all since the way there. At CPL 0,
 * those behind its last one, with the WRMSR that stops the counters.
 */
#define LEAD_KERNEL		3
#define LEAD_USER		19
#define TAIL_KERNEL		4

/* CF, AF, SF, DF, OF, and bit 1, which is always set. */
#define SLED_FLAGS		0xc93
#define R15_START		0x0f0e0d0c0b0a0900
#define GPR_FIRST		0xa1b2c3d4e5f60718
#define GPR_NEXT		0x0101010101010101

extern const uint8_t kernel_steps[], user_steps[];
/* The sled at CPL 0, with counters enabled by this value of GLOBAL_CTRL. */
void kernel_sled(uint64_t global_ctrl);
/* The sled at CPL 3, for try_user(). */
void user_sled(void *unused);
/* RSP throughout the last sled. */
uint64_t sled_rsp;

#define STRING_(x)		#x
#define STRING(x)		STRING_(x)

/* 14 instructions in load_most, which leaves RSP as it was. */
asm("	.macro	load reg number\n"
    "	movabsq	$" STRING(GPR_FIRST) " + \\number * " STRING(GPR_NEXT) ", %\\reg\n"
    "	.endm\n"
    "	.macro	load_most\n"
    "	load	rbx 3\n"
    "	load	rbp 5\n"
    "	load	rsi 6\n"
    "	load	rdi 7\n"
    "	load	r8 8\n"
    "	load	r9 9\n"
    "	load	r10 10\n"
    "	load	r11 11\n"
    "	load	r12 12\n"
    "	load	r13 13\n"
    "	load	r14 14\n"
    "	movabsq	$" STRING(R15_START) ", %r15\n"
    "	pushq	$" STRING(SLED_FLAGS) "\n"
    "	popfq\n"
    "	.endm\n");

asm("	.text\n"
    "	.globl	kernel_sled, kernel_steps, user_sled, user_steps\n"
    "kernel_sled:\n"
    "	pushq	%rbx\n"
    "	pushq	%rbp\n"
    "	pushq	%r12\n"
    "	pushq	%r13\n"
    "	pushq	%r14\n"
    "	pushq	%r15\n"
    "	pushfq\n"
    "	movq	%rsp, sled_rsp\n"
    "	movl	%edi, %eax\n"
    "	movq	%rdi, %rdx\n"
    "	shrq	$32, %rdx\n"
    "	movl	$" STRING(MSR_GLOBAL_CTRL) ", %ecx\n"
    "	load_most\n"
    "	wrmsr\n"
    "	load	rax 0\n"
    "	load	rcx 1\n"
    "	load	rdx 2\n"
    "kernel_steps:\n"
    "	.rept	" STRING(SLED) "\n"
    "	leaq	1(%r15), %r15\n"
    "	.endr\n"
    "	movl	$" STRING(MSR_GLOBAL_CTRL) ", %ecx\n"
    "	xorl	%eax, %eax\n"
    "	xorl	%edx, %edx\n"
    "	wrmsr\n"
    "	popfq\n"
    "	popq	%r15\n"
    "	popq	%r14\n"
    "	popq	%r13\n"
    "	popq	%r12\n"
    "	popq	%rbp\n"
    "	popq	%rbx\n"
    "	ret\n"
    "user_sled:\n"
    "	movq	%rsp, sled_rsp\n"
    "	load_most\n"
    "	load	rax 0\n"
    "	load	rcx 1\n"
    "	load	rdx 2\n"
    "user_steps:\n"
    "	.rept	" STRING(SLED) "\n"
    "	leaq	1(%r15), %r15\n"
    "	.endr\n"
    "	ret\n");

/*
 * RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 .. R15 as they are
 * behind the k-th step: the number of those that differ.
 */
static inline unsigned int wrong_gprs(const uint64_t *gprs, const uint8_t *steps, unsigned int k)
{
	unsigned int bad = 0;

	for (unsigned int i = 0; i < 18; i++) {
		uint64_t expected = i == 0 ? SLED_FLAGS :
				    i == 1 ? (uint64_t)steps + k * STEP_SIZE :
				    i == 6 ? sled_rsp :
				    i == 17 ? (uint64_t)R15_START + k :
				    GPR_FIRST + (i - 2) * GPR_NEXT;

		if (gprs[i] != expected) {
			note("word %u of the GPRs is 0x%lx, expected 0x%lx", i, gprs[i], expected);
			bad++;
		}
	}
	return bad;
}

/* ---- vector registers and the like, by number of their XSAVE component --------- */

enum {
	SSE = 1, YMM = 2, OPMASK = 5, ZMM_HI256 = 6, HI16_ZMM = 7, APX = 19,
	COMPONENTS = 20,
};

#define VECTOR_COMPONENTS	(1 << SSE | 1 << YMM | 1 << OPMASK | 1 << ZMM_HI256 | \
				 1 << HI16_ZMM | 1 << APX)

/* The i-th 64-bit word of a component. */
static inline uint64_t pattern(unsigned int component, unsigned int i)
{
	return 0x9e3779b97f4a7c15 * (component * 1000 + i + 1);
}

/* Load the pattern into the components of this mask, initial values into the others. */
static inline void load_components(uint64_t mask)
{
	static uint8_t area[8192] __attribute__((aligned(64)));
	uint64_t enabled = xgetbv(0) & VECTOR_COMPONENTS;

	memset(area, 0, sizeof(area));
	*(uint32_t *)(area + 24) = 0x1f80;		/* MXCSR */
	*(uint64_t *)(area + 512) = mask & enabled;	/* XSTATE_BV */
	for (unsigned int c = 1; c < COMPONENTS; c++) {
		struct cpuid leaf = cpuid(0xd, c);
		unsigned int offset = c == SSE ? 160 : leaf.ebx;
		unsigned int size = c == SSE ? 256 : leaf.eax;

		if (!(mask & enabled & 1 << c))
			continue;
		for (unsigned int i = 0; i < size / 8; i++)
			*(uint64_t *)(area + offset + 8 * i) = pattern(c, i);
	}
	asm volatile("xrstor %0" : : "m"(area), "a"((uint32_t)enabled), "d"(0) : "memory");
}

static inline unsigned int wrong_words(const uint64_t *words, unsigned int component, unsigned int nr)
{
	unsigned int bad = 0;

	for (unsigned int i = 0; i < nr; i++)
		bad += words[i] != pattern(component, i);
	return bad;
}

static inline bool all_zero(const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n--)
		if (*b++)
			return false;
	return true;
}

/* ---- counters ------------------------------------------------------------------ */

static inline void stop_counters(void)
{
	wrmsr(MSR_GLOBAL_CTRL, 0);
	wrmsr(MSR_FIXED_CTRL, 0);
	for (int i = 0; i < 8; i++)
		wrmsr(MSR_EVENT_SELECT + i, 0);
	wrmsr(MSR_GLOBAL_RESET, rdmsr(MSR_GLOBAL_STATUS));
}

/* This general counter overflows at the n-th instruction from now. */
static inline void count_down(int counter, uint64_t select, uint64_t n)
{
	wrmsr(MSR_EVENT_SELECT + counter, select);
	wrmsr(MSR_GP_COUNTER + counter, -n & COUNTER_MASK);
}

#define PMIS	8

static struct {
	unsigned int nr;
	uint64_t rip[PMIS], status[PMIS];
	void (*drain)(void);	/* what else a handler does, or NULL */
} pmi;

static inline void pmi_handler(struct regs *regs)
{
	uint64_t status = rdmsr(MSR_GLOBAL_STATUS);

	if (pmi.nr < PMIS) {
		pmi.rip[pmi.nr] = regs->rip;
		pmi.status[pmi.nr] = status;
	}
	pmi.nr++;
	if (pmi.drain) {
		pmi.drain();
		wrmsr(MSR_GLOBAL_RESET, status);
	}
	apic[APIC_LVTPC] = APIC_LVT_NMI;
}

static inline void expect_pmis(void (*drain)(void))
{
	memset(&pmi, 0, sizeof(pmi));
	pmi.drain = drain;
	on_vector(VECTOR_NMI, pmi_handler);
	apic[APIC_LVTPC] = APIC_LVT_NMI;
}

static inline uint64_t rdtsc(void)
{
	uint32_t lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

#endif
