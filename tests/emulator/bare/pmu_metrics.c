// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERF_METRICS: into what the slots of fixed counter 3 divide. Intel's SDM,
 * volume 3, section on performance metrics.
 *
 * cpu: max,vendor=GenuineIntel,family=6,model=143,pmu=on,pdcm=on,perf-metrics=on
 * cpu: max,vendor=GenuineIntel,family=19,model=1,pmu=on,pdcm=on,arch-perfmon-ext=on,perf-metrics=on
 */

#include "pmu.h"

#define IA32_PERF_METRICS	0x329
#define IA32_FIXED_CTR3		(IA32_FIXED_CTR0 + 3)
#define METRICS			(1ull << 48)	/* in GLOBAL_CTRL and GLOBAL_STATUS */
#define RDPMC_METRICS		(1u << 29)
#define SLOTS_ON		0x3000ull	/* FIXED_CTR_CTRL: counter 3 in both rings */

/* What the emulator's documentation gives. */
enum { SLOTS = 12 };
static const uint8_t fractions[8] = { 21, 42, 64, 128, 7, 14, 32, 96 };

static uint64_t all(const uint8_t *f)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v |= (uint64_t)f[i] << (8 * i);
	return v;
}

static void start_from(uint64_t slots, uint64_t metrics)
{
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_FIXED_CTR_CTRL, SLOTS_ON);
	wrmsr(IA32_FIXED_CTR3, slots);
	wrmsr(IA32_PERF_METRICS, metrics);
}

static void identification(void)
{
	ok(rdmsr(IA32_PERF_CAPABILITIES) >> 15 & 1, "PERF_CAPABILITIES: PERF_METRICS");
	wrmsr(IA32_PERF_GLOBAL_CTRL, METRICS);
	ok(rdmsr(IA32_PERF_GLOBAL_CTRL) == METRICS, "GLOBAL_CTRL enables them");
	ok(try_wrmsr(IA32_PERF_GLOBAL_CTRL, METRICS << 1).vector == VECTOR_GP,
	   "and nothing beside them");
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PERF_GLOBAL_STATUS_SET, METRICS);
	ok(rdmsr(IA32_PERF_GLOBAL_STATUS) == METRICS, "STATUS_SET sets their bit");
	wrmsr(IA32_PERF_GLOBAL_STATUS_RESET, METRICS);
	ok(!rdmsr(IA32_PERF_GLOBAL_STATUS), "STATUS_RESET resets it");
}

static void fractions_of_255(void)
{
	unsigned int sum = 0;
	uint64_t v;

	start_from(0, 0);
	ok(!rdmsr(IA32_PERF_METRICS), "no slots, no fractions");
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(3) | METRICS, ".rept 100; nop; .endr");
	v = rdmsr(IA32_PERF_METRICS);
	ok(v == all(fractions), "PERF_METRICS: %lx", v);
	ok(rdmsr(IA32_FIXED_CTR3) == SLOTS * (100 + COUNTED_EXTRA), "of %ld slots",
	   rdmsr(IA32_FIXED_CTR3));
	for (int i = 0; i < 4; i++)
		sum += v >> (8 * i) & 0xff;
	ok(sum == 255, "the first four are all: %u", sum);
	for (int i = 4; i < 8; i++)
		ok((v >> (8 * i) & 0xff) <= (v >> (8 * i - 32) & 0xff), "number %d is a part of number %d",
		   i, i - 4);
	ok(rdpmc(RDPMC_METRICS) == v, "RDPMC reads the same: %lx", rdpmc(RDPMC_METRICS));
	ok(rdmsr(IA32_PERF_METRICS) == v, "they stay when all is off");
}

/* Slots that were counted with other fractions, as a kernel restores them. */
static void restored(void)
{
	uint64_t half = SLOTS * (100 + COUNTED_EXTRA), v;
	unsigned int good = 0;

	start_from(half, 0xff);
	ok(rdmsr(IA32_PERF_METRICS) == 0xff, "they are what was written");
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(3) | METRICS, ".rept 100; nop; .endr");
	v = rdmsr(IA32_PERF_METRICS);
	for (int i = 0; i < 8; i++) {
		unsigned int mean = (fractions[i] + (i ? 0u : 255u)) / 2, is = v >> (8 * i) & 0xff;

		/* Rounded, and the last WRMSR has slots of its own. */
		good += is == mean || is == mean - 1;
	}
	ok(good == 8, "after as many slots as before, the mean: %lx", v);

	start_from(half, all(fractions));
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(3) | METRICS, "nop");
	ok(rdmsr(IA32_PERF_METRICS) == all(fractions), "restored, they go on");

	wrmsr(IA32_PERF_GLOBAL_CTRL, METRICS);
	wrmsr(IA32_FIXED_CTR3, 0);
	rdmsr(IA32_PERF_METRICS);
	wrmsr(IA32_PERF_METRICS, 0);
	ok(!rdmsr(IA32_PERF_METRICS), "both are reset while enabled");
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(3) | METRICS, "nop");
	ok(rdmsr(IA32_PERF_METRICS) == all(fractions), "and start anew");
}

static void disabled(void)
{
	start_from(0, 0x0807060504030201);
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(3), ".rept 100; nop; .endr");
	ok(rdmsr(IA32_PERF_METRICS) == 0x0807060504030201 && rdmsr(IA32_FIXED_CTR3),
	   "without their bit in GLOBAL_CTRL they stay: %lx", rdmsr(IA32_PERF_METRICS));
	start_from(0, 0x0807060504030201);
	COUNTED(IA32_PERF_GLOBAL_CTRL, METRICS, ".rept 100; nop; .endr");
	ok(rdmsr(IA32_PERF_METRICS) == 0x0807060504030201 && !rdmsr(IA32_FIXED_CTR3),
	   "without slots too: %lx", rdmsr(IA32_PERF_METRICS));
	/* Those that were counted before count for what was there before. */
	start_from(0, 0);
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(3), ".rept 1000; nop; .endr");
	COUNTED(IA32_PERF_GLOBAL_CTRL, FIXED(3) | METRICS, "");
	ok(!(rdmsr(IA32_PERF_METRICS) & 0xff) && rdmsr(IA32_FIXED_CTR3) > 1000 * SLOTS,
	   "slots from before they were enabled are not divided anew: %lx",
	   rdmsr(IA32_PERF_METRICS));
}

int main(void)
{
	identification();
	fractions_of_255();
	restored();
	disabled();
	return 0;
}
