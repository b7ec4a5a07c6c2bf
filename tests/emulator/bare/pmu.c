// SPDX-License-Identifier: GPL-2.0-only
/*
 * What counters of an Intel PMU count, and their registers: no interrupts here.
 *
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on
 * cpu: max,vendor=GenuineIntel,family=19,model=1,pmu=on,pdcm=on,arch-perfmon-ext=on
 */

#include "pmu.h"

#define NR_GP		8
#define NR_FIXED	4
#define ALL		(0xffull | FIXED(0) | FIXED(1) | FIXED(2) | FIXED(3))
#define FIXED_BOTH	0x3333ull
#define CR4_PCE		(1ull << 8)
#define RDPMC_FIXED	(1u << 30)

/* Rates that the emulator's documentation gives. */
enum { CYCLES = 2, REF_CYCLES = 3, SLOTS = 12, BRANCHES_PER_MISS = 16 };

static bool v6;

static void program(void)
{
	static const uint16_t events[NR_GP] = {
		INTEL_INSTRUCTIONS, INTEL_CYCLES, INTEL_BRANCHES, INTEL_MISSES,
		INTEL_REF_CYCLES, INTEL_SLOTS, 0x412e, INTEL_INSTRUCTIONS,
	};

	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, ALL);
	wrmsr(IA32_FIXED_CTR_CTRL, FIXED_BOTH);
	for (int i = 0; i < NR_GP; i++) {
		wrmsr(IA32_PERFEVTSEL0 + i, events[i] | EVT_BOTH);
		wrmsr(IA32_PMC0 + i, 0);
	}
	/* One that depends on what happens per cycle. */
	wrmsr(IA32_PERFEVTSEL0 + 7, INTEL_INSTRUCTIONS | EVT_BOTH | EVT_CMASK_1);
	for (int i = 0; i < NR_FIXED; i++)
		wrmsr(IA32_FIXED_CTR0 + i, 0);
}

static void expect(const char *what, uint64_t insns, uint64_t branches)
{
	uint64_t want[NR_GP] = {
		insns, CYCLES * insns, branches, 0, REF_CYCLES * insns, SLOTS * insns, 0, 0,
	};
	uint64_t misses = rdmsr(IA32_PMC0 + 3);
	bool same = true;

	for (int i = 0; i < NR_GP; i++) {
		if (i != 3 && rdmsr(IA32_PMC0 + i) != want[i]) {
			note("%s: counter %d has %ld, not %ld", what, i,
			     rdmsr(IA32_PMC0 + i), want[i]);
			same = false;
		}
	}
	ok(same, "%s: %ld instructions, %ld branches in general counters", what, insns, branches);
	ok(rdmsr(IA32_FIXED_CTR0) == insns && rdmsr(IA32_FIXED_CTR0 + 1) == CYCLES * insns &&
	   rdmsr(IA32_FIXED_CTR0 + 2) == REF_CYCLES * insns &&
	   rdmsr(IA32_FIXED_CTR0 + 3) == SLOTS * insns,
	   "%s: %ld instructions in fixed counters", what, rdmsr(IA32_FIXED_CTR0));
	ok(misses == branches / BRANCHES_PER_MISS || misses == branches / BRANCHES_PER_MISS + 1,
	   "%s: %ld branches, %ld of them mispredicted", what, branches, misses);
}

/* CODE of so many instructions and branches. */
#define SEQUENCE(what, insns, branches, code) do {				\
		program();							\
		COUNTED(IA32_PERF_GLOBAL_CTRL, ALL, code);			\
		expect(what, (insns) + COUNTED_EXTRA, branches);		\
	} while (0)

static uint8_t buffer[3 * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));

