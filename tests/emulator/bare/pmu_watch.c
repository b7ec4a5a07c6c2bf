// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watchpoints beside overflows: each store is reported once, also if it is the one that
 * overflows a counter, and if an interrupt comes just then whose handler takes the
 * watchpoint away and puts it back, as Linux does when it comes into the kernel.
 *
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on
 */

#include "pmu.h"

#define VECTOR_DB	1
#define VECTOR_TIMER	0x42
#define STORES		16
#define MANY_STORES	1000

enum {
	APIC_LVTT = 0x320 / 4, APIC_TIMER_COUNT = 0x380 / 4, APIC_TIMER_DIVIDE = 0x3e0 / 4,
};

#define DR7_WATCH	(0x400ull | 1 << 0 | 1 << 16 | 2 << 18)	/* DR0: writes of 8 bytes */

static volatile uint64_t watched;
static volatile int traps, nmis, ticks;
static uint64_t period;

static inline void write_dr7(uint64_t v)
{
	asm volatile("mov %0, %%dr7" : : "r"(v) : "memory");
}

static void count_trap(struct regs *r)
{
	asm volatile("mov %0, %%dr6" : : "r"(0xffff0ff0ull));
	traps++;
}

static void restart(void)
{
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, 1);
	wrmsr(IA32_A_PMC0, -period & COUNTER_MASK);
}

static void overflow(struct regs *r)
{
	write_dr7(0x400);
	nmis++;
	apic[APIC_LVTPC] &= ~APIC_LVT_MASKED;
	restart();
	write_dr7(DR7_WATCH);
}

static void tick(struct regs *r)
{
	write_dr7(0x400);
	ticks++;
	apic[APIC_EOI] = 0;
	write_dr7(DR7_WATCH);
}

/*
 * Some of the stores overflow the counter. With @ticking the APIC's timer interrupts once
 * around each of them, sooner or later: a periodic one could leave no time for anything.
 */
static int run(int stores, bool ticking)
{
	traps = nmis = 0;
	wrmsr(IA32_PERFEVTSEL0, INTEL_INSTRUCTIONS | EVT_INT | EVT_OS | EVT_EN);
	restart();
	write_dr7(DR7_WATCH);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 1);
	for (int i = 0; i < stores; i++) {
		if (ticking)
			apic[APIC_TIMER_COUNT] = 100 + i % 50 * 100;
		watched = i;
	}
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	write_dr7(0x400);
	restart();
	return traps;
}

int main(void)
{
	int bad = 0, interrupts = 0;

	on_vector(VECTOR_DB, count_trap);
	on_vector(VECTOR_NMI, overflow);
	asm volatile("mov %0, %%dr0" : : "r"(&watched));
	apic[APIC_LVTPC] = APIC_LVT_NMI;

	/* Shorter ones would leave no time between two interrupts. */
	for (period = 40; period < 400; period++) {
		bad += run(STORES, false) != STORES;
		interrupts += nmis;
	}
	ok(!bad, "%d periods with another number of traps", bad);
	ok(interrupts > 360, "%d interrupts", interrupts);

	on_vector(VECTOR_TIMER, tick);
	apic[APIC_TIMER_DIVIDE] = 0xb;
	apic[APIC_LVTT] = VECTOR_TIMER;
	asm volatile("sti");
	for (bad = 0, period = 40; period < 80; period++)
		bad += run(MANY_STORES, true) != MANY_STORES;
	asm volatile("cli");
	ok(!bad, "%d periods with another number of traps, with %d ticks", bad, ticks);
	ok(ticks > 100, "%d ticks", ticks);
	return 0;
}
