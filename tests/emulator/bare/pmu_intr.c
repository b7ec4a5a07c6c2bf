// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflow interrupts of an Intel PMU: when they come, to the instruction, and what
 * the local APIC and the status registers make of them.
 *
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on
 */

#include "pmu.h"

#define VECTOR_FIXED_MODE	0x41
#define FIXED_BOTH_INT		0xbbbbull

static volatile int nmis;
static uint64_t nmi_rip[16], nmi_cs[16], nmi_status[16], nmi_lvt[16], nmi_pmc0[16];

/* Time must not go back. With -icount it is made of instructions, which we interfere with. */
static uint64_t last_tsc;
static int tsc_went_back;
uint32_t went_back;

static void check_time(void)
{
	uint32_t lo, hi;
	uint64_t now;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	now = (uint64_t)hi << 32 | lo;
	tsc_went_back += now < last_tsc;
	last_tsc = now;
}

/* What a handler does besides noting. */
static bool keep_masked, keep_status, stop;

static void note_interrupt(struct regs *r)
{
	int n = nmis++ & 15;

	nmi_pmc0[n] = rdpmc(0);
	check_time();
	nmi_rip[n] = r->rip;
	nmi_cs[n] = r->cs;
	nmi_status[n] = rdmsr(IA32_PERF_GLOBAL_STATUS);
	nmi_lvt[n] = apic[APIC_LVTPC];
	if (stop)
		wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	/* In this order: the next overflow may come as soon as the counters go on. */
	if (!keep_masked)
		apic[APIC_LVTPC] &= ~APIC_LVT_MASKED;
	if (!keep_status)
		wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, nmi_status[n]);
	if (r->vector == VECTOR_FIXED_MODE)
		apic[APIC_EOI] = 0;
}

static void reset(void)
{
	check_time();
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, 0xffull | 0xfull << 32 | STATUS_CTR_FRZ);
	wrmsr(IA32_FIXED_CTR_CTRL, 0);
	wrmsr(IA32_DEBUGCTL, 0);
	for (int i = 0; i < 8; i++)
		wrmsr(IA32_PERFEVTSEL0 + i, 0);
	apic[APIC_LVTPC] = APIC_LVT_NMI;
	nmis = 0;
	keep_masked = keep_status = stop = false;
}

/* General counter n of OS mode is going to overflow after so many events. */
static void arm(int n, uint32_t event, uint64_t after)
{
	wrmsr(IA32_PERFEVTSEL0 + n, event | EVT_INT | EVT_OS | EVT_EN);
	wrmsr(IA32_A_PMC0 + n, -after & COUNTER_MASK);
}

static void arm_fixed(int n, uint64_t after)
{
	wrmsr(IA32_FIXED_CTR_CTRL, rdmsr(IA32_FIXED_CTR_CTRL) | 0x9ull << (4 * n));
	wrmsr(IA32_FIXED_CTR0 + n, -after & COUNTER_MASK);
}

/* 600 NOPs, in one page and in TBs as long as they get; where they begin. */
#define NOPS		600
#define RUN(on) COUNTED(IA32_PERF_GLOBAL_CTRL, on, ".global first_nop; first_nop: .rept 600; nop; .endr")
extern const char first_nop[];

/* Not inlined: the label is defined once. */
static void __attribute__((noinline)) run(uint64_t on)
{
	RUN(on);
}

static void position(void)
{
	static const struct {
		const char *name;
		uint32_t event;
		int fixed, weight;
	} events[] = {
		{ "instructions", INTEL_INSTRUCTIONS, -1, 1 },
		{ "cycles", INTEL_CYCLES, -1, 2 },
		{ "reference cycles", INTEL_REF_CYCLES, -1, 3 },
		{ "fixed instructions", 0, 0, 1 },
		{ "fixed cycles", 0, 1, 2 },
		{ "fixed reference cycles", 0, 2, 3 },
		{ "fixed slots", 0, 3, 12 },
	};

	for (unsigned e = 0; e < sizeof(events) / sizeof(events[0]); e++) {
		int weight = events[e].weight, bad = 0, runs = 0;

		for (int after = 1; after <= NOPS * weight; after += after < 40 ? 1 : 53, runs++) {
			uint64_t insns = (after + weight - 1) / weight;

			reset();
			stop = true;
			if (events[e].fixed < 0)
				arm(0, events[e].event, after);
			else
				arm_fixed(events[e].fixed, after);
			run(events[e].fixed < 0 ? 1 : FIXED(events[e].fixed));
			if (nmis != 1 || nmi_rip[0] != (uintptr_t)first_nop + insns) {
				bad++;
				note("%s, after %d: %d interrupts, the first after %ld instructions",
				     events[e].name, after, nmis, nmi_rip[0] - (uintptr_t)first_nop);
			}
		}
		ok(bad == 0, "%s overflow where they ought to, %d times of %d", events[e].name,
		   runs - bad, runs);
	}
}