static void sequences(void)
{
	SEQUENCE("nothing", 0, 0, "");
	SEQUENCE("100 NOPs", 100, 0, ".rept 100; nop; .endr");
	SEQUENCE("a page and more of NOPs", 9000, 0, ".rept 9000; nop; .endr");
	SEQUENCE("a loop", 1 + 3 * 1000, 1000,
		 "movl $1000, %%ebx; 1: nop; decl %%ebx; jnz 1b");
	SEQUENCE("branches not taken", 40 + 1, 40,
		 "testl %%esp, %%esp; .rept 40; jz 1f; .endr; 1:");
	SEQUENCE("direct and indirect jumps", 1 + 3, 3,
		 "movl $2f, %%ebx; jmp 1f; ud2; 1: jmp *%%rbx; ud2; 2: jmp 3f; ud2; 3:");
	SEQUENCE("calls and returns", 2 + 2 * 3 + 2, 2 * 2 + 2,
		 "movl $2f, %%ebx; jmp 1f; 2: nop; ret; 1: call 2b; call *%%rbx; jmp 3f; ud2; 3: nop;");
	SEQUENCE("LOOP and JRCXZ", 4 + 50 + 1 + 1, 50 + 1,
		 "movq %%rcx, %%r8; movl $50, %%ecx; nop; nop; 1: loop 1b; jrcxz 2f; ud2; 2: movq %%r8, %%rcx");
	SEQUENCE("a far return", 5, 1,
		 "movl $1f, %%ebx; movl %%cs, %%esi; pushq %%rsi; pushq %%rbx; lretq; 1:");
	SEQUENCE("CPUID", 5, 0, "movq %%rcx, %%r8; xorl %%eax, %%eax; nop; cpuid; movq %%r8, %%rcx");
	SEQUENCE("port I/O", 4, 0, "nop; outb %%al, $0x80; outb %%al, $0x80; nop");
	SEQUENCE("accesses to a device's memory", 5, 0,
		 "movl apic, %%ebx; movl 0x20(%%rbx), %%esi; nop; movl 0x20(%%rbx), %%esi; nop");
	SEQUENCE("STI and its shadow", 4, 0, "nop; sti; nop; cli");
	SEQUENCE("MOV SS", 5, 0, "movl %%ss, %%ebx; nop; movl %%ebx, %%ss; nop; nop");
	/* Unaligned ones have the other processors stopped, and begin anew. */
	SEQUENCE("locked instructions", 6, 0,
		 "lock incl buffer; nop; lock incl buffer + 61; lock xaddl %%eax, buffer; lock cmpxchgl %%ebx, buffer; nop");
	SEQUENCE("RDMSR and RDPMC", 7, 0,
		 "movq %%rcx, %%r8; rdmsr; nop; xorl %%ecx, %%ecx; rdpmc; nop; movq %%r8, %%rcx");
}

static void strings(void)
{
	/* Each with its operands set up: MOV, MOV, (MOV,) CLD are 3 or 4. */
	SEQUENCE("REP STOSB", 5, 0,
		 "movq %%rcx, %%r8; movl $buffer, %%edi; movl $8192, %%ecx; rep stosb; movq %%r8, %%rcx");
	SEQUENCE("REP STOSB of many rounds", 6, 0,
		 "movq %%rcx, %%r8; movl $0x1000000, %%edi; movl $300000, %%ecx; rep stosb; nop; movq %%r8, %%rcx");
	SEQUENCE("REP MOVSB of nothing", 4, 0,
		 "movq %%rcx, %%r8; xorl %%ecx, %%ecx; rep movsb; movq %%r8, %%rcx");
	SEQUENCE("REPE CMPSB", 6, 0,
		 "movq %%rcx, %%r8; movl $buffer, %%edi; movl $buffer, %%esi; movl $77, %%ecx; repe cmpsb; movq %%r8, %%rcx");
	SEQUENCE("STOSB without REP", 3, 0, "movl $buffer, %%edi; stosb; stosb");
}

static uint8_t *own_code(void)
{
	uint8_t *place;

	/* ADD's immediate is changed by the instruction before. */
	program();
	asm volatile("movl $1f, %k0" : "=r"(place));
	COUNTED(IA32_PERF_GLOBAL_CTRL, ALL,
		"movl $1f, %%ebx; nop; movb $7, 2(%%rbx); 1: addl $1, %%esi; nop");
	expect("code that changes itself", 5 + COUNTED_EXTRA, 0);
	ok(place[2] == 7, "the code was changed");
	return place;
}

