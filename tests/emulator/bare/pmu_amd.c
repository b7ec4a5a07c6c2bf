// SPDX-License-Identifier: GPL-2.0-only
/*
 * An AMD PMU: core counters, version 2 of performance monitoring, and its overflow
 * interrupts.
 *
 * cpu: max,vendor=AuthenticAMD,family=25,model=17,pmu=on
 */

#include "pmu.h"

enum {
	GLOBAL_STATUS = 0xc0000300, GLOBAL_CTL = 0xc0000301, GLOBAL_STATUS_CLR = 0xc0000302,
	GLOBAL_STATUS_SET = 0xc0000303,
	LEGACY_CTL0 = 0xc0010000, LEGACY_CTR0 = 0xc0010004,
	CTL0 = 0xc0010200, CTR0 = 0xc0010201,
};

enum {
	AMD_INSTRUCTIONS = 0xc0, AMD_CYCLES = 0x76, AMD_BRANCHES = 0xc2, AMD_MISSES = 0xc3,
	AMD_DISPATCH = 0xaa,
};
#define AMD_REF_CYCLES	0x100000120ull

#define GUEST_ONLY	(1ull << 40)
#define HOST_ONLY	(1ull << 41)
#define MSR_EFER	0xc0000080
#define EFER_SVME	(1ull << 12)

#define NR		6
#define ALL		((1u << NR) - 1)

static volatile int nmis;
static uint64_t nmi_rip, nmi_status;
static uint32_t nmi_lvt;
static bool keep_status, stop;

static void note_interrupt(struct regs *r)
{
	nmis++;
	nmi_rip = r->rip;
	nmi_status = rdmsr(GLOBAL_STATUS);
	nmi_lvt = apic[APIC_LVTPC];
	if (stop)
		wrmsr(GLOBAL_CTL, 0);
	if (!keep_status)
		wrmsr(GLOBAL_STATUS_CLR, nmi_status);
}

static void program(void)
{
	static const uint64_t events[NR] = {
		AMD_INSTRUCTIONS, AMD_CYCLES, AMD_BRANCHES, AMD_MISSES, AMD_REF_CYCLES, AMD_DISPATCH,
	};

	wrmsr(GLOBAL_CTL, 0);
	wrmsr(GLOBAL_STATUS_CLR, ALL | STATUS_CTR_FRZ);
	wrmsr(IA32_DEBUGCTL, 0);
	for (int i = 0; i < NR; i++) {
		wrmsr(CTL0 + 2 * i, events[i] | EVT_BOTH);
		wrmsr(CTR0 + 2 * i, 0);
	}
	nmis = 0;
	keep_status = stop = false;
	apic[APIC_LVTPC] = APIC_LVT_NMI;
}

static void counting(void)
{
	uint64_t insns = 1 + 3 * 1000 + COUNTED_EXTRA, misses;

	program();
	COUNTED(GLOBAL_CTL, ALL, "movl $1000, %%ebx; 1: nop; decl %%ebx; jnz 1b");
	ok(rdmsr(CTR0) == insns, "instructions: %ld", rdmsr(CTR0));
	ok(rdmsr(CTR0 + 2) == 2 * insns, "cycles: %ld", rdmsr(CTR0 + 2));
	ok(rdmsr(CTR0 + 4) == 1000, "branches: %ld", rdmsr(CTR0 + 4));
	misses = rdmsr(CTR0 + 6);
	ok(misses == 1000 / 16 || misses == 1000 / 16 + 1, "mispredicted: %ld", misses);
	ok(rdmsr(CTR0 + 8) == 3 * insns, "reference cycles: %ld", rdmsr(CTR0 + 8));
	ok(rdmsr(CTR0 + 10) == 0, "an event that is not modelled: %ld", rdmsr(CTR0 + 10));
	ok(rdpmc(0) == insns && rdpmc(2) == 1000, "RDPMC");
	ok(rdmsr(GLOBAL_STATUS) == 0, "no overflow");

	program();
	wrmsr(CTL0 + 2, AMD_INSTRUCTIONS | EVT_EN | EVT_USR);
	wrmsr(CTL0 + 4, AMD_INSTRUCTIONS | EVT_EN | EVT_OS);
	wrmsr(CTL0 + 6, AMD_INSTRUCTIONS | EVT_BOTH | EVT_CMASK_1);
	COUNTED(GLOBAL_CTL, 0xf, "nop");
	ok(rdmsr(CTR0 + 2) == 0 && rdmsr(CTR0 + 4) == 4 && rdmsr(CTR0 + 6) == 0, "rings, and what counts per cycle");

	program();
	wrmsr(CTL0, AMD_INSTRUCTIONS | EVT_BOTH | GUEST_ONLY | HOST_ONLY);
	wrmsr(CTL0 + 2, AMD_INSTRUCTIONS | EVT_BOTH | GUEST_ONLY);
	wrmsr(CTL0 + 4, AMD_INSTRUCTIONS | EVT_BOTH | HOST_ONLY);
	COUNTED(GLOBAL_CTL, 7, "nop");
	ok(rdmsr(CTR0) == 4 && rdmsr(CTR0 + 2) == 0 && rdmsr(CTR0 + 4) == 0,
	   "without SVM neither host nor guest are counted alone");
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SVME);
	COUNTED(GLOBAL_CTL, 7, "nop");
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) & ~EFER_SVME);
	ok(rdmsr(CTR0) == 8 && rdmsr(CTR0 + 2) == 0 && rdmsr(CTR0 + 4) == 4, "with SVM the host is");
}