static void again_and_again(void)
{
	reset();
	arm_fixed(0, 100);
	run(FIXED(0));
	/* It goes on from 0, and the handler counts, too. */
	ok(nmis == 1 && rdmsr(IA32_FIXED_CTR0) > 500 + COUNTED_EXTRA && rdmsr(IA32_FIXED_CTR0) < 1000,
	   "one overflow, one interrupt; the counter goes on: %ld", rdmsr(IA32_FIXED_CTR0));
}

/* The branch is the NOP's successor; its target is where the interrupt comes. */
extern const char loop_top[], loop_end[];

static void __attribute__((noinline)) run_loop(uint64_t on)
{
	COUNTED(IA32_PERF_GLOBAL_CTRL, on,
		"movl $100, %%ebx; .global loop_top; loop_top: nop; nop; decl %%ebx; jnz loop_top\n\t"
		".global loop_end; loop_end: nop; nop");
}

static void branches(void)
{
	int bad = 0;

	for (int after = 1; after <= 100; after++) {
		const char *want = after < 100 ? loop_top : loop_end;

		reset();
		stop = true;
		arm(2, INTEL_BRANCHES, after);
		/* What shows how often the loop went round */
		wrmsr(IA32_FIXED_CTR_CTRL, 3);
		wrmsr(IA32_FIXED_CTR0, 0);
		run_loop(4 | FIXED(0));
		bad += nmis != 1 || nmi_rip[0] != (uintptr_t)want || nmi_status[0] != 4;
		/* the handler's own instructions are the same number each time */
		if (after == 1)
			nmi_rip[15] = rdmsr(IA32_FIXED_CTR0);
		else
			bad += rdmsr(IA32_FIXED_CTR0) != nmi_rip[15] + 4 * (after - 1);
	}
	ok(bad == 0, "branches overflow at the branch, %d times wrong", bad);

	reset();
	stop = true;
	arm(3, INTEL_MISSES, 2);
	run_loop(8);
	ok(nmis == 1 && nmi_rip[0] == (uintptr_t)loop_top, "every so many branches one is mispredicted");

	/* The same instruction overflows both. */
	reset();
	stop = true;
	arm(0, INTEL_INSTRUCTIONS, 1 + 4 * 7);
	arm(2, INTEL_BRANCHES, 7);
	run_loop(5);
	ok(nmis == 1 && nmi_rip[0] == (uintptr_t)loop_top && nmi_status[0] == 5,
	   "a branch overflows two counters: %d, %lx", nmis, nmi_status[0]);
}

static void several(void)
{
	reset();
	arm(0, INTEL_INSTRUCTIONS, 50);
	arm(1, INTEL_CYCLES, 100);
	arm_fixed(0, 50);
	run(3 | FIXED(0));
	ok(nmis == 1 && nmi_status[0] == (3 | FIXED(0)) && nmi_rip[0] == (uintptr_t)first_nop + 50,
	   "three counters overflow at once: %d interrupts, status %lx", nmis, nmi_status[0]);

	/* Within one stretch, each in its turn: frozen while the handler begins. */
	reset();
	wrmsr(IA32_DEBUGCTL, DEBUGCTL_FREEZE_ON_PMI);
	arm(0, INTEL_INSTRUCTIONS, 50);
	arm(1, INTEL_INSTRUCTIONS, 60);
	arm(4, INTEL_INSTRUCTIONS, 61);
	run(0x13);
	ok(nmis == 3 && nmi_rip[0] == (uintptr_t)first_nop + 50 && nmi_status[0] == (1 | STATUS_CTR_FRZ),
	   "the first of three at instruction %ld", nmi_rip[0] - (uintptr_t)first_nop);
	/* What the handler does after the freeze is part of the instructions between. */
	ok(nmi_status[1] == (2 | STATUS_CTR_FRZ) && nmi_status[2] == (16 | STATUS_CTR_FRZ),
	   "then the others: %lx, %lx", nmi_status[1], nmi_status[2]);
}

