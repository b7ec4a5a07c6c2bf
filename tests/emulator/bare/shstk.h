/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs on shadow stacks have in common: memory to be made one, code
 * to be run on it at CPL 3, and what a handler saw.
 */
#ifndef SHSTK_H
#define SHSTK_H

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
static uint64_t __attribute__((aligned(PAGE_SIZE))) stacks[3 * WORDS];
#define LOW		(&stacks[0])
#define MIDDLE		(&stacks[WORDS])
#define HIGH		(&stacks[2 * WORDS])
#define TOP		((uint64_t)&stacks[3 * WORDS])

/* What the pieces of user code take and leave. */
static uint64_t io[16];

static inline void set_page(const volatile void *va, uint64_t clear, uint64_t set)
{
	uint64_t *pte = page_entry(va);

	*pte = (*pte & ~clear) | set;
	invlpg(va);
}

static inline void make_shadow(const volatile void *va)
{
	set_page(va, PTE_RW, PTE_P | PTE_US | PTE_D);
}

static inline void make_plain(const volatile void *va)
{
	set_page(va, 0, PTE_P | PTE_US | PTE_RW);
}

/* Write to a shadow stack, from outside of the machinery under test. */
static inline void poke(uint64_t addr, uint64_t value)
{
	void *p = (void *)addr;

	make_plain(p);
	*(volatile uint64_t *)p = value;
	make_shadow(p);
}

static inline uint64_t peek(uint64_t addr)
{
	return *(volatile uint64_t *)addr;
}

static inline void enable(uint64_t u_cet, uint64_t ssp)
{
	wrmsr(MSR_U_CET, u_cet);
	wrmsr(MSR_PL3_SSP, ssp);
}

/* Run fn at CPL 3 on a shadow stack that ends at ssp; its caller takes one entry. */
static inline struct trap run(void (*fn)(void *), uint64_t ssp)
{
	enable(SH_STK_EN | WR_SHSTK_EN, ssp);
	return try_user(fn, io);
}

#define CODE(name, text)						\
	void name(void *);						\
	asm(".pushsection .text\n.globl " #name "\n" #name ":\n" text "\n.popsection\n")

/* Whether the trap is this one; of a return, nothing else is looked at. */
static inline bool is(struct trap t, int vector, uint64_t error, const void *rip)
{
	bool good = t.vector == vector &&
		    (vector < 0 || (t.error == error && (!rip || t.rip == (uint64_t)rip)));

	if (!good)
		note("vector %d error 0x%lx rip 0x%lx, not vector %d error 0x%lx rip %p; CR2 0x%lx",
		     t.vector, t.error, t.rip, vector, error, rip, read_cr2());
	return good;
}

#define RETURNED	-1, 0, NULL

/* ---- pieces of user code -------------------------------------------------------- */

CODE(do_incssp, "movq (%rdi), %rax\nincsspq %rax\nret");
CODE(do_saveprevssp, "saveprevssp\nret");
CODE(do_rstorssp, "movq (%rdi), %rax\nrstorssp (%rax)\nret");
CODE(do_wrss, "movq (%rdi), %rax\nmovq 8(%rdi), %rdx\nwrssq %rdx, (%rax)\nret");
CODE(do_wruss, "movq (%rdi), %rax\nmovq 8(%rdi), %rdx\nwrussq %rdx, (%rax)\nret");

/* SSP and the return address of its caller. */
CODE(do_entry, "rdsspq %rax\nmovq %rax, (%rdi)\nmovq (%rsp), %rax\nmovq %rax, 8(%rdi)\n"
	       "movq $-1, %rax\nrdsspd %eax\nmovq %rax, 16(%rdi)\nret");

/* SSP before and after an exception. */
CODE(do_int3, "rdsspq %rax\nmovq %rax, (%rdi)\nint3\nrdsspq %rax\nmovq %rax, 8(%rdi)\nret");

/* ---- a handler ------------------------------------------------------------------ */

static struct regs seen_regs;
static uint64_t seen_ssp, seen_slot;	/* SSP, and the word below the stack */
static unsigned int seen;

static inline void see(struct regs *r)
{
	seen++;
	seen_regs = *r;
	seen_ssp = rdmsr(MSR_PL3_SSP);
	seen_slot = peek(r->rsp - 8);
}

#endif
