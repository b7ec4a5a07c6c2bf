// SPDX-License-Identifier: GPL-2.0
/*
 * SSP of precise events is that of the hit: a task can give up its shadow stack
 * before a record becomes a sample.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <string.h>

#include "kselftest_harness.h"
#include "simd_regs_event.h"
#include "simd_regs_record.h"
#include "simd_regs_shadow_stack.h"

#define LOOPS	2000000UL
/* If the task is switched out at the end of one, no record of that one waits. */
#define ROUNDS	10

struct seen {
	struct perf_event_attr attr;
	/* Of the loop: elsewhere functions move SSP. */
	__u64 start, end;
	__u64 ssp;
	unsigned int samples, malformed, wrong;
	__u64 last_wrong;
};

static void look(const struct perf_event_header *header, void *arg)
{
	struct simd_sample sample;
	struct seen *seen = arg;
	__u64 ssp;

	if (header->type != PERF_RECORD_SAMPLE)
		return;
	if (simd_decode(header, &seen->attr, &sample)) {
		seen->malformed++;
		return;
	}
	if (sample.ip < seen->start || sample.ip >= seen->end)
		return;

	seen->samples++;
	if (!simd_block_reg(&sample.intr, PERF_REG_X86_SSP, &ssp))
		ssp = 0;
	if (ssp != seen->ssp) {
		seen->wrong++;
		seen->last_wrong = ssp;
	}
}

TEST(is_that_of_the_hit)
{
	struct seen seen = { .attr = simd_cycles_attr() };
	struct simd_event event;
	unsigned long loops;
	unsigned int i;
	long err;

	simd_use_test_cpu();
	/* Its records may wait in the buffer, as far as the registers let them. */
	seen.attr.precise_ip = 2;
	simd_attr_exclude_kernel(&seen.attr);
	seen.attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	seen.attr.sample_simd_regs_enabled = 1;
	seen.attr.sample_regs_intr = SIMD_SSP_REG;
	err = simd_event_open(&event, &seen.attr, 0, -1, NULL);
	if (err == -EOPNOTSUPP || err == -ENOENT)
		SKIP(return, "no precise event records SSP here");
	ASSERT_EQ(0, err)
		TH_LOG("%s", strerror(-err));

	for (i = 0; i < ROUNDS; i++) {
		if (simd_shadow_stack(ARCH_SHSTK_ENABLE)) {
			ASSERT_EQ(0U, i);
			SKIP(return, "no shadow stack");
		}
		asm volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" /* rdsspq %rax */
			     : "=a" (seen.ssp) : "a" (0UL));
		simd_event_enable(&event);
		loops = LOOPS;
		asm volatile("lea 1f(%%rip), %1\n\t"
			     "lea 2f(%%rip), %2\n"
			     "1:\tdec %0\n\t"
			     "jnz 1b\n"
			     "2:\n"
			     : "+r" (loops), "=&r" (seen.start), "=&r" (seen.end) : : "cc");
		err = simd_shadow_stack(ARCH_SHSTK_DISABLE);
		simd_event_disable(&event);
		ASSERT_EQ(0, err);
		simd_event_drain(&event, look, &seen);
	}
	simd_event_close(&event);

	TH_LOG("%u samples, %u with another SSP (0x%llx)", seen.samples, seen.wrong,
	       (unsigned long long)seen.last_wrong);
	EXPECT_LT(0U, seen.samples);
	EXPECT_EQ(0U, seen.malformed);
	EXPECT_EQ(0U, seen.wrong);
}

TEST_HARNESS_MAIN
