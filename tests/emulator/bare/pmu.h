/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of performance monitoring, as Intel's SDM (volumes 3 and 4) and AMD's
 * APM (volume 2) give them, and a way to count exactly one stretch of code.
 */
#ifndef BARE_PMU_H
#define BARE_PMU_H

#include "bare.h"

enum {
	IA32_PMC0 = 0xc1, IA32_A_PMC0 = 0x4c1, IA32_PERFEVTSEL0 = 0x186,
	IA32_MISC_ENABLE = 0x1a0, IA32_DEBUGCTL = 0x1d9,
	IA32_FIXED_CTR0 = 0x309, IA32_PERF_CAPABILITIES = 0x345,
	IA32_FIXED_CTR_CTRL = 0x38d, IA32_PERF_GLOBAL_STATUS = 0x38e,
	IA32_PERF_GLOBAL_CTRL = 0x38f, IA32_PERF_GLOBAL_STATUS_RESET = 0x390,
	IA32_PERF_GLOBAL_STATUS_SET = 0x391, IA32_PERF_GLOBAL_INUSE = 0x392,
	IA32_PMC_GP0_CTR = 0x1900, IA32_PMC_GP0_CFG_A = 0x1901,
	IA32_PMC_FX0_CTR = 0x1980, PMC_STEP = 4,
};

enum {
	EVT_USR = 1 << 16, EVT_OS = 1 << 17, EVT_EDGE = 1 << 18, EVT_INT = 1 << 20,
	EVT_ANY = 1 << 21, EVT_EN = 1 << 22, EVT_INV = 1 << 23, EVT_CMASK_1 = 1 << 24,
	EVT_BOTH = EVT_USR | EVT_OS | EVT_EN,
};

enum {
	INTEL_INSTRUCTIONS = 0x00c0, INTEL_CYCLES = 0x003c, INTEL_REF_CYCLES = 0x013c,
	INTEL_BRANCHES = 0x00c4, INTEL_MISSES = 0x00c5, INTEL_SLOTS = 0x01a4,
};

#define DEBUGCTL_FREEZE_ON_PMI	(1ull << 12)
#define STATUS_CTR_FRZ		(1ull << 59)
#define FIXED(n)		(1ull << (32 + (n)))
#define COUNTER_MASK		0xffffffffffffull

/*
 * Count CODE, which keeps %ecx: write `on` to the global control register, run it,
 * write 0. The first WRMSR was begun with the counters off, the second with them on;
 * so the two XOR and the second WRMSR are counted.
 */
#define COUNTED_EXTRA	3
#define COUNTED(global_ctrl, on, code)						\
	asm volatile("wrmsr\n\t"						\
		     code "\n\t"						\
		     "xorl %%eax, %%eax\n\t"					\
		     "xorl %%edx, %%edx\n\t"					\
		     "wrmsr"							\
		     : : "c"(global_ctrl), "a"((uint32_t)(on)),			\
			 "d"((uint32_t)((uint64_t)(on) >> 32))			\
		     : "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc")

static inline uint64_t rdpmc(uint32_t index)
{
	uint32_t lo, hi;

	asm volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(index) : "memory");
	return (uint64_t)hi << 32 | lo;
}

#endif