static void freezing(void)
{
	uint64_t v;

	reset();
	keep_status = true;
	wrmsr(IA32_DEBUGCTL, DEBUGCTL_FREEZE_ON_PMI);
	arm(0, INTEL_INSTRUCTIONS, 50);
	wrmsr(IA32_FIXED_CTR_CTRL, 3);
	wrmsr(IA32_FIXED_CTR0, 0);
	run(1 | FIXED(0));
	v = rdmsr(IA32_FIXED_CTR0);
	ok(nmis == 1 && nmi_status[0] == (1 | STATUS_CTR_FRZ), "a frozen overflow: status %lx", nmi_status[0]);
	ok(rdmsr(IA32_PMC0) == 0 && v == 50, "frozen at the interrupt: %ld, %ld", rdmsr(IA32_PMC0), v);
	ok(rdmsr(IA32_PERF_GLOBAL_CTRL) == 0, "GLOBAL_CTRL is ours");
	run(1 | FIXED(0));
	ok(rdmsr(IA32_FIXED_CTR0) == 50, "frozen until the status bit goes");
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, 1 | STATUS_CTR_FRZ);
	run(1 | FIXED(0));
	ok(rdmsr(IA32_FIXED_CTR0) == 50 + NOPS + COUNTED_EXTRA, "then it counts: %ld", rdmsr(IA32_FIXED_CTR0));

	reset();
	arm(0, INTEL_INSTRUCTIONS, 50);
	keep_status = true;
	run(1);
	ok(nmi_status[0] == 1 && rdmsr(IA32_PMC0) > NOPS - 50, "no freeze unless asked for");
}

static void local_apic(void)
{
	reset();
	keep_masked = true;
	arm(0, INTEL_INSTRUCTIONS, 50);
	arm(1, INTEL_INSTRUCTIONS, 500);
	run(3);
	ok(nmis == 1 && (nmi_lvt[0] & APIC_LVT_MASKED), "delivery masks LVTPC: %lx", nmi_lvt[0]);
	ok(rdmsr(IA32_PERF_GLOBAL_STATUS) == 2, "an overflow meanwhile shows in the status alone");

	reset();
	apic[APIC_LVTPC] = APIC_LVT_NMI | APIC_LVT_MASKED;
	arm(0, INTEL_INSTRUCTIONS, 50);
	run(1);
	ok(nmis == 0 && rdmsr(IA32_PERF_GLOBAL_STATUS) == 1, "a masked LVTPC: no interrupt");
	apic[APIC_LVTPC] = APIC_LVT_NMI | APIC_LVT_MASKED;
	run(1);
	ok(nmis == 0, "nor while it stays masked");
	apic[APIC_LVTPC] = APIC_LVT_NMI;
	ok(nmis == 1 && nmi_status[0] == 1 && (nmi_lvt[0] & APIC_LVT_MASKED),
	   "but when it is unmasked, which masks it again: %d", nmis);
	apic[APIC_LVTPC] = APIC_LVT_NMI;
	run(1);
	ok(nmis == 1, "once: %d", nmis);

	reset();
	apic[APIC_LVTPC] = APIC_LVT_NMI | APIC_LVT_MASKED;
	arm(0, INTEL_INSTRUCTIONS, 50);
	run(1);
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, 1);
	apic[APIC_LVTPC] = APIC_LVT_NMI;
	run(1);
	ok(nmis == 0, "not if the status was reset meanwhile: %d", nmis);

	/* A second overflow of a counter whose status bit was not reset. */
	reset();
	keep_status = true;
	arm(0, INTEL_INSTRUCTIONS, 50);
	run(1);
	wrmsr(IA32_A_PMC0, -50ull & COUNTER_MASK);
	run(1);
	ok(nmis == 1 && rdmsr(IA32_PERF_GLOBAL_STATUS) == 1, "a status bit that was set interrupts no more");

	reset();
	arm(0, INTEL_INSTRUCTIONS, 50);
	wrmsr(IA32_PERFEVTSEL0, (INTEL_INSTRUCTIONS | EVT_OS | EVT_EN));
	run(1);
	ok(nmis == 0 && rdmsr(IA32_PERF_GLOBAL_STATUS) == 1, "no interrupt without INT");
}

extern const char sti_start[];

static void __attribute__((noinline)) run_sti(uint64_t on)
{
	COUNTED(IA32_PERF_GLOBAL_CTRL, on,
		".global sti_start; sti_start: nop; nop; nop; nop; sti; nop; nop; nop; cli; nop");
}