/* ---- reading while it counts ---- */

static void reading(void)
{
	uint64_t a, b, c;

	program();
	wrmsr(IA32_PERF_GLOBAL_CTRL, ALL);
	asm volatile("rdpmc; movq %%rax, %0; nop; nop; rdpmc; movq %%rax, %1; rdpmc"
		     : "=&r"(a), "=&r"(b), "=a"(c) : "c"(RDPMC_FIXED) : "rdx");
	ok(b - a == 4 && c - b == 2, "RDPMC of a fixed counter reads %ld, %ld", b - a, c - b);
	asm volatile("rdpmc; movq %%rax, %0; .rept 50; nop; .endr; rdpmc"
		     : "=&r"(a), "=a"(b) : "c"(0) : "rdx");
	ok(b - a == 52, "RDPMC of a general counter reads %ld later", b - a);
	asm volatile("rdmsr; movq %%rax, %0; .rept 50; nop; .endr; rdmsr"
		     : "=&r"(a), "=a"(b) : "c"(IA32_FIXED_CTR0) : "rdx");
	ok(b - a == 52, "RDMSR of a fixed counter reads %ld later", b - a);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	a = rdmsr(IA32_PMC0);
	b = rdmsr(IA32_PMC0);
	ok(a && a == b && rdpmc(0) == a, "a stopped counter keeps its value");

	/* A counter that its own register stops. */
	program();
	wrmsr(IA32_PERFEVTSEL0, (INTEL_INSTRUCTIONS | EVT_BOTH) & ~EVT_EN);
	COUNTED(IA32_PERF_GLOBAL_CTRL, ALL, "nop");
	ok(rdmsr(IA32_PMC0) == 0 && rdmsr(IA32_FIXED_CTR0) == 4, "EN stops one counter");
	program();
	wrmsr(IA32_FIXED_CTR_CTRL, 0x3330);
	COUNTED(IA32_PERF_GLOBAL_CTRL, ALL & ~1, "nop");
	ok(rdmsr(IA32_PMC0) == 0 && rdmsr(IA32_FIXED_CTR0) == 0 &&
	   rdmsr(IA32_FIXED_CTR0 + 1) == 4 * CYCLES, "GLOBAL_CTRL and FIXED_CTR_CTRL stop one counter");

	/* 48 bits, then around. */
	program();
	wrmsr(IA32_FIXED_CTR0, COUNTER_MASK - 1);
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(0), "nop; nop");
	ok(rdmsr(IA32_FIXED_CTR0) == 3, "a counter wraps at 48 bits: %lx", rdmsr(IA32_FIXED_CTR0));
	ok(rdmsr(IA32_PERF_GLOBAL_STATUS) == FIXED(0), "and its overflow shows: %lx",
	   rdmsr(IA32_PERF_GLOBAL_STATUS));
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, FIXED(0));
}

/* ---- rings ---- */

static void empty(void *arg) { }
static void nops(void *arg) { asm volatile(".rept 1000; nop; .endr"); }

static void count_user(void (*fn)(void *), uint64_t *user, uint64_t *os)
{
	program();
	wrmsr(IA32_FIXED_CTR_CTRL, 0x12);	/* 0: user mode; 1: the kernel, cycles */
	wrmsr(IA32_PERF_GLOBAL_CTRL, FIXED(0) | FIXED(1));
	try_user(fn, NULL);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	*user = rdmsr(IA32_FIXED_CTR0);
	*os = rdmsr(IA32_FIXED_CTR0 + 1);
}

