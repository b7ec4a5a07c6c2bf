// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow stacks of user mode: the frames that far transfers and events within
 * CPL 3 leave on them, and shadow stacks of 32-bit code.
 *
 * cpu: max,shstk=on
 * cpu: max,shstk=on,la57=off
 */

#include "shstk.h"

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

/* The same without the entry of the caller. */
CODE(do_framed_lret,
	"movl $1, %eax\n"
	"incsspq %rax\n"
	"movl %cs, %eax\n"
	"pushq %rax\n"
	"leaq framed_target(%rip), %rax\n"
	"pushq %rax\n"
	"framed_lret: lretq\n"
	"framed_target: int $0x80\n"
	".globl framed_lret, framed_target");
extern char framed_lret[], framed_target[];

/* A frame for it at `at`, with this SSP in it. */
static void write_frame(uint64_t at, uint64_t ssp)
{
	uint64_t *frame = (uint64_t *)at;

	make_plain(HIGH);
	frame[0] = ssp;
	frame[1] = (uint64_t)framed_target;
	frame[2] = USER_CS;
	make_shadow(HIGH);
}

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
	ok(rdmsr(MSR_PL3_SSP) == TOP - 32, "it leaves SSP alone");

	write_frame(TOP - 32, TOP - 4);
	ok(is(run(do_framed_lret, TOP - 32), RETURNED) && rdmsr(MSR_PL3_SSP) == TOP - 4,
	   "far RET with a frame of our own");
	write_frame(TOP - 28, TOP - 4);
	ok(is(run(do_framed_lret, TOP - 28), VECTOR_CP, CP_FAR, framed_lret), "not an unaligned one");
	write_frame(TOP - 32, TOP - 6);
	ok(is(run(do_framed_lret, TOP - 32), VECTOR_CP, CP_FAR, framed_lret), "nor one with a bad SSP");
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

/* ---- events within CPL 3 -------------------------------------------------------- */

CODE(do_own_event,
	"int $0x61\n"
	"own_return:\n"
	"rdsspq %rax\n"
	"movq %rax, 8(%rdi)\n"
	"ret\n"
	"on_own_event: rdsspq %rax\n"
	"movq %rax, (%rdi)\n"
	"iretq\n"
	".globl own_return, on_own_event");
extern char own_return[], on_own_event[];

/* The handler is to be below 4 GiB. */
static void set_gate(int vector, uint16_t selector, uint32_t handler)
{
	struct __attribute__((packed)) {
		uint16_t limit;
		uint64_t base;
	} idtr;
	const uint64_t interrupt_gate_dpl3 = 0xee;

	asm volatile("sidt %0" : "=m"(idtr));
	*(uint64_t *)(idtr.base + 16 * vector) = (handler & 0xffff) | (uint64_t)selector << 16 |
		interrupt_gate_dpl3 << 40 | (uint64_t)(handler >> 16) << 48;
}

static void check_own_events(void)
{
	set_gate(0x61, USER_CS, (uint64_t)on_own_event);
	ok(is(run(do_own_event, TOP), RETURNED) && io[0] == TOP - 32 && io[1] == TOP - 8,
	   "INT and IRET within CPL 3 move SSP by 24 and back");
	ok(peek(TOP - 16) == USER_CS && peek(TOP - 24) == (uint64_t)own_return &&
	   peek(TOP - 32) == TOP - 8, "the frame has CS, the address and SSP");
}

int main(void)
{
	write_cr4(read_cr4() | CR4_CET);
	make_shadow(LOW);
	make_shadow(HIGH);
	check_far();
	check_compat();
	check_own_events();
	return 0;
}
