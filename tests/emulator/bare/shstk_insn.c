// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow stacks of user mode: the pages that can be one, and the instructions
 * that write to them or change SSP.
 *
 * cpu: max,shstk=on
 * cpu: max,shstk=on,la57=off
 */

#include "shstk.h"

#define MB		(1024ull * 1024)
/* Memory that nothing else uses: in 4 KiB pages, and in pages of 2 MiB. */
#define FAR_AWAY	(32 * MB)
#define LARGE_PAGE	(128 * MB)

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

/*
 * To the stack at rdi[0] and back; SSP after each step, the flags after RSTORSSP.
 * On the other stack, four bytes at rdi[8] are set.
 */
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
	"movl $-1, %edx\n"
	"movq 64(%rdi), %rax\n"
	"wrssd %edx, (%rax)\n"
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
	io[8] = token - 64;
	ok(is(run(do_switch, TOP), RETURNED), "to another stack and back");
	ok(io[3] == token && io[4] == (old | 3), "RSTORSSP: SSP and the token of the previous one");
	ok((io[2] & 0x8d5) == 0, "RSTORSSP clears the flags");
	ok(io[5] == token + 8 && io[6] == (old | 1), "SAVEPREVSSP: SSP and a token on the other stack");
	ok(io[7] == old && rdmsr(MSR_PL3_SSP) == TOP, "SSP is back");
	ok(peek(token) == ((token + 8) | 1), "and there is a token to go there again");

	poke(token, (token + 12) | 1);
	poke(token + 8, 0xffffffff00000000);
	io[0] = token;
	io[8] = token + 8;
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
	write_cr4(read_cr4() | CR4_CET);
	make_shadow(LOW);
	make_shadow(HIGH);
	check_write();
	check_inc();
	check_switch();
	check_pages();
	return 0;
}