static void read_pmc(void *arg)
{
	rdpmc((uintptr_t)arg);
}

static int rdpmc_vector(uint32_t index)
{
	return try(read_pmc, (void *)(uintptr_t)index).vector;
}

static void registers(void)
{
	bool same = true;

	ok((cpuid(0x80000001, 0).ecx >> 23 & 1) == 1, "CPUID: core counters");
	ok((cpuid(0x80000022, 0).eax & 1) == 1 && (cpuid(0x80000022, 0).ebx & 0xf) == NR,
	   "CPUID: version 2, %d counters", cpuid(0x80000022, 0).ebx & 0xf);
	ok(cpuid(0xa, 0).eax == 0, "CPUID: nothing of Intel's");

	program();
	for (int i = 0; i < 4; i++) {
		wrmsr(LEGACY_CTL0 + i, 0x1000 + i);
		wrmsr(LEGACY_CTR0 + i, 0x876543210000ull + i);
		same &= rdmsr(CTL0 + 2 * i) == 0x1000u + i && rdmsr(CTR0 + 2 * i) == 0x876543210000ull + i;
		wrmsr(CTL0 + 2 * i, 0x2000 + i);
		wrmsr(CTR0 + 2 * i, 7 + i);
		same &= rdmsr(LEGACY_CTL0 + i) == 0x2000u + i && rdmsr(LEGACY_CTR0 + i) == 7u + i;
	}
	ok(same, "four counters have their old addresses, too");
	wrmsr(CTR0 + 10, ~0ull);
	ok(rdmsr(CTR0 + 10) == COUNTER_MASK, "48 bits: %lx", rdmsr(CTR0 + 10));
	wrmsr(GLOBAL_CTL, 0);
	wrmsr(GLOBAL_STATUS_SET, 0x21 | STATUS_CTR_FRZ);
	ok(rdmsr(GLOBAL_STATUS) == (0x21 | STATUS_CTR_FRZ), "STATUS_SET sets");
	wrmsr(GLOBAL_STATUS_CLR, 1 | STATUS_CTR_FRZ);
	ok(rdmsr(GLOBAL_STATUS) == 0x20, "STATUS_CLR resets");
	ok(try_wrmsr(GLOBAL_STATUS, 0).vector == VECTOR_GP, "#GP: STATUS is read-only");
	ok(rdpmc_vector(NR - 1) == -1 && rdpmc_vector(NR) == VECTOR_GP &&
	   rdpmc_vector(1u << 30) == VECTOR_GP, "RDPMC of six counters");
}

extern const char first_nop[];

static void __attribute__((noinline)) run(uint64_t on)
{
	COUNTED(GLOBAL_CTL, on, ".global first_nop; first_nop: .rept 600; nop; .endr");
}

static void interrupts(void)
{
	int bad = 0;

	on_vector(VECTOR_NMI, note_interrupt);
	for (int after = 1; after < 600; after += after < 20 ? 1 : 37) {
		program();
		stop = true;
		wrmsr(CTL0 + 10, AMD_INSTRUCTIONS | EVT_BOTH | EVT_INT);
		wrmsr(CTR0 + 10, -(uint64_t)after);
		run(0x20);
		bad += nmis != 1 || nmi_rip != (uintptr_t)first_nop + after || nmi_status != 0x20;
	}
	ok(bad == 0, "instructions overflow where they ought to, %d times wrong", bad);
	ok(!(nmi_lvt & APIC_LVT_MASKED), "delivery leaves LVTPC unmasked: %x", nmi_lvt);

	program();
	wrmsr(CTL0, AMD_INSTRUCTIONS | EVT_BOTH | EVT_INT);
	wrmsr(CTL0 + 2, AMD_INSTRUCTIONS | EVT_BOTH | EVT_INT);
	wrmsr(CTR0, -50ull);
	wrmsr(CTR0 + 2, -300ull);
	run(3);
	ok(nmis == 2 && nmi_status == 2, "two overflows, two interrupts: %d", nmis);

	program();
	keep_status = true;
	wrmsr(IA32_DEBUGCTL, DEBUGCTL_FREEZE_ON_PMI);
	wrmsr(CTL0, AMD_INSTRUCTIONS | EVT_BOTH | EVT_INT);
	wrmsr(CTR0, -50ull);
	run(7);
	ok(nmis == 1 && nmi_status == (1 | STATUS_CTR_FRZ), "a frozen overflow: %lx", nmi_status);
	ok(rdmsr(CTR0) == 0 && rdmsr(CTR0 + 2) == 100, "frozen at the interrupt: %ld, %ld",
	   rdmsr(CTR0), rdmsr(CTR0 + 2));

	program();
	apic[APIC_LVTPC] = APIC_LVT_NMI | APIC_LVT_MASKED;
	wrmsr(CTL0, AMD_INSTRUCTIONS | EVT_BOTH | EVT_INT);
	wrmsr(CTR0, -50ull);
	run(1);
	ok(nmis == 0 && rdmsr(GLOBAL_STATUS) == 1, "a masked LVTPC: no interrupt");
}

int main(void)
{
	ok(rdmsr(GLOBAL_CTL) == ALL, "reset enables the counters globally");
	registers();
	counting();
	interrupts();
	return 0;
}
