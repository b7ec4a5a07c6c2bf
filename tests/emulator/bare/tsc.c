// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time-stamp counter at a frequency that the command line gives, against the
 * timer of the local APIC, which counts nanoseconds; and CPUID leaf 0x15, by which
 * an Intel CPU tells both.
 *
 * cpu: max,vendor=GenuineIntel,tsc-frequency=2000000000
 * cpu: max,vendor=GenuineIntel,tsc-frequency=1234000000
 * cpu: max,vendor=AuthenticAMD,tsc-frequency=3000000000
 * cpu: max,vendor=GenuineIntel
 */

#include "bare.h"

#define LEAF_TSC	0x15
#define APIC_HZ		1000000000ull
#define AMD_HZ		3000000000ull
#define MILLISECOND	1000000u

enum {
	APIC_TIMER_LVT = 0x320 / 4, APIC_TIMER_INITIAL = 0x380 / 4,
	APIC_TIMER_CURRENT = 0x390 / 4, APIC_TIMER_DIVIDE = 0x3e0 / 4,
	APIC_DIVIDE_BY_1 = 0xb,
};

static uint64_t rdtsc(void)
{
	uint32_t lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* Both at the same moment: nothing came between the two reads of the TSC. */
static void read_both(uint64_t *tsc, uint64_t *timer)
{
	uint64_t before, after, best = ~0ull;

	for (int i = 0; i < 100; i++) {
		uint32_t current;

		before = rdtsc();
		current = apic[APIC_TIMER_CURRENT];
		after = rdtsc();
		if (after - before < best) {
			best = after - before;
			*tsc = before + (after - before) / 2;
			*timer = 0xffffffff - current;
		}
	}
}

static uint64_t measure(void)
{
	uint64_t tsc[2], timer[2];

	apic[APIC_TIMER_LVT] = APIC_LVT_MASKED;
	apic[APIC_TIMER_DIVIDE] = APIC_DIVIDE_BY_1;
	apic[APIC_TIMER_INITIAL] = 0xffffffff;
	read_both(&tsc[0], &timer[0]);
	while (0xffffffff - apic[APIC_TIMER_CURRENT] < timer[0] + 50 * MILLISECOND)
		;
	read_both(&tsc[1], &timer[1]);
	apic[APIC_TIMER_INITIAL] = 0;
	note("%ld of the TSC in %ld ns", tsc[1] - tsc[0], timer[1] - timer[0]);
	return (tsc[1] - tsc[0]) * APIC_HZ / (timer[1] - timer[0]);
}

static void expect_frequency(uint64_t hz)
{
	uint64_t measured = measure();

	ok(measured > hz - hz / 200 && measured < hz + hz / 200, "the TSC runs at %ld Hz: %ld", hz,
	   measured);
}

int main(void)
{
	bool intel = cpuid(0, 0).ebx == 0x756e6547;
	bool there = cpuid(0, 0).eax >= LEAF_TSC;
	struct cpuid c = there ? cpuid(LEAF_TSC, 0) : (struct cpuid){ 0 };

	if (!intel) {
		ok(!c.eax && !c.ebx && !c.ecx, "AMD's CPUs do not tell");
		expect_frequency(AMD_HZ);
	} else if (there) {
		ok(c.ecx == APIC_HZ, "the crystal is the clock of the APIC's timer: %u", c.ecx);
		ok(c.eax && c.ebx && !c.edx, "the TSC runs %u/%u times as fast", c.ebx, c.eax);
		/* Linux multiplies the kHz of the crystal in 32 bits. */
		ok(c.ebx < 4096, "in small numbers");
		expect_frequency((uint64_t)c.ecx * c.ebx / c.eax);
	} else {
		ok(!c.eax, "without a frequency there is no leaf for it");
	}
	return 0;
}