static void rings(void)
{
	uint64_t user[2], os[2];

	count_user(empty, &user[0], &os[0]);
	count_user(nops, &user[1], &os[1]);
	ok(user[0] < 50 && user[1] == user[0] + 1000, "user mode's own: %ld, %ld", user[0], user[1]);
	ok(os[0] && os[0] == os[1], "the kernel's own: %ld, %ld", os[0], os[1]);

	program();
	wrmsr(IA32_FIXED_CTR_CTRL, 0x2);
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(0), "nop; nop");
	ok(rdmsr(IA32_FIXED_CTR0) == 0, "no user mode, no count");

	/* Both rings, each alone and together. */
	program();
	wrmsr(IA32_PERFEVTSEL0, INTEL_INSTRUCTIONS | EVT_EN | EVT_USR);
	wrmsr(IA32_PERFEVTSEL0 + 1, INTEL_INSTRUCTIONS | EVT_EN | EVT_OS);
	wrmsr(IA32_PERFEVTSEL0 + 2, INTEL_INSTRUCTIONS | EVT_BOTH);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 7);
	for (int i = 0; i < 20; i++)
		try_user(nops, NULL);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	ok(rdmsr(IA32_PMC0) > 20000 && rdmsr(IA32_PMC0 + 1) > 20 * 10 &&
	   rdmsr(IA32_PMC0) + rdmsr(IA32_PMC0 + 1) == rdmsr(IA32_PMC0 + 2),
	   "%ld in user mode and %ld in the kernel are %ld", rdmsr(IA32_PMC0),
	   rdmsr(IA32_PMC0 + 1), rdmsr(IA32_PMC0 + 2));
}

/* ---- instructions that do not retire ---- */

static uint64_t before;

#define FAULT(name, code)						\
static void name(void *arg)						\
{									\
	asm volatile("rdpmc; movl %%eax, %0\n\t" code			\
		     : "=m"(before) : "c"(RDPMC_FIXED)			\
		     : "rax", "rdx", "rbx", "memory", "cc");		\
}

FAULT(fault_ud, "ud2; nop")
FAULT(fault_gp, "nop; hlt; nop")
FAULT(fault_pf, "nop; movq $-8, %%rbx; movq (%%rbx), %%rbx; nop; nop")
FAULT(fault_de, "xorl %%ebx, %%ebx; divl %%ebx; nop")
FAULT(fault_call, "movq %%rsp, %%rbx; movl $8, %%esp; shlq $40, %%rsp; call 1f; 1: nop")
FAULT(fault_ret, "movl $8, %%esp; shlq $40, %%rsp; ret")
FAULT(fault_rep, "movl $8, %%edi; shlq $40, %%rdi; movl $10, %%ecx; nop; rep stosb; nop")
FAULT(fault_sti, "nop; nop; sti; nop")
FAULT(fault_bp, "nop; int3; nop")

static void faults(void)
{
	static const struct {
		const char *name;
		void (*fn)(void *);
		int vector, insns;	/* after RDPMC and MOV */
	} cases[] = {
		{ "#UD of UD2", fault_ud, VECTOR_UD, 0 },
		{ "#GP of HLT", fault_gp, VECTOR_GP, 1 },
		{ "#PF of a load", fault_pf, VECTOR_PF, 2 },
		{ "#DE", fault_de, VECTOR_DE, 1 },
		{ "#PF of CALL", fault_call, VECTOR_PF, 3 },
		{ "#PF of RET", fault_ret, VECTOR_PF, 2 },
		{ "#PF of REP STOSB", fault_rep, VECTOR_PF, 4 },
		{ "#GP of STI", fault_sti, VECTOR_GP, 2 },
		{ "the trap of INT3, which retires", fault_bp, VECTOR_BP, 2 },
	};
	struct trap t;
	uint64_t insns;

	write_cr4(read_cr4() | CR4_PCE);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		program();
		wrmsr(IA32_FIXED_CTR_CTRL, 0x2);
		wrmsr(IA32_PERF_GLOBAL_CTRL, FIXED(0));
		t = try_user(cases[i].fn, NULL);
		wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
		insns = rdmsr(IA32_FIXED_CTR0) - before;
		ok(t.vector == cases[i].vector && insns == 2u + cases[i].insns,
		   "%s: vector %d, %ld instructions", cases[i].name, t.vector, insns);
	}
	write_cr4(read_cr4() & ~CR4_PCE);
}