static void fixed_mode(void)
{
	reset();
	stop = true;
	on_vector(VECTOR_FIXED_MODE, note_interrupt);
	apic[APIC_LVTPC] = VECTOR_FIXED_MODE;
	arm(0, INTEL_INSTRUCTIONS, 2);
	run_sti(1);
	ok(nmis == 1 && nmi_rip[0] == (uintptr_t)sti_start + 6,
	   "an overflow with IF clear interrupts after STI and one more: %ld",
	   nmi_rip[0] - (uintptr_t)sti_start);
	reset();
	stop = true;
	apic[APIC_LVTPC] = VECTOR_FIXED_MODE;
	arm(0, INTEL_INSTRUCTIONS, 7);
	run_sti(1);
	ok(nmis == 1 && nmi_rip[0] == (uintptr_t)sti_start + 7, "and at once with IF set: %ld",
	   nmi_rip[0] - (uintptr_t)sti_start);
	on_vector(VECTOR_FIXED_MODE, NULL);
}

/* Instructions that end a TB in ways of their own; lengths in bytes. */
extern const char odd_start[];

static void __attribute__((noinline)) run_odd(uint64_t on)
{
	COUNTED(IA32_PERF_GLOBAL_CTRL, on,
		".global odd_start; odd_start: movq %%rcx, %%r8; .byte 0xeb, 0; movl %%ss, %%ebx\n\t"
		"movl %%ebx, %%ss; outb %%al, $0x80; cpuid; nop; pushfq; popfq; pause\n\t"
		"movl $500, %%ecx; movl $0x1000000, %%edi; rep stosb\n\t"
		"movl $0x1000000, %%ebx; lock incl 61(%%rbx); lock incl 61(%%rbx); movq %%r8, %%rcx; nop");
}

static void odd_instructions(void)
{
	static const int length[] = { 3, 2, 2, 2, 2, 2, 1, 1, 1, 2, 5, 5, 2, 5, 4, 4, 3, 1 };
	int bad = 0, at = 0;

	for (unsigned n = 1; n <= sizeof(length) / sizeof(length[0]); n++) {
		at += length[n - 1];
		reset();
		stop = true;
		arm_fixed(0, n);
		run_odd(FIXED(0));
		if (nmis != 1 || nmi_rip[0] != (uintptr_t)odd_start + at) {
			note("after %d: %d interrupts, %ld bytes behind, not %d", n, nmis,
			     nmi_rip[0] - (uintptr_t)odd_start, at);
			bad++;
		}
	}
	ok(bad == 0, "jumps, shadows, I/O, strings and locks overflow where they ought to");
}

static void halt(void)
{
	/* Nothing else would wake it: the test would time out. */
	reset();
	stop = true;
	arm_fixed(0, 3);
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(0), "nop; nop; hlt");
	ok(nmis == 1, "HLT overflows, and its interrupt wakes it");
}

static void user_nops(void *arg)
{
	asm volatile("movq $1f, %0; 1: .rept 300; nop; .endr" : "=m"(*(uint64_t *)arg) : : "memory");
}

static void user_mode(void)
{
	uint64_t start = 0, since = 0;
	int bad = 0, in_user = 0;

	for (int after = 50; after < 250; after += 7) {
		reset();
		stop = true;
		wrmsr(IA32_PERFEVTSEL0, INTEL_INSTRUCTIONS | EVT_USR | EVT_EN | EVT_INT);
		wrmsr(IA32_A_PMC0, -(uint64_t)after & COUNTER_MASK);
		wrmsr(IA32_PERF_GLOBAL_CTRL, 1);
		try_user(user_nops, &start);
		wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
		/* The way to the first NOP is some instructions, always the same. */
		if (after == 50)
			nmi_rip[15] = start + 50 - nmi_rip[0];
		bad += nmis != 1 || (nmi_cs[0] & 3) != 3 || nmi_rip[0] != start + after - nmi_rip[15] ||
		       nmi_rip[15] > 40;
	}
	ok(bad == 0, "user instructions overflow in user mode, %d times wrong", bad);

	/* Both rings are counted, and the overflow is somewhere in 200 round trips. */
	bad = 0;
	for (int i = 0; i < 200; i++) {
		reset();
		stop = true;
		wrmsr(IA32_PERFEVTSEL0, INTEL_INSTRUCTIONS | EVT_BOTH | EVT_INT);
		wrmsr(IA32_A_PMC0, -(uint64_t)(5 + 3 * i) & COUNTER_MASK);
		wrmsr(IA32_PERF_GLOBAL_CTRL, 1);
		for (int j = 0; j < 3; j++)
			try_user(user_nops, &start);
		wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
		/* What the counter has since then is the way into the handler, always the same. */
		if (i == 0)
			since = nmi_pmc0[0];
		bad += nmis != 1 || nmi_pmc0[0] != since || since > 100;
		in_user += (nmi_cs[0] & 3) == 3;
	}
	ok(bad == 0 && in_user > 10 && in_user < 190,
	   "overflows over changes of rings, %d of 200 in user mode, %d wrong", in_user, bad);
}

