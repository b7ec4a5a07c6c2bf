// SPDX-License-Identifier: GPL-2.0-only
/*
 * All state is as it was after two seconds, and on a machine with a serial port
 * until a byte comes from there. For tests/emulator/migrate, which moves the
 * machine from one QEMU to another meanwhile, however long that takes.
 *
 * cpu: max
 * cpu: max,avx512f=on,apxf=on,shstk=on,xsavec=on,xsaves=on
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on,perf-metrics=on,tsc-frequency=1000000000
 */

#include "xstate.h"
#include "pmu.h"

#define FIRST_CET	0x6a0
#define LAST_CET	0x6a8
#define CR4_CET		(1ull << 23)
#define PDCM		(1u << 15)	/* CPUID[1].ECX */
#define IA32_PERF_METRICS	0x329
#define SLOTS		0x123456789aull
#define METRICS		0x1122334455667788ull
#define SECONDS		2
#define TSC_HZ		1000000000ull	/* TCG's: one tick is a nanosecond */
#define LINE_STATUS	0x3fd		/* of the first serial port */
#define LINE_NONE	0xff		/* what a port has that is not there */
#define LINE_DATA	0x01

static struct state a, seen;
static uint64_t cet[LAST_CET - FIRST_CET + 1];

static bool cet_msr(uint32_t msr)
{
	return msr != 0x6a1 && msr != 0x6a3;
}

static inline uint64_t rdtsc(void)
{
	uint32_t lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

static bool waits(void)
{
	uint8_t status;

	asm volatile("inb %1, %0" : "=a"(status) : "d"((uint16_t)LINE_STATUS));
	return status != LINE_NONE && !(status & LINE_DATA);
}

int main(void)
{
	bool has_cet = cpuid(7, 0).ecx & 1 << 7;
	bool has_metrics = cpuid(1, 0).ecx & PDCM && rdmsr(IA32_PERF_CAPABILITIES) & 1 << 15;
	uint64_t until, rounds = 0, differ = 0, bad = 0;

	find_components();
	if (xss_all)
		wrmsr(MSR_XSS, xss_all);
	random_state(&a);
	load_state(&a);
	if (has_cet) {
		for (uint32_t msr = FIRST_CET; msr <= LAST_CET; msr++) {
			if (!cet_msr(msr))
				continue;
			/* Control registers have two bits; pointers are multiples of 4. */
			cet[msr - FIRST_CET] = msr < 0x6a4 ? 2 : random64() & 0x7ffffffffffc;
			wrmsr(msr, cet[msr - FIRST_CET]);
		}
		write_cr4(read_cr4() | CR4_CET);
		put64(a.ext[CET_U], rdmsr(MSR_U_CET));
		put64(a.ext[CET_U] + 8, rdmsr(MSR_PL3_SSP));
	}
	if (has_metrics) {
		wrmsr(IA32_FIXED_CTR0 + 3, SLOTS);
		wrmsr(IA32_PERF_METRICS, METRICS);
	}
	note("holding");
	until = rdtsc() + SECONDS * TSC_HZ;
	while (rdtsc() < until || waits()) {
		read_state(&seen);
		differ |= state_differs(&seen, &a);
		for (uint32_t msr = FIRST_CET; has_cet && msr <= LAST_CET; msr++)
			if (cet_msr(msr) && rdmsr(msr) != cet[msr - FIRST_CET])
				bad |= BIT(msr - FIRST_CET);
		rounds++;
	}
	ok(!differ, "no component changes in %lu looks: 0x%lx", rounds, differ);
	ok(!bad, "nor do the registers of CET: 0x%lx", bad);
	ok(xgetbv(0) == xcr0_all, "nor XCR0");
	ok(!xss_all || rdmsr(MSR_XSS) == xss_all, "nor IA32_XSS");
	ok(!has_metrics || (rdmsr(IA32_FIXED_CTR0 + 3) == SLOTS &&
			    rdmsr(IA32_PERF_METRICS) == METRICS), "nor slots and PERF_METRICS");
	ok(!has_cet || (read_cr4() & CR4_CET), "nor CR4.CET");
	return 0;
}