/* A page that is mapped on demand: the instruction retires once. */
static void map_buffer(struct regs *r)
{
	uint64_t va = read_cr2();

	*page_entry((void *)va) |= PTE_P;
	invlpg((void *)va);
}

static void touch(void *arg)
{
	asm volatile("movl $buffer + 4096 - 50, %%edi; movl $100, %%ecx; rep stosb; movb $1, buffer + 8192"
		     : : : "rdi", "rcx", "memory");
}

static void demand_paging(void)
{
	uint64_t mapped, unmapped, os;

	on_vector(VECTOR_PF, map_buffer);
	count_user(touch, &mapped, &os);
	*page_entry(buffer + PAGE_SIZE) &= ~PTE_P;
	invlpg(buffer + PAGE_SIZE);
	*page_entry(buffer + 2 * PAGE_SIZE) &= ~PTE_P;
	invlpg(buffer + 2 * PAGE_SIZE);
	count_user(touch, &unmapped, &os);
	on_vector(VECTOR_PF, NULL);
	ok((*page_entry(buffer + PAGE_SIZE) & PTE_P) && (*page_entry(buffer + 2 * PAGE_SIZE) & PTE_P),
	   "pages were mapped on demand");
	ok(mapped == unmapped && mapped > 5, "%ld instructions with page faults, %ld without",
	   unmapped, mapped);
}

/* ---- registers ---- */

static bool write_faults(uint32_t msr, uint64_t val)
{
	return try_wrmsr(msr, val).vector == VECTOR_GP;
}

static void read_pmc(void *arg)
{
	rdpmc((uintptr_t)arg);
}

static int rdpmc_vector(uint32_t index, bool user)
{
	return (user ? try_user : try)(read_pmc, (void *)(uintptr_t)index).vector;
}

static void identification(void)
{
	struct cpuid c = cpuid(0xa, 0);

	ok((c.eax & 0xff) == (v6 ? 6 : 5), "CPUID: version %d", c.eax & 0xff);
	ok((c.eax >> 8 & 0xff) == NR_GP && (c.eax >> 16 & 0xff) == 48, "CPUID: general counters");
	ok(c.ecx == 0xf && (c.edx & 0x1f) == NR_FIXED && (c.edx >> 5 & 0xff) == 48, "CPUID: fixed counters");
	ok((c.edx >> 15 & 1) == 1, "CPUID: AnyThread is deprecated");
	ok((c.eax >> 24) == 8 && (c.ebx & 0xff) == 0x18, "CPUID: all events but the cache's: %x", c.ebx);
	ok(cpuid(0, 0).eax >= (v6 ? 0x23u : 0xa), "CPUID: highest leaf %x", cpuid(0, 0).eax);
	if (v6) {
		ok((cpuid(0x23, 0).eax & 0xb) == 0xb, "CPUID 0x23: sub-leaves %x", cpuid(0x23, 0).eax);
		c = cpuid(0x23, 1);
		ok(c.eax == 0xff && c.ebx == 0xf && !c.ecx && !c.edx, "CPUID 0x23: counters");
		ok((cpuid(0x23, 3).eax & 0xff) == 0xe7, "CPUID 0x23: events");
	}
	ok(cpuid(0x80000001, 0).ecx >> 23 == 0, "CPUID: nothing of AMD's");
	ok((rdmsr(IA32_PERF_CAPABILITIES) >> 13 & 1) == 1, "PERF_CAPABILITIES: full-width writes");
	ok((rdmsr(IA32_MISC_ENABLE) & 0x1880) == 0x1880, "MISC_ENABLE: counters; neither BTS nor PEBS");
}