/*
 * A counter of user mode overflows at an instruction that enters the kernel: the first
 * instruction of the kernel is interrupted. One that faults does not overflow.
 */
static volatile int nmis_at_trap;

static void next_instruction(struct regs *r)
{
	nmis_at_trap = nmis;
	r->rip += r->vector == VECTOR_UD ? 2 : 0;
}

#define TRAPPING(name, insn)							\
static void name(void *arg)							\
{										\
	asm volatile("movq $1f, %0; 1: .rept 50; nop; .endr; " insn "; nop; nop" \
		     : "=m"(*(uint64_t *)arg) : : "memory");			\
}

TRAPPING(user_trap, "int3")
TRAPPING(user_fault, "ud2")

static void kernel_entry(void)
{
	uint64_t start = 0;
	int lead;

	on_vector(VECTOR_BP, next_instruction);
	on_vector(VECTOR_UD, next_instruction);
	for (int trap = 0; trap < 2; trap++) {
		lead = 0;
		/* The first run finds out how many instructions precede the NOPs. */
		for (int after = 30; after <= 51; after += 21) {
			reset();
			stop = true;
			wrmsr(IA32_PERFEVTSEL0, INTEL_INSTRUCTIONS | EVT_USR | EVT_EN | EVT_INT);
			wrmsr(IA32_A_PMC0, -(uint64_t)(after + lead) & COUNTER_MASK);
			wrmsr(IA32_PERF_GLOBAL_CTRL, 1);
			nmis_at_trap = -1;
			try_user(trap ? user_trap : user_fault, &start);
			wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
			lead = after - (int)(nmi_rip[0] - start);
		}
		if (trap) {
			ok(nmis == 1 && nmis_at_trap == 1 && (nmi_cs[0] & 3) == 0,
			   "a trap overflows: interrupted at CPL %ld", nmi_cs[0] & 3);
		} else {
			ok(nmis == 1 && nmis_at_trap == 0 && (nmi_cs[0] & 3) == 3 &&
			   nmi_rip[0] == start + 50 + 2 + 1,
			   "a fault does not, the instruction after it does: %ld", nmi_rip[0] - start);
		}
	}
	on_vector(VECTOR_BP, NULL);
	on_vector(VECTOR_UD, NULL);
}

/* The instruction that overflows sends an interrupt to this processor, too. */
#define VECTOR_IPI	0x42
extern const char after_ipi[];
static volatile int ipis;
static volatile int nmis_at_ipi;

static void note_ipi(struct regs *r)
{
	ipis++;
	nmis_at_ipi = nmis;
	apic[APIC_EOI] = 0;
}

static void __attribute__((noinline)) run_ipi(uint64_t on)
{
	COUNTED(IA32_PERF_GLOBAL_CTRL, on,
		"movl apic, %%ebx; movl $0x40042, 0x300(%%rbx); .global after_ipi; after_ipi: nop; nop");
}

static void other_interrupts(void)
{
	on_vector(VECTOR_IPI, note_ipi);
	reset();
	stop = true;
	arm_fixed(0, 2);
	asm volatile("sti");
	run_ipi(FIXED(0));
	asm volatile("cli");
	ok(nmis == 1 && ipis == 1 && nmis_at_ipi == 1 && nmi_rip[0] == (uintptr_t)after_ipi,
	   "no other interrupt comes between overflow and interrupt");
	on_vector(VECTOR_IPI, NULL);
}

/*
 * An overflow leaves nothing behind that would make the same code run otherwise later.
 * The branch that overflows is executed for the first time then.
 */
static void afterwards(void)
{
	reset();
	stop = true;
	arm(0, INTEL_BRANCHES, 1);
	COUNTED(IA32_PERF_GLOBAL_CTRL, 1,
		"xorl %%r8d, %%r8d; xorl %%r9d, %%r9d; movl $300000, %%ebx\n\t"
		"1: rdtsc; shlq $32, %%rdx; orq %%rdx, %%rax\n\t"
		"cmpq %%r8, %%rax; adcl $0, %%r9d; movq %%rax, %%r8; decl %%ebx; jnz 1b\n\t"
		"movl %%r9d, went_back");
	ok(nmis == 1, "a branch overflows when it is new");
	ok(went_back + tsc_went_back == 0, "time went back %d times", went_back + tsc_went_back);
}

int main(void)
{
	on_vector(VECTOR_NMI, note_interrupt);
	position();
	again_and_again();
	branches();
	several();
	freezing();
	local_apic();
	fixed_mode();
	odd_instructions();
	halt();
	user_mode();
	kernel_entry();
	other_interrupts();
	afterwards();
	return 0;
}