static void registers(void)
{
	uint64_t v = 0;

	program();
	wrmsr(IA32_PMC0, 0x123480000000ull);
	ok(rdmsr(IA32_PMC0) == 0xffff80000000ull, "the old register's 32 bits are sign-extended: %lx",
	   rdmsr(IA32_PMC0));
	wrmsr(IA32_PMC0, 0xffffffff7fffffffull);
	ok(rdmsr(IA32_PMC0) == 0x7fffffff, "and zero-extended: %lx", rdmsr(IA32_PMC0));
	wrmsr(IA32_A_PMC0, 0x123480000000ull);
	ok(rdmsr(IA32_PMC0) == 0x123480000000ull && rdmsr(IA32_A_PMC0) == 0x123480000000ull,
	   "the full register's 48 bits");
	ok(write_faults(IA32_A_PMC0, 1ull << 48), "#GP: bit 48 of a full register");
	ok(write_faults(IA32_FIXED_CTR0, 1ull << 48), "#GP: bit 48 of a fixed counter");
	wrmsr(IA32_FIXED_CTR0 + 3, COUNTER_MASK);
	ok(rdmsr(IA32_FIXED_CTR0 + 3) == COUNTER_MASK, "the last fixed counter");

	ok(write_faults(IA32_PERFEVTSEL0, EVT_BOTH | EVT_ANY), "#GP: AnyThread");
	ok(write_faults(IA32_PERFEVTSEL0, EVT_BOTH | 1ull << 40), "#GP: reserved bit 40 of PERFEVTSEL");
	ok(write_faults(IA32_PERFEVTSEL0, EVT_BOTH | 1ull << 34), "#GP: adaptive without PEBS");
	ok(rdmsr(IA32_PERFEVTSEL0) == (INTEL_INSTRUCTIONS | EVT_BOTH), "which has not changed");
	ok(write_faults(IA32_FIXED_CTR_CTRL, 0x4), "#GP: AnyThread of a fixed counter");
	ok(write_faults(IA32_FIXED_CTR_CTRL, 0x30000), "#GP: a fixed counter that is not there");
	ok(write_faults(IA32_PERF_GLOBAL_CTRL, 0x100), "#GP: a general counter that is not there");
	ok(write_faults(IA32_PERF_GLOBAL_CTRL, FIXED(4)), "#GP: a fixed counter that is not there");
	ok(write_faults(IA32_PERF_GLOBAL_CTRL, 1ull << 48), "#GP: PERF_METRICS, which is not there");
	ok(write_faults(IA32_PERF_GLOBAL_STATUS, 0), "#GP: GLOBAL_STATUS is read-only");
	ok(write_faults(IA32_PERF_GLOBAL_INUSE, 0), "#GP: GLOBAL_INUSE is read-only");
	ok(write_faults(IA32_PERF_CAPABILITIES, rdmsr(IA32_PERF_CAPABILITIES)),
	   "#GP: PERF_CAPABILITIES is read-only");
	ok(write_faults(IA32_PERF_GLOBAL_STATUS_RESET, 0x100), "#GP: reserved bits of STATUS_RESET");
	ok(write_faults(IA32_PERF_GLOBAL_STATUS_SET, 0x100), "#GP: reserved bits of STATUS_SET");
	ok(write_faults(IA32_DEBUGCTL, 1ull << 63), "#GP: reserved bits of DEBUGCTL");

	wrmsr(IA32_PERF_GLOBAL_STATUS_SET, 5 | FIXED(1) | STATUS_CTR_FRZ);
	ok(rdmsr(IA32_PERF_GLOBAL_STATUS) == (5 | FIXED(1) | STATUS_CTR_FRZ), "STATUS_SET sets");
	COUNTED(IA32_PERF_GLOBAL_CTRL, 4, "nop");
	ok(rdmsr(IA32_PMC0 + 2) == 0 && rdmsr(IA32_PMC0 + 1) == 0, "CTR_FRZ holds all counters");
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, 4 | FIXED(1));
	ok(rdmsr(IA32_PERF_GLOBAL_STATUS) == (1 | STATUS_CTR_FRZ), "STATUS_RESET resets");
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, 1 | STATUS_CTR_FRZ);
	ok(rdmsr(IA32_PERF_GLOBAL_STATUS) == 0, "all");

	for (int i = 0; i < NR_GP; i++)
		wrmsr(IA32_PERFEVTSEL0 + i, 0);
	wrmsr(IA32_FIXED_CTR_CTRL, 0);
	ok(rdmsr(IA32_PERF_GLOBAL_INUSE) == 0, "GLOBAL_INUSE: none");
	wrmsr(IA32_PERFEVTSEL0 + 3, INTEL_CYCLES | EVT_INT);
	wrmsr(IA32_FIXED_CTR_CTRL, 0x200);
	v = rdmsr(IA32_PERF_GLOBAL_INUSE);
	ok(v == (1ull << 63 | 8 | FIXED(2)), "GLOBAL_INUSE: %lx", v);

	ok(rdpmc_vector(NR_GP - 1, false) == -1 && rdpmc_vector(RDPMC_FIXED | (NR_FIXED - 1), false) == -1,
	   "RDPMC: the last counters");
	ok(rdpmc_vector(NR_GP, false) == VECTOR_GP, "#GP: RDPMC of a general counter that is not there");
	ok(rdpmc_vector(RDPMC_FIXED | NR_FIXED, false) == VECTOR_GP &&
	   rdpmc_vector(1u << 31, false) == VECTOR_GP && rdpmc_vector(33, false) == VECTOR_GP,
	   "#GP: RDPMC of other counters that are not there");
	ok(rdpmc_vector(0, true) == VECTOR_GP, "#GP: RDPMC in user mode");
	write_cr4(read_cr4() | CR4_PCE);
	ok(rdpmc_vector(0, true) == -1 && rdpmc_vector(NR_GP, true) == VECTOR_GP,
	   "RDPMC in user mode with CR4.PCE");
	write_cr4(read_cr4() & ~CR4_PCE);
}

static void aliases(void)
{
	bool same = true;

	program();
	for (int i = 0; i < NR_GP; i++) {
		wrmsr(IA32_PMC_GP0_CTR + PMC_STEP * i, 0x876543210000ull + i);
		wrmsr(IA32_PMC_GP0_CFG_A + PMC_STEP * i, (0x40 + i) | EVT_OS);
		same &= rdmsr(IA32_PMC0 + i) == 0x876543210000ull + i &&
			rdmsr(IA32_PERFEVTSEL0 + i) == ((0x40u + i) | EVT_OS);
		wrmsr(IA32_A_PMC0 + i, 77 + i);
		wrmsr(IA32_PERFEVTSEL0 + i, 0x70 + i);
		same &= rdmsr(IA32_PMC_GP0_CTR + PMC_STEP * i) == 77u + i &&
			rdmsr(IA32_PMC_GP0_CFG_A + PMC_STEP * i) == 0x70u + i;
	}
	for (int i = 0; i < NR_FIXED; i++) {
		wrmsr(IA32_PMC_FX0_CTR + PMC_STEP * i, 0x876543210000ull + i);
		same &= rdmsr(IA32_FIXED_CTR0 + i) == 0x876543210000ull + i;
	}
	ok(same, "version 6: the new addresses are those of the old registers");
	ok(write_faults(IA32_PMC_GP0_CTR, 1ull << 48), "#GP: bit 48 at a new address");
	ok(write_faults(IA32_PMC_GP0_CFG_A, EVT_ANY), "#GP: AnyThread at a new address");
	ok(write_faults(IA32_PMC_FX0_CTR + 1, 0), "#GP: a fixed counter has no CFG_A");
}

int main(void)
{
	v6 = cpuid(7, 1).eax >> 8 & 1;
	identification();
	ok(rdmsr(IA32_PERF_GLOBAL_CTRL) == 0xff && rdmsr(IA32_PERFEVTSEL0) == 0 &&
	   rdmsr(IA32_PERF_GLOBAL_STATUS) == 0, "reset enables the general counters globally");
	sequences();
	strings();
	own_code();
	reading();
	rings();
	faults();
	demand_paging();
	registers();
	if (v6)
		aliases();
	return 0;
}
